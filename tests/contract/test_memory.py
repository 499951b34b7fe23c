"""Long-term memory: what is remembered, what holds, what was known, and what is forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agentjournal import (
    AppendRejected,
    Entity,
    Evidence,
    Fact,
    FactNotFound,
    FactRetracted,
    Log,
    MessageAdded,
    PromotionCompleted,
)
from agentjournal.events import Extractor, FactLearned
from agentjournal.memory.fact_events import fact_id_of
from tests.clients import Clients
from tests.layers import about

NEVER = datetime(2000, 1, 1, tzinfo=UTC)


def values(facts: list[Fact]) -> list[tuple[str, object]]:
    return [(fact.attribute, fact.value) for fact in facts]


async def told(log: Log, session_id: str, attribute: str, value: str) -> FactLearned:
    """Return what is to be learned of a message of u-7, which is recorded."""
    session = log.session(session_id, user="u-7")
    receipt = await session.append(MessageAdded(role="user", content=f"My {attribute}: {value}"))
    [event] = [each async for each in session.events(after=receipt.last_version - 1)]
    entity = Entity(kind="user", id="u-7")
    return FactLearned(
        fact_id=fact_id_of(entity, session_id, event.id, attribute, value),
        kind="preference",
        attribute=attribute,
        value=value,
        cardinality="single",
        quote=f"{attribute}: {value}",
        evidence=[Evidence(session_id=session_id, event_id=event.id, version=event.version)],
        author_role="user",
        confidence=0.9,
        valid_from=event.recorded_at,
        extractor=Extractor(name="rules", version="1"),
    )


async def test_what_is_remembered_holds_until_something_newer_is(clients: Clients) -> None:
    async with clients.connected() as log:
        memory = log.memory(user="u-7")
        assert await memory.facts() == []
        first = await memory.remember("city", "Rome", cardinality="single", kind="profile")
        [fact] = await memory.facts()
        assert (fact.fact_id, fact.value, fact.kind) == (first, "Rome", "profile")
        assert (fact.evidence, fact.author_role, fact.ended_by) == ((), "user", None)
        await memory.remember("city", "Oslo", cardinality="single", kind="profile")
        assert values(await memory.facts()) == [("city", "Oslo")]
        old, new = await memory.history()
        assert (old.value, old.ended_by, old.valid_to) == ("Rome", "superseded", new.valid_from)


async def test_an_attribute_without_a_slot_is_free_text_and_supersedes_nothing(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        memory = log.memory(project="p")
        await memory.remember("remark on tabs", "tabs", role="developer")
        await memory.remember("remark on tabs", {"width": 4, "more": "\0", "big": 2**70})
        await memory.remember("remark on tabs", "TABS ")
        found = await memory.facts()
        assert [fact.value for fact in found] == ["tabs", {"width": 4, "more": "\0", "big": 2**70}]
        assert [len(fact.fact_ids) for fact in found] == [2, 1]
        assert [fact.kind for fact in found] == ["text", "text"]


async def test_others_see_at_once_what_was_remembered(clients: Clients) -> None:
    async with clients.connected() as one, clients.connected(tenant=one.settings.tenant) as two:
        await one.memory(account="a").remember("plan", "gold", cardinality="single")
        assert values(await two.memory(account="a").facts()) == [("plan", "gold")]


async def test_tenants_and_entities_are_walls(clients: Clients) -> None:
    async with clients.connected() as log, clients.connected() as other:
        fact_id = await log.memory(user="u-7").remember("city", "Rome")
        for memory in (
            other.memory(user="u-7"),
            log.memory(user="u-8"),
            log.memory(account="u-7"),
            log.memory(user="u-%"),
        ):
            assert await memory.facts() == []
            with pytest.raises(FactNotFound):
                await memory.forget(fact_id)
            with pytest.raises(FactNotFound):
                await memory.explain(fact_id)
            await memory.forget(attribute="city")
        assert values(await log.memory(user="u-7").facts()) == [("city", "Rome")]


async def test_what_was_true_and_what_was_known_are_asked_for_apart(clients: Clients) -> None:
    async with clients.connected() as log:
        memory = log.memory(user="u-7")
        moved = datetime(2020, 5, 1, tzinfo=UTC)
        await memory.remember("city", "Rome", cardinality="single", valid_from=moved)
        await clients.time_passes(0.01)
        [rome] = await memory.facts()
        await memory.remember("city", "Oslo", cardinality="single")
        before = moved + timedelta(days=1)
        assert values(await memory.facts(as_of=before)) == [("city", "Rome")]
        assert await memory.facts(as_of=moved - timedelta(days=1)) == []
        assert values(await memory.facts(known_at=rome.recorded_at)) == [("city", "Rome")]
        assert await memory.facts(as_of=before, known_at=NEVER) == []
        no_zone = datetime(2020, 1, 1)  # noqa: DTZ001
        with pytest.raises(ValueError, match=r"as_of=.* has no zone"):
            await memory.facts(as_of=no_zone)
        with pytest.raises(ValueError, match=r"known_at=.* has no zone"):
            await memory.facts(known_at=no_zone)


async def test_what_is_forgotten_is_hidden_and_brings_nothing_back(clients: Clients) -> None:
    async with clients.connected() as log:
        memory = log.memory(user="u-7")
        await memory.remember("city", "Rome", cardinality="single")
        oslo = await memory.remember("city", "Oslo", cardinality="single")
        [forgotten] = await memory.forget(oslo)
        assert forgotten.value == "Oslo"
        assert await memory.facts() == []
        ended = [(fact.value, fact.ended_by) for fact in await memory.history()]
        assert ended == [("Rome", "superseded"), ("Oslo", "retracted")]
        await clients.time_passes(0.01)
        await memory.remember("city", "oslo", cardinality="single")  # said anew
        assert values(await memory.facts()) == [("city", "oslo")]
        with pytest.raises(FactNotFound):
            await memory.forget("no such fact")


async def test_facts_are_forgotten_by_attribute_and_by_quote(clients: Clients) -> None:
    async with clients.connected() as log:
        memory = log.memory(user="u-7")
        await memory.remember("likes", "tea", quote="I like  green tea", cardinality="multiple")
        await memory.remember("likes", "rice", cardinality="multiple")
        await memory.remember("pet", None, quote="I have no pet")
        await memory.remember("size", "M")
        assert values(await memory.forget(quote="GREEN TEA")) == [("likes", "tea")]
        assert values(await memory.forget(quote="no pet")) == [("pet", None)]
        assert await memory.forget(quote="green tea") == []
        assert values(await memory.facts()) == [("likes", "rice"), ("size", "M")]
        assert values(await memory.forget(attribute="likes")) == [("likes", "rice")]
        assert values(await memory.facts()) == [("size", "M")]
        with pytest.raises(ValueError, match="one fact"):
            await memory.forget()
        with pytest.raises(ValueError, match="one fact"):
            await memory.forget("f", attribute="likes")
        with pytest.raises(ValueError, match="is empty"):
            await memory.forget(quote=" ")
        with pytest.raises(AppendRejected):
            await memory.forget(attribute="")


async def test_what_was_forgotten_does_not_come_back_when_it_is_promoted_again(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        memory, stream = log.memory(user="u-7"), about(log, "u-7")
        early, late = [await told(log, name, "city", "Rome") for name in ("s-1", "s-2")]
        await stream.append(late)
        [fact] = await memory.facts()
        await memory.forget(fact)
        again = late.model_copy(update={"extractor": Extractor(name="rules", version="2")})
        await stream.append([late, again, early])  # the same again, and a session promoted late
        assert await log.memory(user="u-7").facts() == []
        await clients.time_passes(0.01)
        await stream.append(await told(log, "s-3", "city", "Rome"))
        [fact] = await log.memory(user="u-7").facts()
        assert [each.session_id for each in fact.evidence] == ["s-3"]


async def test_a_retraction_that_names_a_fact_alone_takes_back_its_value(clients: Clients) -> None:
    async with clients.connected() as log:
        memory, stream = log.memory(user="u-7"), about(log, "u-7")
        one, two = [await told(log, name, "city", "Rome") for name in ("s-1", "s-2")]
        await stream.append([one, two])
        await stream.append(FactRetracted(fact_id=two.fact_id, reason="no", by="u-7"))
        assert await memory.facts() == []


async def test_a_fact_is_explained_by_the_events_that_say_so(clients: Clients) -> None:
    async with clients.connected() as log:
        memory = log.memory(user="u-7")
        for name in ("s-1", "s-2"):
            await about(log, "u-7").append(await told(log, name, "city", "Rome"))
        [fact] = await memory.facts()
        sources = await memory.explain(fact)
        assert [(s.session_id, s.role, s.text, s.version) for s in sources] == [
            ("s-1", "user", "My city: Rome", 2),
            ("s-2", "user", "My city: Rome", 2),
        ]
        kept = await memory.remember("size", "M", quote="I wear M", role="developer")
        [source] = await memory.explain(kept)
        assert (source.session_id, source.role, source.text) == (None, "developer", "I wear M")


async def test_a_newer_extractor_replaces_what_an_older_one_learned(clients: Clients) -> None:
    async with clients.connected() as log:
        memory, session = log.memory(user="u-7"), log.session("s-1", user="u-7")
        await about(log, "u-7").append(await told(log, "s-1", "city", "Romme"))
        done = PromotionCompleted(
            through_version=2,
            extractor=Extractor(name="rules", version="2"),
            learned=0,
            confirmed=0,
            superseded=0,
        )
        assert values(await memory.facts()) == [("city", "Romme")]
        await log.caught_up(await session.append(done))
        assert await memory.facts() == []


async def test_a_memory_is_of_one_entity_and_a_fact_is_no_document(clients: Clients) -> None:
    async with clients.connected() as log:
        with pytest.raises(ValueError, match="one user=, one account= or one project="):
            log.memory()
        with pytest.raises(ValueError, match="one user="):
            log.memory(user="u", project="p")
        with pytest.raises(AppendRejected):
            log.memory(user="")
        memory = log.memory(user="u-7")
        with pytest.raises(AppendRejected, match="attribute"):
            await memory.remember("", "x")
        with pytest.raises(AppendRejected, match="at most 32,000"):
            await memory.remember("novel", "x" * 32_000, quote="long")
        assert await memory.history() == []


async def test_a_session_says_whom_it_is_about_and_context_has_what_is_known(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        project = Entity(kind="project", id="p-1")
        session = log.session("s-1", user="u-7", entities=[project])
        await session.append(MessageAdded(role="user", content="Hello"))
        [started] = [each.data async for each in session.events() if each.version == 1]
        assert started["entities"] == [{"kind": "project", "id": "p-1"}]
        await log.memory(project="p-1").remember("language", "Python", cardinality="single")
        found = await log.context(session="s-1", user="u-7", project="p-1", account="a-1")
        assert found.project is not None
        assert values(list(found.project.facts.values())) == [("language", "Python")]
        assert (found.user, found.account) == (None, None)
        tenant = log.settings.tenant
        assert found.versions == {
            f"session/{tenant}/s-1": 2,
            f"user/{tenant}/u-7": 0,
            f"account/{tenant}/a-1": 0,
            f"project/{tenant}/p-1": 1,
        }
