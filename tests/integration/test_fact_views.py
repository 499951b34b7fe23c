"""The views of facts, on a real database: they say what the rules in Python say, in any order."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal.envelope import Recorded
from agentjournal.ids import Position, StreamId
from agentjournal.memory.facts import Held, Said, current_facts, facts_at, facts_of
from agentjournal.testing.facts import said_of
from in_memory.rows import Rows
from local.stack import Stack
from projections.facts import FACTS_PROJECTION
from projections.rows import Row
from tests.database import Database, database_of
from tests.support import Stream, request, typed
from tests.unit.facts_strategies import Written, histories, moments

pytestmark = pytest.mark.stack

_BY_ARRIVAL = {"version", "recorded_at", "confirmed_at"}  # when it came is all that may differ
_OF_ENDED = {"ended_by", "retracted_at"}


@pytest.fixture(scope="module")
def database(stack: Stack) -> Generator[Database]:
    with database_of(stack) as opened:
        yield opened


def logged(written: Sequence[Written]) -> list[Recorded]:
    """Return the events as they stand in their partition, a second apart."""
    streams: dict[StreamId, Stream] = {}
    found: list[Recorded] = []
    for place, (stream, event) in enumerate(written):
        writer = streams.setdefault(stream, Stream(stream))
        writer.position = place
        before = len(writer.records)
        writer.accept(request(typed(event)))
        found += writer.recorded[before:]
    return [each._replace(position=Position(place)) for place, each in enumerate(found)]


def said_in(log: Sequence[Recorded]) -> Said:
    rows = Rows(FACTS_PROJECTION)
    tables = ("facts", "fact_retractions", "promotions")
    facts, retractions, promotions = ([*rows.current(table, log)] for table in tables)
    return said_of(facts, retractions, promotions)


def plain(facts: Sequence[Held]) -> list[Row]:
    """Return facts as rows of the view, as far as they follow from the rules."""
    return ordered(
        {
            "fact_id": fact.said[0].fact_id,
            "version": fact.said[0].version,
            "valid_from": fact.valid_from,
            "valid_to": fact.valid_to,
            "ended_by": fact.ended_by,
            "retracted_at": fact.retracted_at,
            "fact_ids": [each.fact_id for each in fact.said],
            "recorded_at": min(each.recorded_at for each in fact.said),
            "confirmed_at": max(each.recorded_at for each in fact.said),
        }
        for fact in facts
    )


def ordered(rows: Any) -> list[Row]:
    return sorted(rows, key=lambda row: (row["fact_id"], row["valid_from"]))


def shown(rows: Sequence[Row], facts: Sequence[Row]) -> list[Row]:
    """Return rows of a view in the columns of `facts`."""
    names = facts[0].keys() if facts else ["fact_id", "valid_from"]
    return ordered({name: row[name] for name in names} for row in rows)


async def asked(database: Database, log: Sequence[Recorded], statements: Sequence[str]) -> Any:
    await database.store(FACTS_PROJECTION, log)
    return [await database.shown(statement) for statement in statements]


@settings(max_examples=60)
@given(histories(), moments, st.integers(0, 12))
def test_views_and_rules_say_the_same(
    database: Database, written: list[Written], as_of: datetime, known: int
) -> None:
    log = logged(written)
    said = said_in(log)
    known_at = log[min(known, len(log) - 1)].recorded_at if log else as_of.isoformat()
    moment = datetime.fromisoformat(known_at)
    history, current, then, known_then = database.run(
        asked(
            database,
            log,
            [
                "SELECT * FROM agentjournal.facts",
                "SELECT * FROM agentjournal.current_facts",
                f"SELECT * FROM agentjournal.facts_at('{as_of.isoformat()}', '{known_at}')",
                f"SELECT * FROM agentjournal.facts_known_at('{known_at}')",
            ],
        )
    )
    expected = plain(facts_of(said))
    assert shown(history, expected) == expected
    now = plain(current_facts(said, datetime.now().astimezone()))
    columns = [
        {n: v for n, v in row.items() if n not in {"ended_by", "retracted_at"}} for row in now
    ]
    assert shown(current, columns) == columns
    expected = plain(facts_of(said.known(moment)))
    assert shown(known_then, expected) == expected
    expected = plain(facts_at(said.known(moment), as_of))
    assert shown(then, expected) == expected


@settings(max_examples=40)
@given(histories(), st.data())
def test_the_order_in_which_sessions_are_promoted_never_matters(
    database: Database, written: list[Written], data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(written), max_size=3)) if written else []
    shuffled = data.draw(st.permutations([*written, *again]))
    views = [f"SELECT * FROM agentjournal.{name}" for name in ("facts", "current_facts")]
    one, other = (
        database.run(asked(database, logged(order), views)) for order in (written, shuffled)
    )
    for rows, rows_of_other in zip(one, other, strict=True):
        assert _without_arrival(rows) == _without_arrival(rows_of_other)


def _without_arrival(rows: Sequence[Row]) -> list[Row]:
    return ordered({n: v for n, v in row.items() if n not in _BY_ARRIVAL} for row in rows)
