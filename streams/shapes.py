"""Whether `data` has the shape its type asks for: a frozen table, compiled to plain functions.

Which events enter the log must not change with a release of a library, so no model decides it.
The kinds of a shape:

    any, boolean          any JSON; true or false
    text                  a string, or the codec's {"$text": …}
    id, time, amount, currency
                          a string that `agentjournal.events.fields` takes as such
    enum                  one of `values`
    integer, number       within `min` and `max`; an integer is written without a point
    array                 each item is `of`
    text_or_array         text, or an array
    object                without fields of its own: any object, or the codec's {"$dict": …}
    map                   an object whose values are all text
    object                with `required` and `optional` fields (null is as good as absent) and at
                          least one of `one_of`; other fields pass
    tagged                one of the objects `cases`, told apart by their field "type"
    ref                   the object `to` of the table's `shapes`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from agentjournal.errors import as_json_path
from streams import shape_checks as checks
from streams.shape_checks import Check

Fault: TypeAlias = tuple[str, str]  # path, reason
Checker: TypeAlias = Callable[[str, int, dict[str, Any]], Fault | None]
Shape: TypeAlias = Mapping[str, Any]


def read_table(rules: int) -> dict[str, Any]:
    """Return the table that was frozen as `rules`."""
    table: dict[str, Any] = orjson.loads(
        Path(__file__).with_name(f"rules_{rules}.json").read_bytes()
    )
    return table


def compile_shapes(table: Mapping[str, Any]) -> Checker:
    """Return the function that tells what is wrong with the parsed `data` of an event, if anything.

    It takes the type, the schema version and the parsed object, and returns (path, reason) of the
    first fault, or None.
    """
    rules, custom = table["rules"], re.compile(table["custom"])
    compiler = _Compiler(table["shapes"])
    known: dict[tuple[str, int], Check] = {
        (name, int(version)): compiler.check(of["data"])
        for name, versions in table["types"].items()
        for version, of in versions.items()
    }

    def checker(event_type: str, schema_version: int, parsed: dict[str, Any]) -> Fault | None:
        check = known.get((event_type, schema_version))
        if check is not None:
            found = check(parsed)
        elif event_type in table["types"]:
            return "", f"version {schema_version} of {event_type} is not in rules {rules}"
        elif custom.fullmatch(event_type) is not None:
            found = checks.any_object(parsed)
        else:
            return "", f"type {event_type} is not in rules {rules}"
        return None if found is None else (as_json_path(found[0]), found[1])

    return checker


class _Compiler:
    """Makes the check of a shape; that of a named one only once."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.shapes = shapes
        self.named: dict[str, Check] = {}

    def check(self, shape: Shape) -> Check:  # noqa: PLR0911 - one return a kind
        match shape["kind"]:
            case "ref":
                return self.name(shape["to"])
            case "enum":
                return checks.one_of_values(shape["values"])
            case "integer" | "number" as kind:
                return checks.number(kind, shape["min"], shape["max"])
            case "array":
                return checks.array(self.check(shape["of"]))
            case "text_or_array":
                return checks.text_or_array(self.check(shape["of"]))
            case "tagged":
                return checks.tagged(dict(map(self.case, shape["cases"])))
            case "object" if "required" in shape:
                return self.record(shape)
            case kind:
                return _PLAIN.get(kind) or checks.string(kind)

    def name(self, name: str) -> Check:
        if name not in self.named:
            self.named[name] = self.check(self.shapes[name])
        return self.named[name]

    def field(self, name: str, shape: Shape) -> checks.Field:
        fine = str if shape["kind"] == "text" else None
        return checks.Field(name, fine, tuple(shape.get("values", ())), self.check(shape))

    def case(self, name: str) -> tuple[str, Check]:
        shape = self.shapes[name]
        required = dict(shape["required"])
        [tag] = required["type"]["values"]
        required["type"] = {"kind": "text"}  # which one, led here
        return tag, self.record({**shape, "required": required})

    def record(self, shape: Shape) -> Check:
        required, optional = shape["required"], shape["optional"]
        return checks.record(
            [self.field(name, of) for name, of in required.items()],
            [(name, self.check(of)) for name, of in optional.items() if of["kind"] != "any"],
            [(name, optional[name]["kind"] == "any") for name in shape.get("one_of", ())],
        )


_PLAIN: Mapping[str, Check] = {
    "any": checks.any_value,
    "id": checks.identifier,
    "boolean": checks.boolean,
    "text": checks.text,
    "object": checks.any_object,
    "map": checks.texts_by_name,
}
