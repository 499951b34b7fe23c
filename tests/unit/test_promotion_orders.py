"""In whatever order sessions end, are promoted and are imported, the same facts come of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal.ids import StreamId, stream_id
from agentjournal.memory.promoter import Promoter
from agentjournal.requests import Request
from agentjournal.testing import memory_log
from agentjournal.testing.memory_log import MemoryLog
from tests.promoted import PlainExtracting
from tests.servers import inside
from tests.support import event, said

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Told(NamedTuple):
    """What a user says in a session: at an hour, or, imported, as many hours before all others."""

    name: str
    text: str
    hours: int
    is_imported: bool


@dataclass(frozen=True, slots=True)
class Course:
    """How it goes: who is promoted as soon as it was said, and what is done then, in order.

    A session that is imported is written when it first comes; `at_once` are promoted together.
    """

    soon: frozenset[str]
    then: Sequence[tuple[str, ...]]


_lines = st.sampled_from(
    ["city=Rome", "city=Oslo", "city=Bonn", "likes*=tea", "likes*=rice", "city-=Rome", "likes-=tea"]
)


@st.composite
def sessions(draw: st.DrawFn) -> list[Told]:
    texts = draw(st.lists(st.lists(_lines, min_size=1, max_size=2), min_size=2, max_size=5))
    return [
        Told(f"s-{number}", "\n".join(lines), number + 1, draw(st.booleans()))
        for number, lines in enumerate(texts)
    ]


@st.composite
def courses(draw: st.DrawFn, told: Sequence[Told]) -> Course:
    names = [each.name for each in told]
    again = draw(st.lists(st.sampled_from(names), max_size=3))
    order = draw(st.permutations([*names, *again]))
    cut = draw(st.integers(0, len(order)))
    live = [each.name for each in told if not each.is_imported]
    soon = draw(st.sets(st.sampled_from(live))) if live else set[str]()
    # Some one after the other, the rest all at once, and those that come twice with themselves.
    return Course(frozenset(soon), [*((each,) for each in order[:cut]), tuple(order[cut:])])


async def facts_after(told: Sequence[Told], course: Course) -> list[dict[str, Any]]:
    """Return all facts of the user."""
    log = memory_log(at=NOON)
    promoter = Promoter(inside(log), PlainExtracting())
    streams = {each.name: stream_id("session", log.settings.tenant, each.name) for each in told}
    for each in told:
        if not each.is_imported:
            say(log, streams[each.name], each)
            if each.name in course.soon:
                await promoter.promote(streams[each.name])
    log.clock.advance(1_000 * 3_600)
    imported = {each.name: each for each in told if each.is_imported}
    for names in course.then:
        for name in names:
            if name in imported:
                say(log, streams[name], imported.pop(name))
        others = Promoter(inside(log), PlainExtracting())  # another process, that knows nothing
        await asyncio.gather(
            *((promoter, others)[n % 2].promote(streams[name]) for n, name in enumerate(names))
        )
    return [
        {
            "ids": fact.fact_ids,
            "value": (fact.attribute, fact.value, fact.quote, fact.author_role),
            "said in": [(each.session_id, each.version) for each in fact.evidence],
            "valid": (fact.valid_from, fact.valid_to, fact.ended_by),
        }
        for fact in await log.memory(user="u").history()
    ]


def say(log: MemoryLog, stream: StreamId, told: Told) -> None:
    """Write a session at its hour, or as an importer does, with the time of its source."""
    source, at = "/acme/support", None
    if told.is_imported:
        source, at = "/acme/import", (NOON - timedelta(hours=told.hours)).isoformat()
    else:
        log.clock.advance_to(int((NOON + timedelta(hours=told.hours)).timestamp() * 1_000))
    begun = event("session.started", agent="a", user="u", labels={}, entities=[])
    events = [
        each._replace(id=f"{told.name} {number}", time=at)
        for number, each in enumerate((begun, said(told.text)))
    ]
    reached: Any = log
    reached._world.append(stream, Request("a", events, source).encoded())


@settings(max_examples=40)
@given(st.data())
def test_order_repeats_and_late_imports_change_no_fact(data: st.DataObject) -> None:
    told = data.draw(sessions())
    plain = Course(frozenset(), [(each.name,) for each in told])
    course = data.draw(courses(told))
    found = asyncio.run(facts_after(told, course))
    assert found == asyncio.run(facts_after(told, plain))


def test_what_is_imported_late_was_said_before_and_enters_closed() -> None:
    told = [Told("now", "city=Oslo", 1, False), Told("old", "city=Rome\nlikes*=tea", 9, True)]
    course = Course(frozenset({"now"}), [("now",), ("old", "old", "now")])
    found = asyncio.run(facts_after(told, course))
    assert [(each["value"][1], each["valid"][2]) for each in found] == [
        ("Rome", "superseded"),
        ("Oslo", None),
        ("tea", None),
    ]
    since = [each["valid"][0] for each in found]
    assert since[0] == since[2] == NOON - timedelta(hours=9)
