"""Write what is made from the event models: docs/events.md, and the table of unreleased rules."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from agentjournal.events import BUILT_IN
from agentjournal.events.catalogue import FAMILIES
from agentjournal.ids import STREAM_KINDS
from streams.shapes_of_models import table_of_models

NEWEST_RULES = 1
RELEASED_RULES = 0  # the table of a released number is frozen: logs were decided under it

ROOT = Path(__file__).resolve().parents[1]
EVENTS_PAGE = ROOT / "docs" / "events.md"
RULES_TABLE = ROOT / "streams" / f"rules_{NEWEST_RULES}.json"

_HEAD = """\
# The events

Made from the models in `agentjournal.events` by `python -m commands.catalogue`.

The `data` of an event is an object with the fields below, written as JSON (values that JSON cannot
hold are in the escape forms of `agentjournal.codec`). A field with `?` may be absent. A constructor
fills the other ones that have a default; in the log they are always there. Unknown fields are kept.

* `id`: text of 1 to 255 characters without control characters. Names, keys and digests are ids too.
* `time`: ISO 8601 with a zone, like `2026-01-31T12:00:00Z`; a claim of the writer, never order.
* `amount`, `currency`: a decimal number in a string and a code of three letters, like `"0.0125"`
  and `USD`.
* `integer` and `number` stay within 64 bit; a number is finite.
* `any`: any JSON-like value, exactly as it was given.
* Types named `custom.<name>` hold any object; you may give them
  [models and versions](past-states.md#events-of-your-own-types).
* Values over 64 KiB may be kept in the artifact store: then their head and tail stand in the field,
  and `$offloaded` beside the fields says [where the whole is](artifacts.md).
* Where secrets were [taken out](redaction.md), `$redacted` says where, of which kind, and how many.
"""


def main() -> None:
    """Write the page, and the rules table while its number is not released."""
    EVENTS_PAGE.parent.mkdir(exist_ok=True)
    EVENTS_PAGE.write_text(events_page(), encoding="utf-8")
    if NEWEST_RULES > RELEASED_RULES:
        RULES_TABLE.write_text(rules_table(), encoding="utf-8")


def rules_table() -> str:
    """Return the text of the table that the models ask for: a type or an inner object a line."""
    table = table_of_models(NEWEST_RULES)
    entries = [f"{_json(name)}: {_json(of)}" for name, of in table.items() if name not in _LONG]
    for name in _LONG:
        lines = ",\n".join(f"  {_json(key)}: {_json(of)}" for key, of in table[name].items())
        entries.append(f"{_json(name)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def events_page() -> str:
    """Return the text of docs/events.md."""
    return "\n".join((_HEAD, *_families(), "## Objects inside events\n", *_inner_objects()))


def _families() -> Iterator[str]:
    table = table_of_models(NEWEST_RULES)
    for family in FAMILIES:
        yield f"## {(family.__doc__ or '').strip().rstrip('.')}\n"
        for name, model in BUILT_IN.items():
            if model.__module__ == family.__name__:
                of = table["types"][name][str(model.schema_version)]
                yield f"### `{name}`\n\n{inspect.getdoc(model)}{_where(of['streams'])}\n"
                yield from _fields(of["data"], model.model_json_schema())


def _inner_objects() -> Iterator[str]:
    shapes = table_of_models(NEWEST_RULES)["shapes"]
    schemas: dict[str, Any] = {}
    for model in BUILT_IN.values():
        schemas.update(model.model_json_schema().get("$defs", {}))
    for name, shape in shapes.items():
        yield f"### {name}\n\n{schemas[name].get('description', '')}\n"
        yield from _fields(shape, schemas[name])


def _where(streams: list[str]) -> str:
    return "" if streams == list(STREAM_KINDS) else f" Only on {' and '.join(streams)} streams."


def _fields(shape: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    yield "| field | kind | meaning |\n| --- | --- | --- |"
    for name, field in schema["properties"].items():
        optional = name in shape["optional"]
        of = shape["optional" if optional else "required"][name]
        meaning = [field["description"]] if "description" in field else []
        if not optional and "default" in field and "const" not in field:
            meaning.append(f"default `{_json(field['default'])}`")
        yield f"| `{name}`{'?' if optional else ''} | {_kind(of)} | {'; '.join(meaning)} |"
    if "one_of" in shape:
        yield f"\nAt least one of {', '.join(f'`{name}`' for name in shape['one_of'])} is there."
    yield ""


def _kind(shape: Mapping[str, Any]) -> str:  # noqa: PLR0911 - one return a kind
    match shape["kind"]:
        case "ref":
            return f"[{shape['to']}](#{shape['to'].lower()})"
        case "enum":
            return ", ".join(f"`{value}`" for value in shape["values"])
        case "integer" | "number" as kind:
            return f"{kind}{_BOUNDS.get(shape['min'], '')}{' to 1' if shape['max'] == 1 else ''}"
        case "array":
            return f"list of {_kind(shape['of'])}"
        case "text_or_array":
            return f"text, or list of {_kind(shape['of'])}"
        case "tagged":
            return "parts: " + ", ".join(_kind({"kind": "ref", "to": to}) for to in shape["cases"])
        case "map":
            return "object of texts"
        case kind:
            return str(kind)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


_LONG = ("shapes", "types")
_BOUNDS = {0: " from 0", 1: " from 1"}

if __name__ == "__main__":
    main()
