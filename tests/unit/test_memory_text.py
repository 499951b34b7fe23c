"""What is known of an entity, as a table and as JSON: nothing of it is lost."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agentjournal.codec import decode
from agentjournal.events import Entity, Evidence
from agentjournal.ids import Version
from agentjournal.memory.explaining import FactSource
from agentjournal.memory.known import Fact
from commands.errors import CommandFailed
from commands.lines import plain
from commands.memory import named_facts
from commands.memory_lines import fact_lines, source_lines, summary_lines
from commands.memory_text import current_rows, fact_json, history_rows, memory_json, source_json
from commands.times import date_and_clock

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
EVIDENCE = Evidence(session_id="s-1", event_id="e-1", version=2)


def fact(fact_id: str = "ab12cd34ef", attribute: str = "city", value: Any = "Oslo") -> Fact:
    return Fact(
        entity=Entity(kind="user", id="u"),
        fact_id=fact_id,
        kind="profile",
        attribute=attribute,
        value=value,
        cardinality="single",
        quote="I live in Oslo.",
        author_role="user",
        confidence=1.0,
        valid_from=NOON,
        valid_to=None,
        ended_by=None,
        retracted_at=None,
        evidence=(EVIDENCE,),
        fact_ids=(fact_id,),
        extractor="rules 1",
        version=Version(1),
        recorded_at=NOON,
        confirmed_at=NOON,
    )


def test_a_row_has_the_first_session_that_said_it_and_how_often_it_was_said_again() -> None:
    thrice = replace(fact(), evidence=(EVIDENCE, EVIDENCE, EVIDENCE))
    remembered = replace(fact(), evidence=())
    assert [row[4] for row in current_rows([fact(), thrice, remembered])] == ["s-1", "s-1 +2", "-"]


def test_history_says_when_and_why_a_fact_ended() -> None:
    later = datetime(2026, 2, 1, 12, tzinfo=UTC)
    facts = [
        fact(),
        replace(fact(), valid_to=later, ended_by="superseded"),
        replace(fact(), retracted_at=later, ended_by="retracted"),
    ]
    assert [row[4] for row in history_rows(facts)] == ["-", "superseded", "retracted"]
    assert [row[3][:7] for row in history_rows(facts)] == ["-", "2026-02", "2026-02"]


def test_a_terminal_has_lines_that_say_the_same() -> None:
    later = datetime(2026, 2, 1, 12, tzinfo=UTC)
    old = replace(fact(), valid_to=later, ended_by="superseded", quote="Oslo\x1b[2J, \n it is.")
    hostile = replace(fact(attribute="a\x07b", value="x" * 500), evidence=())
    lines = [plain(each) for each in fact_lines([old, hostile])]
    since, until = date_and_clock(NOON)[:-3], date_and_clock(later)[:-3]
    assert lines[:3] == [
        "city  Oslo",
        f"  since {since} until {until} · superseded · profile · said in s-1 · ab12cd34",
        "  “Oslo\\x1b[2J, it is.”",
    ]
    assert lines[3] == f"a\\x07b  {'x' * 79}…"
    assert lines[4] == f"  since {since} · profile · ab12cd34"
    source = FactSource("s-1", Version(2), "e-1", NOON, "user", "a\nb")
    assert [plain(each) for each in source_lines([source])] == [
        f"s-1 version 2 · {date_and_clock(NOON)} · user",
        "  a",
        "  b",
    ]
    summaries = [{"session_id": "s-1", "recorded_at": NOON, "summary": "Asked: a\nDone: b"}]
    assert [plain(each) for each in summary_lines(summaries)][1:] == [
        f"s-1  {since}",
        "  Asked: a Done: b",
    ]


@pytest.mark.parametrize(
    "value",
    [None, "Oslo", 2**70, float("inf"), b"\0", {"a": [1, "\ud800"]}, [[[[1]]]], {"$int": "1"}],
)
def test_json_holds_the_exact_value(value: Any) -> None:
    known = memory_json("user", "u", [fact(value=value)], [])
    [held] = decode(known)["facts"]
    assert held["value"] == value
    assert decode(fact_json(fact(value=value)))["value"] == value


def test_a_value_that_is_nested_deep_leaves_what_is_around_it_as_it_is() -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    read = json.loads(fact_json(fact(value=deep)))
    assert read["attribute"] == "city"
    assert decode(json.dumps(read["value"]).encode()) == deep


def test_a_source_is_json_with_its_whole_text() -> None:
    source = FactSource("s-1", Version(2), "e-1", NOON, "user", "a\ud800\n" * 500)
    read = decode(source_json(source))
    assert (read["text"], read["recorded_at"]) == (source.text, "2026-01-31T12:00:00+00:00")


def test_a_fact_is_named_by_its_attribute_or_by_the_start_of_any_of_its_ids() -> None:
    city = replace(fact(), fact_ids=("ab12", "ff00"))
    two = [fact("ab99", "pet", "cat"), fact("cd00", "pet", "dog")]
    known = [city, *two]
    assert named_facts("user u", known, "pet") == two
    assert named_facts("user u", known, "ab12") == [city]
    assert named_facts("user u", known, "ff") == [city]
    with pytest.raises(CommandFailed, match="2 facts of user u have ids that start so: ab"):
        named_facts("user u", known, "ab")
    for wrong in ("", "cit", "0"):
        with pytest.raises(CommandFailed, match="known is city, pet"):
            named_facts("user u", known, wrong)
