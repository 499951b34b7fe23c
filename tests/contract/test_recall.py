"""Recall finds the same in Postgres and in memory, in one order, and of nobody else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any, TypeAlias

import pytest

from agentjournal import (
    ConversationRewound,
    Entity,
    Log,
    MessageAdded,
    MessageRetracted,
    PromotionCompleted,
    SessionDeleted,
    SessionMismatch,
    SessionUpdated,
)
from agentjournal.events import Extractor, FactLearned
from agentjournal.ids import StreamId, Version, stream_id
from agentjournal.memory.recall_api import recall
from agentjournal.memory.recalling import ranked
from agentjournal.memory.recalls import Asked, Hit, Recalls
from agentjournal.memory.terms import query_terms
from agentjournal.postgres_recall import PostgresRecalls
from agentjournal.postgres_views import PostgresViews
from agentjournal.settings import Settings
from agentjournal.testing.memory_log import MemoryLog
from agentjournal.testing.recalls import MemoryRecalls
from agentjournal.testing.world import World
from evals.recalling import fill
from local.stack import Stack
from tests.layers import about, fact
from tests.servers import new_database
from tests.vectors import Made

Searched: TypeAlias = Callable[[World], Coroutine[Any, Any, Recalls]]
SERVERS = pytest.param("servers", marks=pytest.mark.stack)
# Each is somebody's id: what a pattern, a quote, a list, a path or a look-alike might reach is not.
NAMES = (
    "u", "U", "u ", " u", "u%", "%", "_", "u_", "*", "u*", "u.", "'", "u'", "''", '"u"', "{u}",
    "u,v", "{u,v}", "\\", "u\\", "u/x", "../u", "user/a/u", "NULL", "\uff55", "u\u0301", "\u00fa",
    "u' OR '1'='1", "u | v", "!u", "u:*", "%25", "u%25", "$1", "%(entity)s", "u;--", "\u202eu",
)  # fmt: skip
CRAFTED = (
    "", "%", "user/%/u", "user/_raft/u", "user/craft/u%", "user/craft", "craft", "u", "user//u",
    "{user/craft/u}", "user/craft/u' OR '1'='1", "'user/craft/u'", "user/craft/u,user/craft/v",
    "session/craft/s", "USER/craft/u", "user/craft/u\n", "user/craft/u user/craft/v",
)  # fmt: skip
PATTERNS = (
    "ott:*", "otter:*", "!raven", "otter & sleep", "otter | raven", "'otter'", "%", "_tter", "ott%",
    "otter\\", "(otter)", "otter <-> sleep", " ", "", "'",
)  # fmt: skip


class Letters:
    """A model for which texts of the same letters are the same."""

    model = "letters"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [_unit([float(text.lower().count(letter)) for letter in _ABC]) for text in texts]


_ABC = "abcdefghijklmnopqrstuvwxyz"


def _unit(vector: list[float]) -> list[float]:
    length = sum(each * each for each in vector) ** 0.5 or 1.0
    return [each / length for each in vector]


@pytest.fixture(scope="module")
def database(stack: Stack) -> Settings:
    """A database of these tests' own; they keep apart by their tenants."""
    return asyncio.run(new_database(stack.settings))


@pytest.fixture(params=["memory", SERVERS])
def read_models(request: pytest.FixtureRequest) -> Settings | None:
    """Return where the read models are, None: in memory."""
    return None if request.param == "memory" else request.getfixturevalue("database")


@pytest.fixture
async def searched(read_models: Settings | None) -> AsyncGenerator[Searched]:
    """Return what makes a log searchable."""
    if read_models is None:
        yield in_memory
        return
    views = PostgresViews(read_models)

    async def in_postgres(world: World) -> Recalls:
        events = [each for partition in world.events.values() for each in partition]
        await fill(read_models, events, Letters())
        return PostgresRecalls(views)

    yield in_postgres
    await views.close()


async def in_memory(world: World) -> Recalls:
    return MemoryRecalls(world)


def said(text: str, message_id: str | None = None, role: str = "user") -> MessageAdded:
    given = {"role": role, "content": text} | ({"message_id": message_id} if message_id else {})
    return MessageAdded.model_validate(given)


async def found(recalls: Recalls, entity: StreamId, query: str) -> list[Hit]:
    """Return what is found by both measures, where both are there."""
    [vector] = Letters().embed([query])
    hits = await recalls.find(Asked(entity, query_terms(query), Made(vector), "letters"))
    return [hit for hit, _ in ranked(hits)]


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.text for hit in hits]


async def lived_in(log: Log, chances: random.Random) -> None:
    """Let five users say a lot, take some of it back, and let facts be learned and replaced."""
    words = [f"word{number}" for number in range(30)]

    def sentence() -> str:
        return " ".join(chances.choices(words, [1 / (n + 1) for n in range(30)], k=6)) + "."

    for user in map(str, range(5)):
        for name in ("first", "second", "gone"):
            session = log.session(f"{name}-{user}", user=user)
            for number in range(8):
                await session.append(
                    said(
                        f"{sentence()} {sentence()}",
                        f"{number}",
                        chances.choice(["user", "assistant"]),
                    )
                )
            await session.append(MessageRetracted(message_id="3", reason="a slip"))
        await log.session(f"second-{user}").append(ConversationRewound(to_version=6, reason="edit"))
        await log.session(f"first-{user}").append(
            SessionUpdated(entities=[Entity(kind="account", id="of all")])
        )
        await log.session(f"gone-{user}").append(SessionDeleted(reason="asked to"))
        for number in range(6):
            await log.memory(user=user).remember(
                f"word{number % 3}/word4", sentence(), cardinality="single"
            )
        await log.memory(user=user).forget(attribute="word2/word4")


async def test_the_same_is_found_in_the_same_order(searched: Searched) -> None:
    chances, world, tenant = random.Random(7), World(), "alike"
    async with MemoryLog(world, tenant) as log:
        await lived_in(log, chances)
    recalls, expected = await searched(world), MemoryRecalls(world)
    entities = [stream_id("user", tenant, str(n)) for n in range(5)]
    entities.append(stream_id("account", tenant, "of all"))
    for number in range(30):
        query = " ".join(f"word{chances.randrange(32)}" for _ in range(3))
        asked = Asked(entities[number % 6], query_terms(query))
        wanted, hits = ranked(await expected.find(asked)), ranked(await recalls.find(asked))
        assert [hit.place for hit, _ in hits] == [hit.place for hit, _ in wanted], query
        for (hit, score), (other, right) in zip(hits, wanted, strict=True):
            assert (hit.text, hit.ref, hit.tier) == (other.text, other.ref, other.tier)
            assert hit.lexical == pytest.approx(other.lexical, rel=1e-5)
            assert score == pytest.approx(right, rel=1e-5)
        events = {hit.event for hit in await expected.find(asked)}
        around = await recalls.texts(entities[:1], events)
        assert around == await expected.texts(entities[:1], events)


async def test_nobody_is_told_what_is_known_of_another(searched: Searched) -> None:
    world, everybody = World(), list[tuple[StreamId, str]]()
    for tenant in ("a", "a%", "a/u"):
        async with MemoryLog(world, tenant) as log:
            for number, name in enumerate(NAMES):
                secret = f"the launch word of {tenant} is zanzibar{number}"
                await log.session(f"s-{number}", user=name).append(said(secret))
                everybody.append((stream_id("user", tenant, name), secret))
            for kind in ("account", "project"):
                secret = f"the launch word of {tenant} {kind} is zanzibar"
                session = log.session(f"s-{kind}")
                await session.append(
                    [
                        SessionUpdated(entities=[Entity.model_validate({"kind": kind, "id": "u"})]),
                        said(secret),
                    ]
                )
                everybody.append((stream_id(kind, tenant, "u"), secret))
    recalls = await searched(world)
    events = {
        hit.event for entity, _ in everybody for hit in await found(recalls, entity, "launch")
    }
    assert len(events) == len(everybody)
    for entity, secret in everybody:
        assert texts(await found(recalls, entity, "launch word zanzibar")) == [secret]
        [(event, around)] = (await recalls.texts([entity], events)).items()
        assert (event in events, around) == (True, [secret])


async def test_a_name_that_is_no_stream_reaches_nothing(searched: Searched) -> None:
    world = World()
    async with MemoryLog(world, "craft") as log:
        await log.session("s", user="u").append(said("the launch word is zanzibar"))
    recalls = await searched(world)
    [hit] = await found(recalls, stream_id("user", "craft", "u"), "launch")
    [vector] = Letters().embed([hit.text])
    for crafted in CRAFTED:
        asked = Asked(StreamId(crafted), ["launch", "zanzibar"], Made(vector), "letters")
        assert list(await recalls.find(asked)) == [], crafted
        assert await recalls.texts([asked.entity], [hit.event]) == {}, crafted


async def test_what_is_asked_is_words_and_no_pattern(searched: Searched) -> None:
    world = World()
    async with MemoryLog(world, "terms") as log:
        await log.session("s", user="u").append([said("otters sleep"), said("ravens fly")])
    recalls, entity = await searched(world), stream_id("user", "terms", "u")
    for term in PATTERNS:
        assert list(await recalls.find(Asked(entity, [term]))) == [], term
    assert texts(await recalls.find(Asked(entity, ["'", "otter", ":*"]))) == ["otters sleep"]


async def test_sessions_of_one_name_are_each_of_their_own_tenant_and_user(
    searched: Searched,
) -> None:
    world = World()
    for tenant in ("one", "two"):
        async with MemoryLog(world, tenant) as log:
            session = log.session("same", user="u")
            await session.append(said(f"the word of {tenant} is kiwi"))
            with pytest.raises(SessionMismatch):
                await log.session("same", user="v").append(said("and that of v is fig"))
    recalls = await searched(world)
    for tenant in ("one", "two"):
        mine = await found(recalls, stream_id("user", tenant, "u"), "word kiwi fig")
        assert texts(mine) == [f"the word of {tenant} is kiwi"]
        assert await found(recalls, stream_id("user", tenant, "v"), "word kiwi fig") == []


async def test_what_is_said_of_two_is_found_by_both_until_one_is_taken_away(
    searched: Searched,
) -> None:
    world = World()
    kiln, firm = Entity(kind="project", id="kiln"), Entity(kind="account", id="firm")
    async with MemoryLog(world, "moved") as log:
        session = log.session("s", user="u")
        await session.append([SessionUpdated(entities=[kiln, firm]), said("bricks are due")])
        other = log.session("t", user="v")
        await other.append([SessionUpdated(entities=[kiln]), said("bricks are late")])
        await session.append(SessionUpdated(entities=[firm]))
    recalls = await searched(world)
    both = {"user": ["u"], "account": ["firm"]}
    for kind, names in both.items():
        for name in names:
            assert texts(await found(recalls, stream_id(kind, "moved", name), "bricks")) == [
                "bricks are due"
            ]
    assert texts(await found(recalls, stream_id("project", "moved", "kiln"), "bricks")) == [
        "bricks are late"
    ]


async def test_what_is_gone_is_not_found_by_the_vector_that_it_left(searched: Searched) -> None:
    world = World()
    async with MemoryLog(world, "gone") as log:
        memory = log.memory(user="u")
        forgotten = await memory.remember("vault", "zzz zzz", cardinality="single")
        await memory.remember("door", "qqq qqq", cardinality="single")
        await memory.remember("door", "green", cardinality="single")
        await memory.forget(forgotten)
        session = log.session("s", user="u")
        await session.append([said("xxx xxx"), said("kkk kkk", "k")])
        await session.append(MessageRetracted(message_id="k", reason="a slip"))
        deleted = log.session("d", user="u")
        await deleted.append(said("jjj jjj"))
        await deleted.append(SessionDeleted(reason="asked to"))
    recalls, entity = await searched(world), stream_id("user", "gone", "u")
    for gone in ("vault: zzz zzz", "door: qqq qqq", "kkk kkk", "jjj jjj"):
        shown = texts(await found(recalls, entity, gone))
        assert gone not in shown
        assert set(shown) <= {"door: green", "xxx xxx"}
    assert texts(await found(recalls, entity, "xxx"))[0] == "xxx xxx"


async def test_what_changed_again_and_again_is_found_as_it_is_now(searched: Searched) -> None:
    world = World()
    async with MemoryLog(world, "often") as log:
        for number in range(130):
            await log.memory(user="u").remember(
                "parcel status", f"parcel status {number}", cardinality="single"
            )
        await log.session("s", user="u").append(said("Where is the parcel that was sent?"))
    recalls = await searched(world)
    shown = await found(recalls, stream_id("user", "often", "u"), "parcel status")
    assert texts(shown) == [
        "parcel status: parcel status 129",
        "Where is the parcel that was sent?",
    ]


async def test_a_long_session_hides_none_of_those_before_it(searched: Searched) -> None:
    world = World()
    async with MemoryLog(world, "long") as log:
        await log.session("before", user="u").append(said("The boat lies in Oban, beside two."))
        now = log.session("now", user="u")
        for number in range(130):
            await now.append(said(f"Where does the boat lie {number}?"))
    recalls, entity = await searched(world), stream_id("user", "long", "u")
    [vector] = Letters().embed(["where does the boat lie"])
    asked = Asked(entity, ["boat", "lie"], Made(vector), "letters", without=now.stream)
    assert texts(await recalls.find(asked)) == ["The boat lies in Oban, beside two."]


async def test_what_a_newer_extractor_does_not_say_again_is_not_found(searched: Searched) -> None:
    world = World()
    newer = Extractor(name="rules", version="2")
    async with MemoryLog(world, "newer") as log:
        session = log.session("s-1", user="u")
        receipt = await session.append(said("I live near Romme, in the hills."))
        [heard] = [each async for each in session.events(after=receipt.last_version - 1)]
        where = {"session_id": "s-1", "event_id": heard.id, "version": heard.version}
        learned = [
            FactLearned.model_validate(fact(name, name, value).model_dump() | {"evidence": [where]})
            for name, value in (("city", "Romme hills"), ("area", "hills"))
        ]
        await about(log, "u").append(learned)
        again = learned[1].model_copy(update={"extractor": newer})
        await about(log, "u").append(again)
        await session.append(
            PromotionCompleted(
                through_version=receipt.last_version,
                extractor=newer,
                learned=1,
                confirmed=0,
                superseded=0,
                summary="",
            )
        )
    recalls = await searched(world)
    shown = await found(recalls, stream_id("user", "newer", "u"), "romme hills")
    assert sorted(texts(shown)) == ["I live near Romme, in the hills.", "area: hills"]


async def test_a_budget_shows_what_stands_around_of_the_same_message_alone(
    searched: Searched,
) -> None:
    world = World()
    async with MemoryLog(world, "budget") as log:
        session = log.session("s", user="u")
        await session.append(said("We moved the boat. It lies in Oban. Rent is low."))
        await session.append(said("Nothing about it."))
    recalls = await searched(world)
    entity = stream_id("user", "budget", "u")
    [alone] = await recall(recalls, entity, "moved", embedder=None, k=1)
    assert alone.text == "We moved the boat."
    [whole] = await recall(
        recalls, entity, "moved boat", k=1, max_tokens=40, count=lambda text: len(text.split())
    )
    assert whole.text == "We moved the boat. It lies in Oban. Rent is low."
    assert whole.source.version == Version(2)
