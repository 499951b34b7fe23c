"""docs/logs.md names every event that roles log, with its level and its fields, and no other."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "logs.md").read_text(encoding="utf-8")
LEVELS = {"exception": "error"}  # otherwise as the method is called
BY_ITSELF = {"library"}  # made of what libraries log


def calls() -> Iterator[tuple[str, str, set[str]]]:
    """Yield (event, level, fields) of every line that the code of roles writes."""
    for folder in ("consumers", "streams", "projections"):
        for path in sorted((ROOT / folder).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.Call(
                        func=ast.Attribute(value=ast.Name(id="_LOG"), attr=method),
                        args=[ast.Constant(value=str(event))],
                        keywords=given,
                    ):
                        fields = {keyword.arg or "…" for keyword in given}
                        yield event, LEVELS.get(method, method), fields
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="_LOG"))):
                        raise AssertionError(f"{path.name}:{node.lineno}: its event is no constant")
                    case _:
                        pass


def listed(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def words(cell: str) -> set[str]:
    return {word.strip("` ") for word in cell.split(",")} - {""}


def test_every_event_is_listed_with_its_level_and_its_fields() -> None:
    found: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for event, level, fields in calls():
        found[event][0].add(level)
        found[event][1].update(fields)
    told = {words(row[0]).pop(): (words(row[1]), words(row[2])) for row in listed("Events")}
    assert {name: of for name, of in told.items() if name not in BY_ITSELF} == dict(found)


def test_events_and_fields_are_in_order() -> None:
    names = [row[0] for row in listed("Events")]
    assert names == sorted(names)
    assert len(set(names)) == len(names)


def test_an_event_is_named_in_small_letters_and_an_error_by_kind_and_reason() -> None:
    for event, _, fields in calls():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", event)
        assert not fields & {"error", "exception", "cause", "message", "payload"}, event
