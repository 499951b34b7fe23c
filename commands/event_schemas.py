"""JSON Schemas of what events hold as it stands in the log, made from their models.

A reader in another language has no codec of ours: what a value may be written as besides, like
text with half of a surrogate pair, is part of the schema. A schema takes what the log takes, but
for what JSON Schema has no word for, where it takes more: 1.0 is an integer to it, and it does not
follow the links of a `$deep` form or look for a key that stands twice in a `$dict` form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from agentjournal.events import BUILT_IN, Event
from commands.schema_kinds import KINDS, Schema, kind_schema
from streams.shapes_of_models import table_of_models

Shape: TypeAlias = Mapping[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_DEFINITION = "#/$defs/"


def event_schema(model: type[Event]) -> Schema:
    """Return the schema of the `data` of a type, at the schema version of its model."""
    shape = _table()["types"][model.type][str(model.schema_version)]["data"]
    described = _described()[model.type]
    body = _record(shape, described)
    return {
        "$schema": DIALECT,
        "$id": f"urn:agentjournal:event:{model.type}:{model.schema_version}",
        "title": f"{model.type}, version {model.schema_version}",
        "description": described["description"],
        **body,
        **_definitions(body),
    }


def summary_of(model: type[Event]) -> str:
    """Return what a type says, in a line."""
    return (model.__doc__ or "").partition("\n")[0]


@cache
def _table() -> Mapping[str, Any]:
    return table_of_models(0)  # shapes alone are taken from it, whatever its number


@cache
def _inner_objects() -> Mapping[str, Schema]:
    found: dict[str, Schema] = {}
    for schema in _described().values():
        for name, described in schema.get("$defs", {}).items():
            about = {"title": name, "description": described["description"]}
            found[name] = {**about, **_record(_table()["shapes"][name], described)}
    return found


@cache
def _described() -> Mapping[str, Schema]:
    """Return what pydantic says of every type: the order of fields, and what they mean."""
    return {name: model.model_json_schema() for name, model in BUILT_IN.items()}


def _record(shape: Shape, described: Schema) -> Schema:
    """Return the schema of an object with fields; what it does not name may be there too."""
    required, optional = shape["required"], shape["optional"]
    properties: dict[str, Schema] = {}
    for name, field in described["properties"].items():
        of = _of(required[name]) if name in required else _or_null(_of(optional[name]))
        meaning = {"description": field["description"]} if "description" in field else {}
        properties[name] = {**of, **meaning}
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    else:  # nothing else would keep an escape form from being taken for it
        schema["not"] = _ref("EscapeForm")
    if "one_of" in shape:
        schema["anyOf"] = [_there(name, optional[name]["kind"]) for name in shape["one_of"]]
    return schema


def _of(shape: Shape) -> Schema:
    match shape["kind"]:
        case "ref":
            return _ref(shape["to"])
        case "array":
            return {"type": "array", "items": _of(shape["of"])}
        case "text_or_array":
            return {"anyOf": [_ref("Text"), {"type": "array", "items": _of(shape["of"])}]}
        case "tagged":
            return {"oneOf": [_ref(name) for name in shape["cases"]]}
        case _:
            return kind_schema(shape)


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def _there(name: str, kind: str) -> Schema:
    there: Schema = {"required": [name]}
    return there if kind == "any" else {**there, "properties": {name: {"not": {"type": "null"}}}}


def _ref(name: str) -> Schema:
    return {"$ref": _DEFINITION + name}


def _definitions(schema: Schema) -> Schema:
    """Return `$defs` with all that a schema refers to, and what that refers to."""
    known = {**KINDS, **_inner_objects()}
    found: dict[str, Schema] = {}
    due = list(_references(schema))
    while due:
        name = due.pop()
        if name not in found:
            found[name] = known[name]
            due += _references(known[name])
    return {"$defs": dict(sorted(found.items()))} if found else {}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(to := value.get("$ref"), str):
            yield to.removeprefix(_DEFINITION)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
