"""What a message had taught is taken back by the next promotion once the message is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

import agentjournal as aj
from agentjournal.events import Entity, FactRetracted
from agentjournal.memory.candidates import Extraction, Statement
from agentjournal.memory.fact_events import value_taken_back
from agentjournal.memory.promoter import FAULT_POINTS, Promoter
from agentjournal.memory.promoting import Promotion
from agentjournal.testing import memory_log
from agentjournal.testing.memory_log import MemoryLog
from tests.layers import about
from tests.promoted import PlainExtracting, completed_of, said
from tests.servers import inside


async def promote(log: MemoryLog, name: str = "s", *, dry_run: bool = False) -> Promotion:
    return await log.session(name).promote(extracting=PlainExtracting(), dry_run=dry_run)


async def held(log: MemoryLog) -> list[tuple[str, object]]:
    return sorted((each.attribute, each.value) for each in await log.memory(user="u").facts())


async def retract(session: aj.Session, text: str) -> aj.Receipt:
    state = await session.load()
    [message] = [each for each in state.messages if each.text == text]
    return await session.append(aj.MessageRetracted(message_id=message.message_id, reason="wrong"))


async def retractions(log: MemoryLog) -> list[FactRetracted]:
    return [
        event
        async for each in about(log, "u").events()
        if isinstance(event := each.event, FactRetracted)
    ]


async def test_a_message_that_is_retracted_takes_its_facts_along_and_no_others() -> None:
    log = memory_log()
    session, other = log.session("s", user="u"), log.session("t", user="u")
    await session.append([said("topic*=chess"), said("topic*=tea\ncity=Rome")])
    await other.append(said("topic*=tea"))  # the same words, in a session that stays
    for name in ("s", "t"):
        await promote(log, name)
    receipt = await retract(session, "topic*=tea\ncity=Rome")
    would = await promote(log, dry_run=True)
    assert {each.attribute for _, each in would.retracted} == {"topic", "city"}
    assert await held(log) == [("city", "Rome"), ("topic", "chess"), ("topic", "tea")]
    made = await promote(log)
    assert await held(log) == [("topic", "chess"), ("topic", "tea")]
    [gone, _] = [each for _, each in made.retracted]
    assert (gone.reason, gone.by) == ("the message was retracted", "promoter")
    assert {value_taken_back(each) for _, each in made.retracted} == {"tea", "Rome"}
    assert [each.version for each in gone.evidence or ()] == [receipt.first_version]
    [tea] = [each for each in await log.memory(user="u").facts() if each.value == "tea"]
    assert [each.session_id for each in tea.evidence] == ["t"]
    assert [each.fact.value for each in made.superseded] == ["Rome"]  # there is still some tea
    await session.append(said("pet=cat"))
    assert (await promote(log)).retracted == []  # that is done
    assert len(await retractions(log)) == 2


async def test_what_was_rewound_is_taken_back_and_may_be_said_again() -> None:
    log = memory_log()
    session = log.session("s", user="u")
    first = await session.append(said("city=Rome"))
    await session.append(said("food=fish"))
    await promote(log)
    await session.append(aj.ConversationRewound(to_version=first.last_version, reason="again"))
    await promote(log)
    assert await held(log) == [("city", "Rome")]
    await session.append(said("food=fish"))
    await promote(log)
    assert await held(log) == [("city", "Rome"), ("food", "fish")]


async def test_what_had_been_superseded_does_not_come_back() -> None:
    log = memory_log()
    session = log.session("s", user="u")
    await session.append([said("city=Rome"), said("city=Oslo")])
    await promote(log)
    await retract(session, "city=Oslo")
    await promote(log)
    assert await held(log) == []
    await session.append(said("city=Rome"))
    await promote(log)
    assert await held(log) == [("city", "Rome")]


async def test_a_project_that_a_session_is_no_longer_about_loses_what_is_gone_too() -> None:
    log = memory_log()
    session = log.session("s", user="u", entities=[Entity(kind="project", id="p")])
    await session.append(said("project database=Postgres"))
    await promote(log)
    assert [each.value for each in await log.memory(project="p").facts()] == ["Postgres"]
    await session.append(aj.SessionUpdated(entities=[]))
    await retract(session, "project database=Postgres")
    await promote(log)
    assert await log.memory(project="p").facts() == []


async def delete(session: aj.Session) -> aj.Receipt:
    return await session.append(aj.SessionDeleted(reason="asked to"))


async def test_a_deleted_session_takes_along_all_that_it_alone_had_taught() -> None:
    log = memory_log()
    project = Entity(kind="project", id="p")
    session, other = log.session("s", user="u", entities=[project]), log.session("t", user="u")
    await session.append(said("city=Oslo"))
    await session.append(said("city=Rome\ntopic*=tea\nproject database=Postgres"))
    await other.append(said("topic*=tea"))
    for name in ("s", "t"):
        await promote(log, name)
    assert await held(log) == [("city", "Rome"), ("topic", "tea")]
    deletion = await delete(session)
    with pytest.raises(aj.StreamDeleted):
        await promote(log, dry_run=True)
    assert await held(log) == [("city", "Rome"), ("topic", "tea")]

    with pytest.raises(aj.StreamDeleted):
        await promote(log)

    assert await held(log) == [("topic", "tea")]
    assert await log.memory(project="p").facts() == []
    back = await retractions(log)
    assert sorted(map(str, map(value_taken_back, back))) == ["Oslo", "Rome", "tea"]
    assert {(each.by, each.reason) for each in back} == {("promoter", "the session was deleted")}
    assert {each.version for event in back for each in event.evidence or ()} == {
        deletion.first_version
    }
    with pytest.raises(aj.StreamDeleted):
        await promote(log)
    assert len(await retractions(log)) == 3


@pytest.mark.parametrize("point", ["read", "extracted", "known", "learned"])
async def test_a_session_that_is_deleted_while_it_is_promoted_teaches_nothing(point: str) -> None:
    log = memory_log()
    session = log.session("s", user="u")
    await session.append(said("city=Rome"))
    deleting: list[asyncio.Task[aj.Receipt]] = []

    def fault(reached: str) -> None:
        if reached == point and not deleting:
            deleting.append(asyncio.create_task(delete(session)))

    class Slowly(PlainExtracting):
        async def extract(
            self, statements: Sequence[Statement], entities: Sequence[Entity]
        ) -> Extraction:
            if deleting:
                await deleting[0]
            return await super().extract(statements, entities)

    with pytest.raises(aj.StreamDeleted):
        await Promoter(inside(log), Slowly(), fault).promote(session.stream)
    assert len(deleting) == 1
    assert await held(log) == []


@pytest.mark.parametrize("point", ["read", "known", "learned"])
async def test_who_dies_while_a_deletion_is_followed_is_repeated(point: str) -> None:
    log = memory_log()
    session = log.session("s", user="u")
    await session.append(said("city=Rome"))
    await promote(log)
    await delete(session)

    def fault(reached: str) -> None:
        if reached == point:
            raise _DiedError

    with pytest.raises(_DiedError):
        await Promoter(inside(log), PlainExtracting(), fault).promote(session.stream)
    with pytest.raises(aj.StreamDeleted):
        await promote(log)
    assert await held(log) == []
    assert len(await retractions(log)) == 1


class _DiedError(Exception):
    """The promoter is dead."""


@pytest.mark.parametrize("point", FAULT_POINTS)
async def test_who_dies_while_taking_back_is_repeated_and_counts_the_same(point: str) -> None:
    log = memory_log()
    session = log.session("s", user="u")
    await session.append(said("city=Rome"))
    await promote(log)
    await retract(session, "city=Rome")

    def fault(reached: str) -> None:
        if reached == point:
            raise _DiedError

    with pytest.raises(_DiedError):
        await Promoter(inside(log), PlainExtracting(), fault).promote(session.stream)
    await promote(log)
    assert await held(log) == []
    assert len(await retractions(log)) == 1
    _, told = await completed_of(session)
    assert (told.learned, told.confirmed, told.superseded) == (0, 0, 1)


async def recalled(log: MemoryLog) -> list[str]:
    return [each.text for each in await log.memory(user="u").recall("plover chess", k=10)]


async def test_a_summary_of_what_was_retracted_is_gone_with_the_next_promotion() -> None:
    log = memory_log()
    session = log.session("s", user="u")
    await session.append(said("The plover is mine."))
    await session.promote()
    assert await recalled(log) == ["The plover is mine."]
    await retract(session, "The plover is mine.")
    await session.promote()
    assert await recalled(log) == []


async def test_a_summary_of_what_was_rewound_is_not_shown_from_then_on() -> None:
    log = memory_log()
    session = log.session("s", user="u")
    await session.append(said("Something else."))
    await session.promote()
    start = (await session.append(said("I like chess."))).last_version
    await session.promote()
    asked = "The plover is mine."
    await session.append(aj.MessageAdded(role="assistant", content=asked))
    await session.promote()
    assert any(asked in text for text in await recalled(log))
    await session.rewind(start, reason="edited")
    assert not any(asked in text for text in await recalled(log))
