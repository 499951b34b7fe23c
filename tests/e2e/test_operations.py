"""docs/operations.md: the rights that it gives are enough, and no more than it says.

Kafka's are not tested here: the embedded broker asks nobody who he is.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
import redis
from psycopg import errors
from redis.exceptions import NoPermissionError

import agentjournal as aj
from agentjournal.partitions import partition_of
from agentjournal.redis_rates import rates
from agentjournal.settings import Settings
from commands.top_figures import for_programs
from commands.top_reading import Watch, sources_of
from local.stack import Stack, running
from tests import warm
from tests.janitors import expired, met, types_of
from tests.live_pages import Page
from tests.servers import inside

pytestmark = pytest.mark.stack

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
DATABASE = "rights"
ROLES = ("sequencer", "projector", "cache", "janitor", "promoter", "indexer", "meter")
USERS_OF_REDIS = ("sequencer", "cache", "promoter", "meter", "agent", "viewer")


@dataclass(frozen=True)
class Users:
    """The servers, and their addresses for each user of the page."""

    stack: Stack
    folder: Path

    def postgres(self, user: str) -> str:
        host = re.split("[@/]", self.stack.settings.postgres)[3]
        return f"postgresql://{user}@{host}/{DATABASE}"

    def redis(self, user: str) -> str:
        """Return an address; one that nothing listens on for those who need none."""
        if user not in USERS_OF_REDIS:
            return "redis://127.0.0.1:1/0"
        return self.stack.settings.redis.replace("redis://", f"redis://{user}:password@")

    def run(self, user: str, *arguments: str) -> warm.Forked:
        environment = {
            "PATH": os.defpath,
            "AGENTJOURNAL_KAFKA": self.stack.settings.kafka,
            "AGENTJOURNAL_POSTGRES": self.postgres(user),
            "AGENTJOURNAL_REDIS": self.redis(user),
        }
        return warm.start(warm.COMMAND, arguments, environment, warm.OURS, self.folder)


def done(process: warm.Forked) -> bool:
    return process.wait(60) == 0


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Generator[Users]:
    with running(tmp_path_factory.mktemp("operations"), restart=False) as stack:
        users = Users(stack, tmp_path_factory.mktemp("user"))
        with psycopg.connect(stack.settings.postgres, autocommit=True) as connection:
            connection.execute("CREATE ROLE owner LOGIN CREATEROLE")
            connection.execute(f"CREATE DATABASE {DATABASE} OWNER owner".encode())
        assert done(users.run("owner", "init"))
        with psycopg.connect(users.postgres("owner"), autocommit=True) as connection:
            connection.execute(block("sql", "CREATE ROLE sequencer").encode())
        with redis.Redis.from_url(stack.settings.redis) as client:
            of_redis = block("text", "user sequencer") + block("text", "user viewer")
            for line in of_redis.splitlines():
                client.execute_command("ACL", "SETUSER", *line.split()[1:])
        yield users


def block(language: str, start: str) -> str:
    """Return the block of the page that has a line with this start."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = (text for text in blocks if re.search(f"^{start}", text, re.MULTILINE))
    return str(found)


async def are_cached(log: aj.Log, session: aj.Session) -> bool:
    found = await inside(log).notes.look(session.stream, partition_of(session.stream.encode()))
    return found is not None and found.notes is not None


async def writes_and_counts(users: Users, session: aj.Session, counter: aj.Counter) -> None:
    """Stream a message to somebody who has a viewer's rights."""
    seen = aj.connect(
        kafka="127.0.0.1:1", postgres=users.postgres("agent"), redis=users.redis("viewer")
    )
    async with seen as log, Page(log.session(session.id)) as page:
        async with session.stream_message() as message:
            await message.write("Hello")
            await page.shows({message.message_id: "Hello"})
        await page.has(4)
        assert page.shown == {}
    async with session.stream_message() as message:
        await message.write("a")
        async with asyncio.timeout(20):
            while not (receipts := await session.record_abandoned(idle_s=0)):
                assert receipts == [], "it is not kept yet"
        assert len(receipts) == 1
        with pytest.raises(aj.MessageAbandoned):
            await message.finish()
    assert await counter.incr() == 1


async def idles_and_is_too_much(log: aj.Log, session: aj.Session) -> None:
    """Be told of a limit, and expire, by a janitor that has its own rights only."""
    await log.session("s-2", ttl_s=1).append(aj.MessageAdded(role="user", content="hi"))
    limits = aj.Limits(events=aj.Limit(maximum=1))
    await session.append(aj.SessionUpdated(limits=limits))
    await expired(log, "s-2")

    async def is_told() -> bool:
        return "limit.exceeded" in await types_of(session)

    await met(is_told, timeout_s=60)


async def is_promoted(log: aj.Log) -> None:
    """See that a promoter has read a session that has expired, with its own rights only."""
    expired_one = log.session("s-2")

    async def is_told() -> bool:
        return "promotion.completed" in await types_of(expired_one)

    await met(is_told, timeout_s=60)


async def is_metered(settings: Settings) -> None:
    """See what a meter shows that has its own rights only."""
    async with asyncio.timeout(60):
        while (shown := await rates(settings)) is None:  # noqa: ASYNC110 - Redis tells nobody
            await asyncio.sleep(0.1)
    assert shown.window_s == 60


async def is_on_the_screen(settings: Settings) -> None:
    """See all that `top` shows, with the rights of who watches."""
    watch = Watch(sources_of(settings))
    async with asyncio.timeout(60):
        while not watch.snapshot().alerts:
            await watch.read()
    await watch.close()
    found = for_programs(watch.snapshot())
    assert found["trouble"] == {}
    assert found["read_models"]["sessions"]["by_status"] == {"expired": 1, "open": 1}
    assert [(each["kind"], each["tenant"]) for each in found["alerts"]] == [
        ("limit_exceeded", "default")
    ]


async def test_roles_and_agents_work_with_the_rights_of_the_page(users: Users) -> None:
    roles = {role: users.run(role, "run", role) for role in ROLES}
    try:
        async with aj.connect(
            kafka=users.stack.settings.kafka,
            postgres=users.postgres("agent"),
            redis=users.redis("agent"),
        ) as log:
            session = log.session("s-1")
            receipt = await session.append(aj.MessageAdded(role="user", content="hi"))
            await log.caught_up(receipt, timeout_s=20)
            assert [message.text for message in (await session.load()).messages] == ["hi"]
            assert [each.session_id async for each in log.sessions()] == ["s-1"]
            with pytest.raises(aj.VersionConflict):
                await session.append(aj.SessionEnded(), expected_version=1)
            await session.set_note("a", 1)
            async with asyncio.timeout(20):
                while not await are_cached(log, session):
                    assert await session.notes() == {"a": 1}
            await writes_and_counts(users, session, log.counter("calls"))
            await idles_and_is_too_much(log, session)
            watching = replace(log.settings, redis=users.redis("viewer"))
            await is_promoted(log)
            await is_metered(watching)
            await is_on_the_screen(watching)
        for role in roles:
            assert done(users.run(role, "health", role))
    finally:
        for process in roles.values():
            process.send_signal(signal.SIGTERM)
        assert [process.wait(30) for process in roles.values()] == [0] * len(ROLES)
    assert done(users.run("agent", "sql", "SELECT * FROM messages"))


@pytest.mark.parametrize(
    ("user", "statement"),
    [
        ("agent", "SELECT FROM agentjournal_internal.events_1"),
        ("agent", "DELETE FROM agentjournal.turns"),
        ("agent", "CREATE TABLE public.mine ()"),
        ("sequencer", "SELECT FROM agentjournal_internal.events_1"),
        ("projector", "SELECT FROM agentjournal_internal.heads"),
        ("projector", "DROP TABLE agentjournal_internal.events_1"),
        ("cache", "SELECT FROM agentjournal.events"),
        ("cache", "SELECT FROM agentjournal_internal.events_1"),
        ("meter", "SELECT FROM agentjournal.events"),
        ("promoter", "SELECT FROM agentjournal_internal.heads"),
        ("promoter", "UPDATE agentjournal_internal.sessions_1 SET status = 'ended'"),
        ("indexer", "SELECT FROM agentjournal_internal.events_1"),
        ("indexer", "DELETE FROM agentjournal_internal.messages_1"),
        ("janitor", "SELECT FROM agentjournal_internal.events_1"),
        ("janitor", "UPDATE agentjournal_internal.sessions_1 SET status = 'expired'"),
    ],
)
def test_postgres_refuses_what_the_page_does_not_give(
    users: Users, user: str, statement: str
) -> None:
    with (
        psycopg.connect(users.postgres(user)) as connection,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        connection.execute(statement.encode())


@pytest.mark.parametrize(
    ("user", "command"),
    [
        ("agent", ("PUBLISH", "agentjournal.receipts.1", "forged")),
        ("agent", ("SUBSCRIBE", "other")),
        ("viewer", ("PUBLISH", "agentjournal.live.{s}", "forged")),
        ("viewer", ("SET", "agentjournal.live.{s}", "forged")),
        ("viewer", ("SUBSCRIBE", "agentjournal.receipts.1")),
        ("agent", ("GET", "key")),
        ("agent", ("HSET", "key", "field", "value")),
        ("viewer", ("HSET", "agentjournal.rates", "field", "value")),
        ("meter", ("HSET", "key", "field", "value")),
        ("cache", ("HSET", "key", "field", "value")),
        ("cache", ("PUBLISH", "agentjournal.receipts.1", "forged")),
        ("sequencer", ("PUBLISH", "other", "text")),
        ("sequencer", ("FLUSHALL",)),
    ],
)
def test_redis_refuses_what_the_page_does_not_give(
    users: Users, user: str, command: tuple[str, ...]
) -> None:
    with (
        redis.Redis.from_url(users.redis(user)) as client,
        pytest.raises(NoPermissionError),
    ):
        client.execute_command(*command)
