"""Servers that are not there: a typed error that names the server, within the time-out."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from agentjournal import (
    AppendOutcomeUnknown,
    IntegrityError,
    Log,
    Receipt,
    SessionNotFound,
    Unavailable,
)
from agentjournal.ids import Partition, Position, Version
from agentjournal.kafka_options import client_options
from agentjournal.postgres_views import PostgresViews
from agentjournal.settings import Settings
from consumers.postgres_migrations import migrate
from local.stack import Stack
from tests.servers import connected, new_database, roles, sequencer, unsettled
from tests.support import message

pytestmark = pytest.mark.stack

NOBODY = {
    "kafka": "127.0.0.1:1",
    "postgres": "postgresql://postgres@127.0.0.1:1/postgres",
    "redis": "redis://127.0.0.1:1/0",
}
TIMEOUT_S = 1.0
GRACE_S = 1.5


@contextmanager
def within_the_timeout() -> Generator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < TIMEOUT_S + GRACE_S


def without(settings: Settings, server: str) -> Settings:
    addresses: dict[str, Any] = {server: NOBODY[server]}
    return replace(settings, **addresses)


async def append(log: Log) -> object:
    return await log.session("s").append(message("a"), timeout_s=TIMEOUT_S)


async def enqueue(log: Log) -> object:
    return await log.session("s").enqueue(message("a"), timeout_s=TIMEOUT_S)


async def load(log: Log) -> object:
    return await log.session("s").load(timeout_s=TIMEOUT_S)


async def caught_up(log: Log) -> object:
    session = log.session("s")
    place = Partition(0), Position(0), Version(1), Version(1)
    receipt = Receipt(session.stream, *place, duplicate=False, append_id="a")
    await log.caught_up(receipt, timeout_s=TIMEOUT_S)
    return None


@pytest.mark.parametrize(
    ("server", "named", "call"),
    [
        ("kafka", "Kafka", append),
        ("kafka", "Kafka", enqueue),
        ("kafka", "Kafka", load),
        ("redis", "Redis", append),
        ("redis", "Redis", enqueue),
        ("postgres", "Postgres", load),
        ("postgres", "Postgres", caught_up),
    ],
)
async def test_a_server_that_is_away_is_named_within_the_timeout(
    journal: Settings, server: str, named: str, call: Callable[[Log], Awaitable[object]]
) -> None:
    async with connected(without(journal, server)) as log:
        with within_the_timeout(), pytest.raises(Unavailable) as away:
            await call(log)
        assert away.value.server == named
        assert unsettled(log) == []


async def test_an_append_needs_no_postgres_of_the_client(journal: Settings) -> None:
    async with connected(without(journal, "postgres")) as log:
        assert (await log.session("s").append(message("a"))).first_version == 2


async def test_nobody_who_sequences_is_no_failure_but_unknown(fresh: Settings) -> None:
    async with connected(fresh) as log:
        session = log.session("s")
        with within_the_timeout(), pytest.raises(AppendOutcomeUnknown) as unknown:
            await session.append(message("a"), append_id="x", timeout_s=TIMEOUT_S)
        assert unknown.value.append_id == "x"
        async with roles(fresh, sequencer):
            receipt = await unknown.value.retry()
            assert (receipt.first_version, receipt.append_id) == (2, "x")
            assert (await session.append(message("b"))).first_version == 3


@asynccontextmanager
async def topics(settings: Settings, **partitions: int) -> AsyncGenerator[Settings]:
    """Make topics by hand, under a prefix of their own."""
    other = replace(settings, topic_prefix=f"by-hand-{uuid4().hex[:8]}.")
    admin = AIOKafkaAdminClient(**client_options(settings))
    await admin.start()
    try:
        names = [NewTopic(f"{other.topic_prefix}{n}", count, 1) for n, count in partitions.items()]
        if names:
            await admin.create_topics(names)
        yield other
    finally:
        await admin.close()


async def test_topics_that_do_not_exist_say_what_to_do(journal: Settings) -> None:
    async with topics(journal) as other, connected(other) as log:
        with within_the_timeout(), pytest.raises(Unavailable, match="agentjournal init"):
            await append(log)
        with within_the_timeout(), pytest.raises(Unavailable, match="Kafka"):
            await load(log)


async def test_a_topic_with_another_number_of_partitions_is_not_ours(journal: Settings) -> None:
    async with topics(journal, appends=3, events=3) as other, connected(other) as log:
        with (
            within_the_timeout(),
            pytest.raises(IntegrityError, match="3 partitions, the rules have 8"),
        ):
            await log.session("s").append(message("a"))
        with within_the_timeout(), pytest.raises(IntegrityError):
            await log.session("t").enqueue(message("a"))
        assert unsettled(log) == []


async def test_tables_that_do_not_exist_say_what_to_do(journal: Settings) -> None:
    bare = await new_database(journal)
    empty = replace(journal, postgres=bare.postgres)
    async with connected(empty) as log:
        with within_the_timeout(), pytest.raises(Unavailable, match="agentjournal init"):
            await load(log)
        await migrate(empty)
        with pytest.raises(SessionNotFound):
            await log.session("s").load(fresh=False)


async def test_postgres_that_does_not_answer_any_more_is_not_waited_for_without_end(
    stack: Stack,
) -> None:
    views = PostgresViews(stack.settings, answer_s=0.2)
    try:
        with pytest.raises(Unavailable, match="did not answer within"), within_the_timeout():
            await views.select("SELECT pg_sleep(30)")
        assert await views.select("SELECT 1 AS one") == [{"one": 1}]
    finally:
        await views.close()
