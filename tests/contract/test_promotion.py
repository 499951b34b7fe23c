"""A session is promoted once, whoever promotes it, and what it says is kept by its entities."""

from __future__ import annotations

import asyncio

import pytest

import agentjournal as aj
from agentjournal.events import Extractor
from tests.clients import Clients
from tests.promoted import PLAIN, PlainExtracting, completed_of, said, said_of


async def test_what_a_session_says_is_learned_and_told_once(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s-1", user="u-7")
        await session.append([said("city = Rome\nfood? = fish"), said("ok", role="assistant")])
        made = await session.promote(extracting=PlainExtracting())
        assert [(each.entity.id, each.fact.value) for each in made.learned] == [("u-7", "Rome")]
        [fact] = [each.fact for each in made.learned]
        messages = [each async for each in session.events() if each.type == "message.added"]
        [evidence] = fact.evidence
        assert (evidence.session_id, evidence.event_id, evidence.version) == (
            "s-1",
            messages[0].id,
            messages[0].version,
        )
        assert (fact.quote, fact.valid_from, fact.author_role) == (
            "city = Rome",
            messages[0].recorded_at,
            "user",
        )
        again = await session.promote(extracting=PlainExtracting())
        assert (again.repeated, again.completed) == (True, made.completed)
        assert await said_of(log, "u-7") == [("city", "Rome")]
        [completed] = await completed_of(session)
        assert completed == made.completed
        assert (completed.through_version, completed.extractor) == (3, PLAIN)
        assert (completed.learned, completed.confirmed, completed.superseded) == (1, 0, 0)
        assert completed.summary == "2 statements"
        assert [(each.reason, each.count) for each in completed.refused] == [("not sure", 1)]


async def test_a_session_that_went_on_is_promoted_again_and_learns_only_what_is_new(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        session = log.session("s-1", user="u-7")
        await session.append(said("city=Rome"))
        await session.promote(extracting=PlainExtracting())
        await session.append(said("city=Oslo\nfood=fish"))
        made = await session.promote(extracting=PlainExtracting())
        assert [each.fact.value for each in made.learned] == ["Oslo", "fish"]
        assert [each.fact.value for each in made.superseded] == ["Rome"]
        assert await said_of(log, "u-7") == [("city", "Rome"), ("city", "Oslo"), ("food", "fish")]
        assert [each.through_version for each in await completed_of(session)] == [2, 4]


async def test_what_another_session_said_is_confirmed_and_superseded(clients: Clients) -> None:
    async with clients.connected() as log:
        for name, text in (("a", "city=Rome\nfood=fish"), ("b", "city=Oslo\nfood=Fish")):
            await log.session(name, user="u-7").append(said(text))
        first = await log.session("a", user="u-7").promote(extracting=PlainExtracting())
        other = await log.session("b", user="u-7").promote(extracting=PlainExtracting())
        assert [len(first.learned), len(first.confirmed), len(first.superseded)] == [2, 0, 0]
        assert [each.fact.value for each in other.learned] == ["Oslo"]
        assert [each.fact.value for each in other.confirmed] == ["fish"]
        assert [each.fact.value for each in other.superseded] == ["Rome"]
        assert other.completed.confirmed == other.completed.superseded == 1


async def test_a_dry_run_appends_nothing_and_shows_what_there_is(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s-1", user="u-7")
        await session.append(said("city=Rome\nfood?=fish"))
        for _ in range(2):
            made = await session.promote(extracting=PlainExtracting(), dry_run=True)
            assert [each.fact.value for each in made.learned] == ["Rome"]
            assert [(each.reason, each.quote) for each in made.refused] == [
                ("not sure", "food?=fish")
            ]
        assert (await said_of(log, "u-7"), await completed_of(session)) == ([], [])
        await session.promote(extracting=PlainExtracting())
        known = await session.promote(extracting=PlainExtracting(), dry_run=True)
        assert [each.fact.value for each in known.said] == ["Rome"]
        assert (known.learned, known.repeated) == ([], False)


async def test_two_who_promote_at_once_learn_once(clients: Clients) -> None:
    async with clients.connected() as one, clients.connected(tenant=one.settings.tenant) as two:
        await one.session("s-1", user="u-7").append(said("city=Rome\nfood=fish"))
        made = await asyncio.gather(
            *(log.session("s-1").promote(extracting=PlainExtracting()) for log in (one, two))
        )
        assert made[0].completed == made[1].completed
        assert await said_of(one, "u-7") == [("city", "Rome"), ("food", "fish")]
        assert len(await completed_of(one.session("s-1"))) == 1


async def test_a_newer_version_of_an_extractor_learns_again(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s-1", user="u-7")
        await session.append(said("city=Rome"))
        await session.promote(extracting=PlainExtracting())
        newer = PlainExtracting(Extractor(name="plain", version="2"))
        made = await session.promote(extracting=newer)
        assert [each.fact.value for each in made.learned] == ["Rome"]
        assert await said_of(log, "u-7") == [("city", "Rome")] * 2
        assert [each.extractor.version for each in await completed_of(session)] == ["1", "2"]
        # Nothing was said since, whoever reads.
        assert (await session.promote(extracting=newer)).repeated
        assert (await session.promote(extracting=PlainExtracting())).repeated


async def test_what_is_taken_back_is_told_as_of_when_it_was_said(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s-1", user="u-7")
        await session.append([said("city=Rome"), said("city-=Rome\nfood-=")])
        made = await session.promote(extracting=PlainExtracting())
        (who, one), (_, every) = made.retracted
        assert (who.id, one.attribute, one.value, every.attribute, every.value) == (
            "u-7",
            "city",
            "Rome",
            "food",
            None,
        )
        last = [each async for each in session.events() if each.type == "message.added"][-1]
        assert (one.said_at, one.reason) == (last.recorded_at, "city-=Rome")
        assert len(await said_of(log, "u-7")) == 3


async def test_who_has_not_begun_or_is_deleted_cannot_be_promoted(clients: Clients) -> None:
    async with clients.connected() as log:
        with pytest.raises(aj.SessionNotFound):
            await log.session("s-0").promote(extracting=PlainExtracting())
        session = log.session("s-1", user="u-7")
        await session.append([said("city=Rome"), aj.SessionDeleted(reason="asked to")])
        with pytest.raises(aj.StreamDeleted):
            await session.promote(extracting=PlainExtracting())
        assert await said_of(log, "u-7") == []


async def test_a_session_that_is_deleted_takes_along_what_it_had_taught(clients: Clients) -> None:
    async with clients.connected() as log:
        for name, text in (("s-1", "city=Rome\ntopic*=tea"), ("s-2", "topic*=tea")):
            session = log.session(name, user="u-7")
            await session.append(said(text))
            await session.promote(extracting=PlainExtracting())
        await log.session("s-1").append(aj.SessionDeleted(reason="asked to"))
        with pytest.raises(aj.StreamDeleted):
            await log.session("s-1").promote(extracting=PlainExtracting())
        memory = log.memory(user="u-7")
        [tea] = await memory.facts()
        assert (tea.value, [each.session_id for each in tea.evidence]) == ("tea", ["s-2"])
        assert {each.value: each.ended_by for each in await memory.history()} == {
            "Rome": "retracted",
            "tea": None,
        }


async def test_what_an_extractor_raises_leaves_nothing(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s-1", user="u-7")
        await session.append(said("city=Rome\nboom"))
        with pytest.raises(ValueError, match="boom"):
            await session.promote(extracting=PlainExtracting())
        assert (await said_of(log, "u-7"), await completed_of(session)) == ([], [])


async def test_entities_and_tenants_are_walls(clients: Clients) -> None:
    async with clients.connected() as log, clients.connected() as other:
        session = log.session("s-1", user="u-7")
        await session.append(said("city=Rome"))
        await session.promote(extracting=PlainExtracting())
        with pytest.raises(aj.SessionNotFound):
            await other.session("s-1").promote(extracting=PlainExtracting())
        assert await said_of(other, "u-7") == []


async def test_who_promotes_a_session_of_another_user_adds_nothing_to_it_either(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        await log.session("s", user="u").append(said("city=Rome"))
        other = log.session("s", user="v")
        await other.promote(extracting=PlainExtracting())
        with pytest.raises(aj.SessionMismatch):
            await other.append(said("city=Oslo"))
