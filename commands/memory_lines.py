"""What is known of an entity as lines for a terminal: a table would be wider than most are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentjournal.memory.explaining import FactSource
from agentjournal.memory.known import Fact
from commands.harmless import one_line
from commands.lines import Line, block, line
from commands.memory_text import ended_at, said_in, shown_id, shown_quote, shown_value
from commands.postgres_rows import Row
from commands.times import date_and_clock

_BETWEEN = " · "


def fact_lines(facts: Iterable[Fact]) -> Iterator[Line]:
    """Yield what each fact is, since when and where from, and the words that say so."""
    for fact in facts:
        style = "bold" if fact.ended_by is None else "dim"
        yield line((one_line(fact.attribute), style), ("  " + shown_value(fact), style))
        since = f"since {date_and_clock(fact.valid_from)[:-3]}"
        until = ended_at(fact)
        times = since if until is None else f"{since} until {date_and_clock(until)[:-3]}"
        said = said_in(fact)
        parts = [times, fact.ended_by or "", fact.kind, "" if said == "-" else f"said in {said}"]
        about = _BETWEEN.join(filter(None, (*parts, shown_id(fact))))
        yield line((one_line(about), "dim"), indent=2)
        yield line(f"“{shown_quote(fact)}”", indent=2)


def summary_lines(summaries: Iterable[Row]) -> Iterator[Line]:
    """Yield what sessions were about."""
    yield line(("── the last sessions ", "dim"), rule=True)
    for each in summaries:
        promoted = date_and_clock(each["recorded_at"])[:-3]
        yield line((one_line(each["session_id"]), "bold"), (f"  {promoted}", "dim"))
        yield line(one_line(each["summary"]), indent=2)


def source_lines(sources: Iterable[FactSource]) -> Iterator[Line]:
    """Yield each event that a fact comes from, and its text."""
    for each in sources:
        where = "" if each.session_id is None else f"{one_line(each.session_id)} "
        at = date_and_clock(each.recorded_at)
        head = _BETWEEN.join((f"{where}version {each.version}", at, one_line(each.role)))
        yield line((head, "bold"))
        yield from block(each.text, indent=2)
