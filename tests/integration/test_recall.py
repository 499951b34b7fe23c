"""Recall on the servers: what is found of whom, and what is never found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Sequence

import pytest

from agentjournal import Log
from agentjournal.events import (
    ConversationRewound,
    Entity,
    MessageAdded,
    MessageRetracted,
    SessionUpdated,
)
from agentjournal.ids import StreamId
from agentjournal.memory.embedding import local_embedder
from agentjournal.memory.recalls import Asked, Recalled
from agentjournal.postgres_views import PostgresViews
from agentjournal.settings import Settings
from consumers.indexer import has_vectors, models_of
from consumers.kafka_log_reader import KafkaLogReader
from consumers.postgres_pool import PostgresPool
from consumers.postgres_rebuild import Rebuild
from consumers.projector import ProjectorOptions
from consumers.roles import SEARCHED, known_read_models, run_indexer
from local.stack import Stack
from projections.embeddings import EMBEDDINGS
from tests.servers import (
    connected,
    fresh_settings,
    inside,
    query,
    roles,
    roles_in_a_process,
    sequencer,
)
from tests.vectors import Made

pytestmark = pytest.mark.stack


async def indexer(settings: Settings, stop: asyncio.Event) -> None:
    """Run an indexer that looks often."""
    options = ProjectorOptions(poll_s=0.02, heartbeat_s=0.2, outage_pause_s=0.05)
    await run_indexer(settings, stop, options=options)


@pytest.fixture(scope="module")
def searched(stack: Stack) -> Generator[Settings]:
    """A log with little in it: of the one that all tests share, vectors take minutes to make."""
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer", "projector"):
        yield settings


@pytest.fixture
async def indexed(searched: Settings) -> AsyncGenerator[Settings]:
    """That log, with an indexer at work."""
    async with roles(searched, indexer):
        yield searched


def said(text: str, role: str = "user", message_id: str | None = None) -> MessageAdded:
    given = {"role": role, "parts": [{"type": "text", "text": text}]}
    return MessageAdded.model_validate(given | ({"message_id": message_id} if message_id else {}))


async def recalled(
    log: Log, user: str, asked: str, until: Callable[[list[str]], bool], **entity: str
) -> list[Recalled]:
    """Return what is recalled once it is as it should be."""
    memory = log.memory(**entity) if entity else log.memory(user=user)
    texts: list[str] = []
    for _ in range(400):
        shown = await memory.recall(asked)
        texts = [each.text for each in shown]
        if until(texts):
            return shown
        await asyncio.sleep(0.05)
    raise AssertionError(texts)


def with_text(*texts: str) -> Callable[[list[str]], bool]:
    return lambda found: set(texts) <= set(found)


async def test_what_was_said_and_remembered_is_found_by_its_words(indexed: Settings) -> None:
    async with connected(indexed) as log:
        receipt = await log.session("s", user="u").append(
            [
                said("You are a helpful cat.", "system"),
                said("I moved to Lisbon. My cat is called Miso."),
                said("Noted: the cat is Miso.", "assistant"),
            ]
        )
        fact_id = await log.memory(user="u").remember("pet/cat", "Miso, a tabby")
        wanted = with_text(
            "My cat is called Miso.", "Noted: the cat is Miso.", "pet cat: Miso, a tabby"
        )
        shown = await recalled(log, "u", "how is the cat called?", wanted)
        by_text = {each.text: each for each in shown}
        assert "You are a helpful cat." not in by_text  # instructions are no memory
        fact, message = by_text["pet cat: Miso, a tabby"], by_text["My cat is called Miso."]
        assert (fact.kind, fact.fact_id, fact.role) == ("fact", fact_id, "user")
        assert (message.kind, message.role, message.source.version) == (
            "message",
            "user",
            receipt.last_version - 1,
        )
        assert [each.score for each in shown] == sorted((s.score for s in shown), reverse=True)


@pytest.mark.skipif(local_embedder() is None, reason="the extra recall is not installed")
async def test_what_means_the_same_is_found_without_a_word_in_common(indexed: Settings) -> None:
    async with connected(indexed) as log:
        await log.session("s", user="u").append(
            [said("My daughter turned six last week."), said("The printer is out of paper again.")]
        )
        meant = "My daughter turned six last week."
        # One may be found before the other has its vector.
        shown = await recalled(log, "u", "how old is my child?", lambda texts: texts[:1] == [meant])
        assert shown[0].text == meant


async def test_what_was_taken_back_is_not_found_and_a_new_value_takes_the_place_of_the_old(
    indexed: Settings,
) -> None:
    async with connected(indexed) as log:
        session = log.session("s", user="u")
        await session.append(
            [said("The vault code is 1111."), said("Wrong vault.", message_id="m")]
        )
        kept = await session.append(said("The vault stays shut."))
        await session.append(said("Open the vault at noon."))
        await session.append(MessageRetracted(message_id="m", reason="a slip"))
        await session.append(ConversationRewound(to_version=kept.last_version, reason="edit"))
        await session.append(said("Open the vault at nine."))
        memory = log.memory(user="u")
        await memory.remember("vault/door", "red", cardinality="single")
        await memory.remember("vault/door", "green", cardinality="single")
        gone = await memory.remember("vault/owner", "Ann", cardinality="single")
        await memory.forget(gone)
        expected = {
            "The vault code is 1111.",
            "The vault stays shut.",
            "Open the vault at nine.",
            "vault door: green",
        }
        await recalled(log, "u", "vault", lambda texts: set(texts) == expected)


async def test_a_session_counts_for_those_it_is_about_now(indexed: Settings) -> None:
    async with connected(indexed) as log:
        session = log.session("s", user="u")
        await session.append(said("The kiln needs new bricks."))
        await session.append(SessionUpdated(entities=[Entity(kind="project", id="kiln")]))
        await recalled(log, "", "bricks", with_text("The kiln needs new bricks."), project="kiln")
        await session.append(
            [SessionUpdated(entities=[Entity(kind="account", id="a")]), said("More bricks came.")]
        )
        await recalled(
            log,
            "",
            "bricks",
            with_text("More bricks came.", "The kiln needs new bricks."),
            account="a",
        )
        assert await log.memory(project="kiln").recall("bricks") == []


async def test_tenants_and_entities_are_walls(indexed: Settings) -> None:
    secret = "The launch word is zanzibar."
    async with (
        connected(indexed, tenant="wall-a%b") as log,
        connected(indexed, tenant="wall-a") as other,
    ):
        await log.session("s", user="u").append(said(secret))
        await other.session("s", user="u/x").append(said("Their launch word is banana."))
        await recalled(log, "u", "launch word zanzibar", with_text(secret))
        await recalled(other, "u/x", "launch word", lambda texts: len(texts) == 1)
        for client in (log, other):
            for name in ("u%", "_", "%", "u/x/../u", "U", "u ", "*", "{u}", "u,v", '"u"'):
                assert await client.memory(user=name).recall("launch word zanzibar") == [], name
            for kind in ("account", "project"):
                assert await client.memory(**{kind: "u"}).recall("launch word zanzibar") == []
        assert await other.memory(user="u").recall("launch word zanzibar") == []
        for crafted in (
            "user/wall-a%b/u",
            "user/%/u",
            "user/wall-a_b/u",
            "%",
            "",
            "user/wall-a%25b",
        ):
            hits = await crafted_hits(log, crafted)
            assert hits == 0, crafted
            found = await query(
                indexed,
                "SELECT * FROM agentjournal_internal.found_passages("
                f"'{crafted}', ARRAY['launch','word','zanzibar'], 100)",
            )
            assert found == [], crafted


async def crafted_hits(log: Log, entity: str) -> int:
    vector = Made((1.0, *(0.0,) * 383))
    terms = ["launch", "zanzibar"]
    asked = Asked(StreamId(entity), terms, vector, "all-MiniLM-L6-v2-int8")
    return len(await inside(log).recalls.find(asked))


async def test_a_query_is_words_to_look_for_and_never_a_command(indexed: Settings) -> None:
    async with connected(indexed) as log:
        await log.session("s", user="u").append([said("The otter sleeps."), said("Nothing else.")])
        await recalled(log, "u", "otter", with_text("The otter sleeps."))
        hostile: Sequence[str] = (
            "otter & !sleeps", "otter:*", "'otter' <-> 'sleeps'", "\\ ' \" otter", "otter') --",
            "%", "\0", "\ud800 otter", "otter | | &", "(((", "'; DROP TABLE x; --",
        )  # fmt: skip
        for each in hostile:
            texts = [found.text for found in await log.memory(user="u").recall(each)]
            assert "otter" not in each or texts[0] == "The otter sleeps.", each
        for term in ("'", "\\", "a'b\\", "a | b", ":*", " "):
            escaped = term.replace("'", "''")
            await query(
                indexed,
                "SELECT * FROM agentjournal_internal.found_passages("
                f"'user/t/u', ARRAY['{escaped}'], 10)",
            )


async def test_a_session_is_told_of_earlier_ones_and_says_what_it_was_told(
    indexed: Settings,
) -> None:
    async with connected(indexed) as log:
        await log.session("old", user="u").append(said("I am allergic to peanuts."))
        await recalled(log, "u", "peanuts", with_text("I am allergic to peanuts."))
        session = log.session("new", user="u")
        await session.append(said("Are there peanuts in satay?"))
        await recalled(log, "u", "satay", with_text("Are there peanuts in satay?"))
        block = await session.recall(max_tokens=60)
        assert "I am allergic to peanuts." in block
        assert "satay" not in block  # what the session says itself
        [event] = [each async for each in session.events() if each.type == "memory.recalled"]
        shown = event.data
        assert shown["query"] == "Are there peanuts in satay?"
        assert len(shown["event_ids"]) == 1
        assert 0 < shown["tokens"] <= 60
        assert await session.recall("zzzz qqqq", max_tokens=1) == ""
        assert "allergic" not in str((await session.window()).messages)


async def test_what_is_rebuilt_is_what_was_live(fresh: Settings) -> None:
    async with roles(fresh, sequencer, indexer), connected(fresh) as log:
        session = log.session("s", user="u")
        await session.append([said("The first mast."), said("The second mast.", message_id="m")])
        await session.append(SessionUpdated(entities=[Entity(kind="project", id="ship")]))
        await session.append(MessageRetracted(message_id="m", reason="a slip"))
        await log.memory(user="u").remember("mast/height", "30 m")
        last = await session.append(said("The third mast."))
        expected = {"The first mast.", "The third mast.", "mast height: 30 m"}
        views = PostgresViews(fresh)
        try:
            await views.wait_for_input(last, 20, projections=["recall"])
        finally:
            await views.close()
        async with (
            PostgresPool(fresh, name="rebuild", size=6) as pool,
            KafkaLogReader(fresh) as reader,
        ):
            wanted = list(SEARCHED)
            if await has_vectors(pool):
                wanted += [each for each in known_read_models().values() if each.name == EMBEDDINGS]
            models = models_of(pool, wanted)
            async with asyncio.timeout(60):
                done = await Rebuild(pool, reader, models=models).run(wanted, check=False)
        assert [each.projection for each in done] == [each.name for each in wanted]
        for each in done:
            assert (each.differences, each.switched) == ([], True), each.projection
        texts = await query(
            fresh,
            "SELECT text FROM agentjournal.passages WHERE 'user/' || tenant || '/u' = ANY (scopes)",
        )
        assert {row["text"] for row in texts} == expected
        if EMBEDDINGS in {each.name for each in wanted}:
            [row] = await query(fresh, "SELECT count(*) AS count FROM agentjournal.embeddings")
            assert row["count"] == 4  # vectors stay where what was said is gone
