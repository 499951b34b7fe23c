"""Released schemas gain optional fields and words, and change in no other way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from commands.errors import CommandFailed
from commands.schema_changes import incompatible_changes
from commands.schemas import (
    SCHEMAS,
    broken_releases,
    every_schema,
    schema_text,
    write_schemas,
)

Schema = dict[str, Any]
Change = Callable[[Schema], None]

OLD: Schema = {
    "title": "plan.noted, version 1",
    "type": "object",
    "properties": {
        "kind": {"enum": ["a", "b"]},
        "size": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 9}, {"type": "null"}]},
        "id": {"$ref": "#/$defs/Id"},
        "steps": {"type": "array", "items": {"$ref": "#/$defs/Step"}},
        "one": {"const": 1},
    },
    "required": ["kind", "id"],
    "$defs": {
        "Id": {"type": "string", "not": {"pattern": "\\n"}},
        "Step": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
    },
}


def changed(change: Change) -> Schema:
    new = deepcopy(OLD)
    change(new)
    return new


def test_the_released_schemas_are_kept() -> None:
    assert broken_releases(SCHEMAS, every_schema()) == []


def describe(new: Schema) -> None:
    new["title"] = "something else"
    new["properties"]["kind"]["description"] = "what it is"
    new["$defs"]["Step"]["description"] = "a step"


def add_optional_fields(new: Schema) -> None:
    new["properties"]["later"] = {"anyOf": [{"$ref": "#/$defs/Later"}, {"type": "null"}]}
    new["$defs"]["Step"]["properties"]["y"] = {"type": "string"}
    new["$defs"]["Later"] = {"type": "object"}


def turn_required_around(new: Schema) -> None:
    new["required"].reverse()


@pytest.mark.parametrize("change", [describe, add_optional_fields, turn_required_around])
def test_what_a_released_schema_may_gain(change: Change) -> None:
    assert incompatible_changes(OLD, changed(change)) == []


def put(value: Any, *path: Any) -> Change:
    """Return the change that sets what is at a path, or removes it where `value` is `...`."""

    def change(new: Any) -> None:
        for at in path[:-1]:
            new = new[at]
        if value is ...:
            del new[path[-1]]
        else:
            new[path[-1]] = value

    return change


SIZE = ("properties", "size", "anyOf")
STEP = ("$defs", "Step")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (put(..., "properties", "size"), "/properties/size: is gone"),
        (put(["kind", "id", "size"], "required"), "/required: asks for size"),
        (put(["kind"], "required"), "/required: no longer has id"),
        (
            put(["a"], "properties", "kind", "enum"),
            "/properties/kind/enum: was ['a', 'b'], is ['a']",
        ),
        (
            put(["a", "b", "c"], "properties", "kind", "enum"),
            "/properties/kind/enum: was ['a', 'b'], is ['a', 'b', 'c']",
        ),
        (put(..., *SIZE, 1), "/properties/size/anyOf: was 2 choices, is 1"),
        (
            put([], *SIZE),
            (
                "/properties/size/anyOf: was [{'type': 'integer', 'minimum': 0, 'maximum': 9},"
                " {'type': 'null'}], is []"
            ),
        ),
        (put(1, *SIZE, 0, "minimum"), "/properties/size/anyOf/0/minimum: was 0, is 1"),
        (
            put("number", *SIZE, 0, "type"),
            "/properties/size/anyOf/0/type: was 'integer', is 'number'",
        ),
        (put(True, "properties", "one", "const"), "/properties/one/const: was 1, is True"),
        (
            put("#/$defs/Name", "properties", "id", "$ref"),
            "/properties/id/$ref: was '#/$defs/Id', is '#/$defs/Name'",
        ),
        (put("a", "$defs", "Id", "not", "pattern"), "/$defs/Id/not/pattern: was '\\\\n', is 'a'"),
        (put([], *STEP, "required"), "/$defs/Step/required: no longer has x"),
        (put({}, *STEP, "properties"), "/$defs/Step/properties/x: is gone"),
        (
            put(False, *STEP, "additionalProperties"),
            "/$defs/Step/additionalProperties: was absent, is False",
        ),
    ],
)
def test_what_may_not_change_is_named_with_its_place(change: Change, place: str) -> None:
    assert incompatible_changes(OLD, changed(change)) == [place]


def places(schema: Any) -> Iterator[tuple[Schema, str]]:
    """Yield every object with fields inside a schema, with the name of a field of it."""
    if isinstance(schema, dict):
        for name in schema.get("properties", ()):
            yield schema, name
        for item in schema.values():
            yield from places(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from places(item)


@pytest.mark.parametrize("path", ["message.added", "plan.created", "model.called"])
def test_no_field_of_a_real_schema_can_go_or_change(path: str) -> None:
    schema = every_schema()[f"events/{path}/1.json"]
    count = len(list(places(schema)))
    assert count > 10
    for at in range(count):
        gone, other = deepcopy(schema), deepcopy(schema)
        holder, name = list(places(gone))[at]
        del holder["properties"][name]
        assert incompatible_changes(schema, gone), name
        holder, name = list(places(other))[at]
        holder["properties"][name]["type"] = "boolean"
        assert incompatible_changes(schema, other), name


def test_the_command_writes_nothing_when_a_released_schema_would_change(tmp_path: Path) -> None:
    count = write_schemas(tmp_path)
    files = sorted(file for file in tmp_path.rglob("*") if file.is_file())
    assert len(files) == count == len(every_schema()) + 1
    written = tmp_path / "events" / "note.set" / "1.json"
    released = orjson.loads(written.read_bytes())
    released["properties"]["colour"] = {"type": "string"}
    written.write_text(schema_text(released), encoding="utf-8")
    (tmp_path / "alert.json").unlink()
    with pytest.raises(CommandFailed) as failed:
        write_schemas(tmp_path)
    assert "\nevents/note.set/1.json/properties/colour: is gone" in str(failed.value)
    assert not (tmp_path / "alert.json").exists()


def test_a_type_that_is_gone_or_a_version_that_is_not_older_is_told(tmp_path: Path) -> None:
    made = every_schema()
    for path in ("events/note.gone/1.json", "events/note.set/2.json"):
        file = tmp_path / path
        file.parent.mkdir(parents=True)
        file.write_text("{}", encoding="utf-8")
    assert broken_releases(tmp_path, made) == [
        "events/note.gone/1.json: is gone",
        "events/note.set/2.json: is gone",
    ]
