"""JSON Schemas of the kinds of fields: text, ids, times, money, and the escape forms of the codec.

Patterns keep to what every regular expression engine has, and none relies on `$`, which takes a
newline for the end in some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

CONTROL = "[\\x00-\\x1f\\x7f-\\x9f]"
_NO_NEWLINE: Schema = {"not": {"pattern": "\\n"}}

# Days that months have, then the 29th of February of leap years.
_DATE = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,9})?)?"
_ZONE = "(?:Z|[+-](?:0[0-9]|1[0-5]):[0-5][0-9])"
_OUT_OF_RANGE = "^0000|^(?:0001|9999).*[+-][0-9]{2}:[0-9]{2}$|\\n"
_BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _form(key: str, value: Schema) -> Schema:
    return {"type": "object", "properties": {key: value}, "required": [key], "maxProperties": 1}


def line(pattern: str) -> Schema:
    """Return the schema of text without a newline that matches `pattern`."""
    return {"type": "string", "pattern": pattern, **_NO_NEWLINE}


_PAIR: Schema = {
    "type": "array",
    "prefixItems": [_ref("Text"), _ref("Text")],
    "minItems": 2,
    "maxItems": 2,
}

KINDS: Mapping[str, Schema] = {
    "Text": {
        "description": "Text: a string, or the form of one that JSON cannot hold.",
        "anyOf": [{"type": "string"}, _ref("TextForm")],
    },
    "Id": {
        "description": "1 to 255 characters, none of them a control character.",
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "not": {"pattern": CONTROL},
    },
    "Time": {
        "description": "ISO 8601 with a zone, like 2026-01-31T12:00:00Z; a claim of the writer.",
        "type": "string",
        "pattern": f"^{_DATE}[T ]{_CLOCK}{_ZONE}$",
        "not": {"pattern": _OUT_OF_RANGE},
    },
    "Amount": {
        "description": 'A decimal number in a string, like "0.0125": never a float.',
        **line("^-?(?:0|[1-9][0-9]{0,29})(?:\\.[0-9]{1,30})?$"),
    },
    "Currency": {
        "description": "A code of three letters, like USD.",
        **line("^[A-Z]{3}$"),
    },
    "Object": {
        "description": "Any object, or the form of one that JSON cannot hold.",
        "type": "object",
        "not": _ref("ScalarForm"),
    },
    "Texts": {
        "description": "An object whose values are all text, or the form of one.",
        "type": "object",
        "not": _ref("ScalarForm"),
        "anyOf": [
            {"additionalProperties": _ref("Text")},
            _form("$dict", {"type": "array", "items": _PAIR}),
            _form("$deep", {"type": "array", "minItems": 1}),
        ],
    },
    "TextForm": {
        "description": "Text with lone halves of surrogate pairs: its pieces, those as numbers.",
        **_form(
            "$text",
            {
                "type": "array",
                "items": {
                    "anyOf": [
                        {"type": "string"},
                        {"type": "integer", "minimum": 0xD800, "maximum": 0xDFFF},
                    ]
                },
            },
        ),
    },
    "ScalarForm": {
        "description": "What stands for an integer, a float, bytes or text that JSON cannot hold.",
        "anyOf": [
            _form("$int", line("^-?(?:0|[1-9][0-9]{0,3999}|0x[0-9a-f]+)$")),
            _form("$float", {"enum": ["nan", "inf", "-inf"]}),
            _form("$bytes", line(_BASE64)),
            _ref("TextForm"),
        ],
    },
    "EscapeForm": {
        "description": "An object with one key that starts with $: not one with fields.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": {"pattern": "^\\$"},
    },
}

_NAMED = {
    "text": "Text",
    "id": "Id",
    "time": "Time",
    "amount": "Amount",
    "currency": "Currency",
    "object": "Object",
    "map": "Texts",
}


def kind_schema(shape: Mapping[str, Any]) -> Schema:
    """Return the schema of a kind that holds no other one: see `streams.shapes`."""
    match shape["kind"]:
        case "any":
            return {}
        case "boolean":
            return {"type": "boolean"}
        case "enum":
            [only, *others] = values = shape["values"]
            return {"enum": list(values)} if others else {"const": only}
        case "integer" | "number" as kind:
            return {"type": kind, "minimum": shape["min"], "maximum": shape["max"]}
        case kind:
            return _ref(_NAMED[kind])
