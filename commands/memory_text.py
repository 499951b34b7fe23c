"""What is known of an entity as rows of a table, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import BaseModel

from agentjournal.codec import encode
from agentjournal.memory.explaining import FactSource
from agentjournal.memory.known import Fact
from commands.harmless import one_line
from commands.postgres_rows import Row
from commands.printing import Column
from commands.times import date_and_clock

_SHOWN_ID = 8  # characters of a fact's id, which is a digest
_MOST_VALUE = 80
_MOST_QUOTE = 160
_MOST_SUMMARY = 120
_MOST_SAID = 400

CURRENT = (
    Column("attribute"),
    Column("value"),
    Column("since", short=True),
    Column("kind", short=True),
    Column("session"),
    Column("quote"),
    Column("fact", short=True),
)
HISTORY = (
    *CURRENT[:3],
    Column("until", short=True),
    Column("ended", short=True),
    *CURRENT[3:],
)
SUMMARIES = (Column("session"), Column("promoted", short=True), Column("summary"))
SOURCES = (
    Column("session"),
    Column("version", "right", short=True),
    Column("time", short=True),
    Column("said by", short=True),
    Column("text"),
)


def current_rows(facts: Iterable[Fact]) -> Iterator[list[str]]:
    """Yield a row of `CURRENT` for each fact."""
    for fact in facts:
        yield [
            fact.attribute,
            shown_value(fact),
            date_and_clock(fact.valid_from)[:-3],
            fact.kind,
            said_in(fact),
            shown_quote(fact),
            shown_id(fact),
        ]


def history_rows(facts: Iterable[Fact]) -> Iterator[list[str]]:
    """Yield a row of `HISTORY` for each fact."""
    facts = list(facts)
    for fact, row in zip(facts, current_rows(facts), strict=True):
        end = ended_at(fact)
        until = "-" if end is None else date_and_clock(end)[:-3]
        yield [*row[:3], until, fact.ended_by or "-", *row[3:]]


def summary_rows(summaries: Iterable[Row]) -> Iterator[list[str]]:
    """Yield a row of `SUMMARIES` for each session."""
    for each in summaries:
        promoted = date_and_clock(each["recorded_at"])[:-3]
        yield [each["session_id"], promoted, one_line(each["summary"], _MOST_SUMMARY)]


def source_rows(sources: Iterable[FactSource]) -> Iterator[list[str]]:
    """Yield a row of `SOURCES` for each event."""
    for each in sources:
        yield [
            each.session_id or "-",
            str(each.version),
            date_and_clock(each.recorded_at),
            each.role,
            one_line(each.text, _MOST_SAID),
        ]


def memory_json(kind: str, name: str, facts: Iterable[Fact], summaries: Sequence[Row]) -> bytes:
    """Return all that is shown of an entity, as one JSON object."""
    shown = {
        "entity": {"kind": kind, "id": name},
        "facts": [_object(each) for each in facts],
        "sessions": [{name: _plain(value) for name, value in row.items()} for row in summaries],
    }
    return orjson.dumps(shown)


def fact_json(fact: Fact) -> bytes:
    """Return a fact with its exact value."""
    return orjson.dumps(_object(fact))


def source_json(source: FactSource) -> bytes:
    """Return an event that a fact comes from, with its whole text."""
    return orjson.dumps(_object(source))


def _object(of: Fact | FactSource) -> Mapping[str, Any]:
    return {each.name: _plain(getattr(of, each.name)) for each in fields(of)}


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case tuple():
            return [_plain(each) for each in value]
        case BaseModel():
            return value.model_dump()
        case _:
            # By itself, so that a value that is nested deep leaves what is around it as it is.
            return orjson.Fragment(encode(value))


def said_in(fact: Fact) -> str:
    """Return the session that said it first, and how often it was said again; `-`: in none."""
    if not fact.evidence:
        return "-"
    again = len(fact.evidence) - 1
    return fact.evidence[0].session_id + (f" +{again}" if again else "")


def ended_at(fact: Fact) -> datetime | None:
    """Return when it ended, or was taken back; None when it has no end."""
    return fact.retracted_at if fact.ended_by == "retracted" else fact.valid_to


def shown_value(fact: Fact) -> str:
    """Return the value in one line, cut when it is long."""
    value = fact.value
    return one_line(value if isinstance(value, str) else encode(value).decode(), _MOST_VALUE)


def shown_quote(fact: Fact) -> str:
    """Return the words that say so in one line, cut when they are long."""
    return one_line(fact.quote, _MOST_QUOTE)


def shown_id(fact: Fact) -> str:
    """Return the start of its id."""
    return fact.fact_id[:_SHOWN_ID]
