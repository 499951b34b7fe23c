"""The models once more, for reading what is plainly written as the log has it.

A plain validator is the schema of a model without what costs most, rules in Python. It takes less
than the model does (nothing that a constructor would fill), and makes of what it takes the same
event. What it does not take is for the model itself to decide on, and to name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from pydantic_core import SchemaValidator, core_schema

from agentjournal.events.base import Event
from agentjournal.events.fields import checked_id, number_bounds
from agentjournal.events.parts import output_tag, part_tag

_MOST_EXACT = 2**53  # a float up to here is compared with a bound as it is

Schema = Mapping[str, Any]

_ANYTHING = core_schema.any_schema()
_NOTHING = core_schema.int_schema(ge=1, le=0, strict=True)  # no value is one
# As `is_id` has it: halves of surrogate pairs never get here.
_ID = core_schema.str_schema(
    min_length=1, max_length=255, pattern="^[^\x00-\x1f\x7f-\x9f]*$", strict=True
)


@cache
def plain_validator(model: type[Event]) -> SchemaValidator:
    """Return what makes events of a list of objects, as JSON or decoded, as they are in the log.

    It raises ValidationError for some that the model would take. JSON with escape forms of the
    codec must be decoded first: see `may_hold_forms`. Only for models of this package: those of
    users have rules of their own.
    """
    whole: Any = model.__pydantic_core_schema__
    plain: Any = _plain(whole)
    return SchemaValidator(core_schema.list_schema(plain))


def _plain(schema: Schema) -> Schema:
    if schema["type"] in _LEAVES:
        return schema
    return _SIMPLER[schema["type"]](schema)


def _with_plain_inside(schema: Schema) -> Schema:
    return {**schema, **{name: _plain(schema[name]) for name in _INSIDE if name in schema}}


def _definitions(schema: Schema) -> Schema:
    definitions = [_plain(each) for each in schema["definitions"]]
    return {**schema, "definitions": definitions, "schema": _plain(schema["schema"])}


def _after(schema: Schema) -> Schema:
    rule = schema["function"]["function"]
    if rule is checked_id:
        return _ID
    if rule.__name__ == _ABOUT_UNKNOWN_FIELDS and not schema["schema"]["cls"].one_of:
        return _unwrapped(schema)  # and there are none
    return _with_plain_inside(schema)


def _unwrapped(schema: Schema) -> Schema:
    inner = _plain(schema["schema"])
    return {**inner, "ref": schema["ref"]} if "ref" in schema else inner


def _default(schema: Schema) -> Schema:
    """What has a default other than null must be there in the log: see `wire.missing`."""
    if "default" in schema and schema["default"] is None:
        return _with_plain_inside(schema)
    return _plain(schema["schema"])


def _number(schema: Schema) -> Schema:
    bounds = number_bounds(schema["function"]["function"])
    if bounds is None:
        return schema
    smallest, largest = bounds
    return core_schema.union_schema(
        [
            core_schema.int_schema(ge=smallest, le=largest, strict=True),
            core_schema.float_schema(
                ge=max(smallest, -_MOST_EXACT),
                le=min(largest, _MOST_EXACT),
                allow_inf_nan=False,
                strict=True,
            ),
        ],
        mode="left_to_right",
    )


def _fields(schema: Schema) -> Schema:
    fields = {
        name: {**field, "schema": _plain(field["schema"])}
        for name, field in schema["fields"].items()
    }
    # Unknown fields beside one that is always written cannot make an escape form of the record.
    extras = _ANYTHING if any(map(_is_always_written, fields.values())) else _NOTHING
    return {**schema, "fields": fields, "extra_behavior": "allow", "extras_schema": extras}


def _is_always_written(field: Schema) -> bool:
    return bool(field["schema"]["type"] != "default")


def _tagged(schema: Schema) -> Schema:
    choices = {tag.strip("<>"): _plain(choice) for tag, choice in schema["choices"].items()}
    if schema["discriminator"] is part_tag:
        return {"type": "tagged-union", "discriminator": "type", "choices": choices}
    if schema["discriminator"] is output_tag:
        both = [choices["text"], choices["parts"]]
        return {"type": "union", "choices": both, "mode": "left_to_right"}
    return schema


_ABOUT_UNKNOWN_FIELDS = "_is_written_plainly"  # the rule of every record that has this name
_LEAVES = frozenset({"any", "bool", "definition-ref", "float", "int", "literal", "str"})
_INSIDE = ("schema", "items_schema", "keys_schema", "values_schema")
_SIMPLER: Mapping[str, Callable[[Schema], Schema]] = {
    "default": _default,
    "definitions": _definitions,
    "dict": _with_plain_inside,
    "function-after": _after,
    "function-before": _unwrapped,  # a form that a constructor takes, and the log never has
    "function-plain": _number,
    "list": _with_plain_inside,
    "model": _with_plain_inside,
    "model-fields": _fields,
    "nullable": _with_plain_inside,
    "tagged-union": _tagged,
}
