"""The rules table that the event models of this release ask for, in the language of `shapes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.codec import MAX_DEPTH
from agentjournal.events import BUILT_IN, allowed_on
from agentjournal.ids import STREAM_KINDS

Schema = Mapping[str, Any]
Shape = dict[str, Any]

LIMITS = {
    "partitions": 8,
    "append_window": 256,
    "max_events": 1_000,
    "max_request_bytes": 900_000,
    "max_records_bytes": 1_900_000,
    "max_depth": MAX_DEPTH,
}


def table_of_models(rules: int) -> dict[str, Any]:
    """Return the whole table of `rules`, the number under which it would be frozen."""
    shapes: dict[str, Shape] = {}
    types = {}
    for name, model in sorted(BUILT_IN.items()):
        schema = model.model_json_schema()
        for part, definition in schema.get("$defs", {}).items():
            shapes[part] = _object(definition)
        types[name] = {
            str(model.schema_version): {
                "streams": [kind for kind in STREAM_KINDS if allowed_on(name, kind)],
                "data": _object(schema),
            }
        }
    shapes = dict(sorted(shapes.items()))
    custom = r"custom\.[A-Za-z0-9_.-]{1,248}"
    return {"rules": rules, **LIMITS, "custom": custom, "shapes": shapes, "types": types}


def _object(schema: Schema) -> Shape:
    required: dict[str, Shape] = {}
    optional: dict[str, Shape] = {}
    for name, field in schema.get("properties", {}).items():
        # Only what may be None may be left out; other defaults are for constructors.
        fields = optional if field.get("default", ...) is None else required
        fields[name] = _shape(field)
    shape: Shape = {"kind": "object", "required": required, "optional": optional}
    if "anyOf" in schema:
        shape["one_of"] = [name for choice in schema["anyOf"] for name in choice["required"]]
    return shape


def _shape(schema: Schema) -> Shape:
    match schema:
        case {"$ref": str(to)}:
            return {"kind": "ref", "to": to.removeprefix("#/$defs/")}
        case {"anyOf": [one, {"type": "null"}]}:
            return _shape(one)
        case {"oneOf": [{"type": "string"}, {"type": "array"} as parts]}:
            return {"kind": "text_or_array", "of": _shape(parts["items"])}
        case {"oneOf": cases}:
            return {"kind": "tagged", "cases": [_shape(case)["to"] for case in cases]}
        case {"type": kind}:
            return _typed(kind, schema)
        case _:
            return {"kind": "any"}


def _typed(kind: str, schema: Schema) -> Shape:
    if "const" in schema or "enum" in schema:
        return {"kind": "enum", "values": schema.get("enum") or [schema["const"]]}
    match kind:
        case "array":
            return {"kind": "array", "of": _shape(schema["items"])}
        case "object":
            texts = schema["additionalProperties"] == {"type": "string"}
            return {"kind": "map" if texts else "object"}
        case "integer" | "number":
            return {"kind": kind, "min": schema["minimum"], "max": schema["maximum"]}
        case "string":
            return {"kind": schema.get("format", "text")}
        case _:
            return {"kind": kind}
