"""What a promotion writes follows from what was said: who repeats it asks for the same."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentjournal as aj
from agentjournal.events import Entity, Event, Extractor, FactLearned
from agentjournal.ids import StreamId, Version, stream_id
from agentjournal.memory.candidates import Candidate, Extraction, Statement
from agentjournal.memory.entity_reading import EntityReading
from agentjournal.memory.promoter import FAULT_POINTS, Promoter
from agentjournal.memory.promoting import (
    MAX_BATCH,
    MAX_BATCH_BYTES,
    Promotion,
    batches_of,
    completed_batch,
    promotion_of,
)
from agentjournal.memory.session_reading import Reading
from agentjournal.memory.wanting import Wanted, wanted_of
from agentjournal.testing import memory_log
from agentjournal.testing.memory_log import MemoryLog
from tests.layers import about, fact
from tests.promoted import PLAIN, PlainExtracting, completed_of, known_of, said, said_of
from tests.servers import inside

USER = Entity(kind="user", id="u")
STREAM = stream_id("session", "acme", "s")
AT = "2026-01-01T10:00:00Z"


def statement(number: int, text: str, session: str = "s") -> Statement:
    return Statement(session, f"e-{number}", Version(number), AT, "user", "message", text)


def candidate(number: int, attribute: str, value: object, **changed: object) -> Candidate:
    text = f"{attribute} is {value}"
    said_so = statement(number, text)
    made = Candidate(USER, "profile", attribute, value, "single", text, said_so, 0.9, AT)
    return replace(made, **changed)  # type: ignore[arg-type]


def reading(promoted: int = 0) -> Reading:
    return Reading(STREAM, Version(9), Version(8), (), (USER,), Version(promoted))


def wanted(*candidates: Candidate) -> Wanted:
    return wanted_of(reading(), Extraction(list(candidates)), PLAIN)


def learned(found: Wanted) -> list[FactLearned]:
    return [each for of in found.of_entity.values() for each in of if isinstance(each, FactLearned)]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"quote": "I said no such thing"}, "no quote"),
        ({"quote": ""}, "no quote"),
        ({"entity": Entity(kind="user", id="v")}, "another entity"),
        ({"entity": Entity(kind="account", id="u")}, "another entity"),
        ({"statement": statement(2, "city is Rome", "t")}, "another session"),
        ({"others": (statement(1, "city is Rome", "t"),)}, "another session"),
        ({"attribute": ""}, "not valid"),
        ({"valid_from": "yesterday"}, "not valid"),
        ({"confidence": 2}, "not valid"),
        ({"value": "x" * 32_000}, "too large"),
    ],
)
def test_what_no_extractor_may_learn_is_refused_and_counted(
    changed: dict[str, object], reason: str
) -> None:
    bad = replace(candidate(2, "city", "Rome"), **changed)  # type: ignore[arg-type]
    found = wanted(bad, candidate(3, "food", "fish"))
    assert [(each.reason, each.quote) for each in found.refused] == [(reason, bad.quote)]
    assert [fact.attribute for fact in learned(found)] == ["food"]
    made = promotion_of(reading(), found, _nothing(found), PLAIN, None)
    assert [(each.reason, each.count) for each in made.completed.refused] == [(reason, 1)]


def test_a_quote_may_stand_in_what_else_is_evidence() -> None:
    asked = statement(1, "Where do you live?")
    found = wanted(candidate(2, "city", "Rome", quote="Where do you live?", others=(asked,)))
    [fact] = learned(found)
    assert [each.event_id for each in fact.evidence] == ["e-2", "e-1"]


@given(st.permutations(range(4)), st.lists(st.integers(0, 3)))
def test_the_order_and_number_of_candidates_change_no_fact(
    order: Sequence[int], again: Sequence[int]
) -> None:
    every = [candidate(n + 1, f"a-{n % 2}", n) for n in range(4)]
    plain = {fact.fact_id: fact for fact in learned(wanted(*every))}
    shuffled = learned(wanted(*(every[n] for n in [*order, *again])))
    assert len(shuffled) == len(plain) == 4
    assert {fact.fact_id: fact for fact in shuffled} == plain


@pytest.mark.parametrize("last", ["a", "b", "c"])
@pytest.mark.parametrize("order", [1, -1])
def test_of_values_in_one_message_the_last_one_holds(last: str, order: int) -> None:
    values = [*sorted({"a", "b", "c"} - {last}), last]
    text = ". ".join(f"size is {value}" for value in values)
    said_so = statement(1, text)
    found = [
        candidate(1, "size", value, quote=f"size is {value}", statement=said_so) for value in values
    ]
    facts = learned(wanted(*found[::order], candidate(2, "other", "x")))
    at = {fact.value: fact.said_at for fact in facts}
    assert at[values[0]] is at["x"] is None  # as long as it is said when it is valid from
    assert [at[value] for value in values[1:]] == [
        "2026-01-01T10:00:00.000001+00:00",
        "2026-01-01T10:00:00.000002+00:00",
    ]
    assert {fact.valid_from for fact in facts} == {AT}


def test_in_one_sentence_the_value_that_stands_last_holds() -> None:
    said_so = statement(1, "Not in Rome but in Oslo.")
    both = [
        candidate(1, "city", value, quote=said_so.text, statement=said_so)
        for value in ("Oslo", "Rome")
    ]
    assert [each.said_at is None for each in learned(wanted(*both))] == [False, True]


async def test_a_value_is_taken_back_and_another_said_in_one_message() -> None:
    log = memory_log()
    await log.session("s-1", user="u").append(said("city-=Rome\ncity=Oslo\ncity=Bonn"))
    await promote(log)
    assert [each.value for each in await log.memory(user="u").facts()] == ["Bonn"]


def test_many_facts_are_several_appends_with_ids_of_their_own() -> None:
    found = wanted(*(candidate(n + 1, "topic", n, cardinality="multiple") for n in range(450)))
    batches = batches_of(found, _nothing(found), PLAIN)
    assert [len(each.events) for each in batches] == [MAX_BATCH, MAX_BATCH, 50]
    assert len({each.append_id for each in batches}) == 3
    assert batches_of(found, _nothing(found), PLAIN) == batches
    by_another = batches_of(found, _nothing(found), Extractor(name="plain", version="2"))
    assert not {each.append_id for each in batches} & {each.append_id for each in by_another}


def test_large_facts_are_appends_that_the_log_takes() -> None:
    found = wanted(*(candidate(n, f"a-{n}", "x" * 14_000) for n in range(1, 31)))
    batches = batches_of(found, _nothing(found), PLAIN)
    sizes = [sum(len(event.encoded()) for event in each.events) for each in batches]
    assert sum(len(each.events) for each in batches) == 30
    assert len(sizes) == 2  # a fact has its value twice, in its quote too
    assert max(sizes) <= MAX_BATCH_BYTES


def test_a_summary_that_is_too_long_is_cut() -> None:
    made = promotion_of(reading(), Wanted(), {}, PLAIN, "x" * 5_000)
    assert made.completed.summary == "x" * 2_000


def test_who_counts_otherwise_tells_it_under_the_same_id() -> None:
    made = promotion_of(reading(), Wanted(), {}, PLAIN, "hello")
    other = made.completed.model_copy(update={"learned": 7})
    further = made.completed.model_copy(update={"through_version": 9})
    first, second, third = (
        completed_batch(STREAM, each).append_id for each in (made.completed, other, further)
    )
    assert first == second != third


def _nothing(found: Wanted) -> dict[StreamId, EntityReading]:
    return {stream: EntityReading() for stream in found.of_entity}


async def promote(log: MemoryLog, name: str = "s-1") -> Promotion:
    return await log.session(name).promote(extracting=PlainExtracting())


async def test_what_cannot_be_read_of_an_entity_is_not_taken_for_read() -> None:
    log = memory_log()
    for name in ("Rome", "Oslo"):
        await about(log, "u").append(fact(name, "city", name))
    first, second = [each async for each in about(log, "u").events()]
    unreadable = second._replace(raw_data=b"{}")
    known = EntityReading()
    known.add(first)
    for _ in range(2):
        with pytest.raises(aj.EventUnreadable):
            known.add(unreadable)
        assert (known.version, len(known.facts)) == (1, 1)  # so it is read again
    known.add(second)
    assert (known.version, len(known.facts)) == (2, 2)


class _DiedError(Exception):
    """The promoter is dead."""


@pytest.mark.parametrize("point", FAULT_POINTS)
async def test_who_dies_on_the_way_is_repeated_and_counts_the_same(point: str) -> None:
    async def promoted(cut: str | None) -> tuple[list[object], Counter[object]]:
        log = memory_log()
        await log.session("s-0", user="u").append(said("city=Rome\nfood=fish"))
        await promote(log, "s-0")
        await log.session("s-1", user="u").append(said("city=Oslo\nfood=fish\npet=cat"))

        def fault(reached: str) -> None:
            if reached == cut:
                raise _DiedError

        if cut is not None:
            promoter = Promoter(inside(log), PlainExtracting(), fault)
            with pytest.raises(_DiedError):
                await promoter.promote(log.session("s-1").stream)
        await promote(log)
        told = await completed_of(log.session("s-1"))
        return [*told], Counter(await said_of(log, "u"))

    told, facts = await promoted(point)
    assert (told, facts) == await promoted(None)
    [completed] = told
    assert isinstance(completed, aj.PromotionCompleted)
    assert (completed.learned, completed.confirmed, completed.superseded) == (2, 1, 1)
    assert facts == Counter(
        {("city", "Rome"): 1, ("food", "fish"): 2, ("city", "Oslo"): 1, ("pet", "cat"): 1}
    )


async def test_what_was_taken_back_before_it_died_counts_once_it_is_told() -> None:
    log = memory_log()
    await log.session("s-0", user="u").append(said("city=Rome"))
    await promote(log, "s-0")
    await log.session("s-1", user="u").append(said("city-=Rome"))

    def fault(reached: str) -> None:
        if reached == "learned":
            raise _DiedError

    with pytest.raises(_DiedError):
        await Promoter(inside(log), PlainExtracting(), fault).promote(log.session("s-1").stream)
    assert await said_of(log, "u") == [("city", "Rome")] * 2
    assert [each.fact.value for each in (await promote(log)).superseded] == ["Rome"]
    assert await said_of(log, "u") == [("city", "Rome")] * 2


async def test_beyond_what_the_log_knows_of_appends_nothing_is_learned_twice() -> None:
    log = memory_log()
    session = log.session("s-1", user="u")
    await session.append(said("city=Rome"))
    await promote(log)
    user = about(log, "u")
    for number in range(260):  # more than the append ids that a stream remembers
        await session.append(aj.NoteSet(key="n", value=number))
        await user.append(fact(f"f-{number}", "topic", number))
    assert (await promote(log)).repeated
    # Told anew, as whoever had not seen that would.
    await session.append(said("food=fish"))
    assert [each.fact.value for each in (await promote(log)).learned] == ["fish"]
    assert [each.through_version for each in await completed_of(session)] == [2, 264]
    assert (await said_of(log, "u")).count(("city", "Rome")) == 1


async def test_only_what_may_say_something_is_new() -> None:
    log = memory_log()
    session = log.session("s-1", user="u")
    await session.append(said("city=Rome"))
    assert (await promote(log)).through_version == 2
    quiet: list[Event] = [
        aj.NoteSet(key="a", value=1),
        aj.SessionEnded(),
        aj.MemoryRecalled(tokens=1),
    ]
    await session.append(quiet)
    assert (await promote(log)).repeated
    await session.append(aj.SessionUpdated(entities=[Entity(kind="project", id="p")]))
    assert (await promote(log)).through_version == 7


async def test_who_had_read_less_and_is_slower_makes_the_session_due_again() -> None:
    log = memory_log()
    session = log.session("s-1", user="u")
    await session.append(said("city=Rome"))
    await session.append(said("food=fish"))
    await promote(log)
    slow = aj.PromotionCompleted(
        through_version=2, extractor=PLAIN, learned=1, confirmed=0, superseded=0
    )
    await session.append(slow)
    again = await promote(log)
    assert (again.repeated, again.through_version, again.learned) == (False, 5, [])
    assert (await promote(log)).repeated


async def peak_of(chatter: Sequence[Event], times: int) -> int:
    """Return how many bytes promoting takes at most, with so much beside what is said."""
    log = memory_log()
    session = log.session("s-1", user="u")
    for _ in range(20):
        await session.append(aj.MessageAdded(role="assistant", content="x" * 20_000))
    for _ in range(times):
        await session.append(chatter)
    await session.append(said("city=Rome"))
    tracemalloc.start()
    try:
        made = await promote(log)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [each.fact.value for each in made.learned] == ["Rome"]
    return peak


async def test_ten_thousand_events_take_no_more_memory_than_a_thousand() -> None:
    notes = [aj.NoteSet(key="k", value="y" * 1_600)] * 100
    await peak_of(notes, 1)  # what is loaded once
    thousand, ten_thousand = await peak_of(notes, 10), await peak_of(notes, 100)
    assert ten_thousand < thousand + 500_000  # of 14 MB more that are read
    assert ten_thousand < 2_000_000  # 0.4 MB of them what was said


async def test_of_results_only_the_beginning_is_in_memory() -> None:
    log = memory_log()
    for number in range(100):
        call = aj.ToolCompleted(call_id=f"c-{number}", output="z" * 60_000, duration_ms=1)
        await log.session("s-1", user="u").append([begun(f"c-{number}"), call])
    tracemalloc.start()
    try:
        await promote(log)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000  # of 6 MB that are read


def begun(call_id: str) -> aj.ToolStarted:
    return aj.ToolStarted(
        call_id=call_id,
        tool="read",
        arguments_text="{}",
        arguments_digest="d",
        effect="read",
        idempotency_key=call_id,
        lease_s=60,
    )


async def test_twenty_promotions_of_one_user_at_once_are_each_complete() -> None:
    log = memory_log()
    promoter = Promoter(inside(log), PlainExtracting())
    names = [f"s-{number}" for number in range(20)]
    for name in names:
        await log.session(name, user="u").append(said(f"topic*={name}"))
    done = await asyncio.gather(*(promoter.promote(log.session(name).stream) for name in names))
    assert all(each.promotion.completed.learned == 1 for each in done)
    assert sorted(value for _, value in await said_of(log, "u")) == sorted(names)
    assert len((await known_of(log, "u")).facts) == 20
