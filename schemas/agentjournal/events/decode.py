"""From names and fields to events: what users write, and what is read from the log."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, SchemaValidator

from agentjournal.codec import decode, may_hold_forms
from agentjournal.errors import AppendRejected, as_json_path
from agentjournal.events.base import Event
from agentjournal.events.catalogue import BUILT_IN, EVENT_TYPES, is_custom
from agentjournal.events.plain import plain_validator
from agentjournal.events.unknown import CustomEvent, UnknownEvent
from agentjournal.events.wire import missing
from agentjournal.upcasters import upcast

_QUOTED = re.compile("'([^']*)'")

# pydantic's kinds of errors in plain words; its own wording may change with a release.
_WORDS = {
    "missing": "is missing",
    "invalid_key": "is a name that is no text",
    "string_type": "is not text",
    "int_type": "is not a whole number",
    "bool_type": "is not true or false",
    "list_type": "is not a list",
    "dict_type": "is not an object",
    "model_type": "is not an object",
    "model_attributes_type": "is not an object",
    "union_tag_invalid": "has no known type",
    "union_tag_not_found": "has no known type",
    "string_unicode": "holds half of a surrogate pair where no text can have it",
}


def validated(event_type: str, fields: Mapping[str, Any]) -> Event:
    """Return the event of `event_type` with `fields`, filled up as its constructor does.

    Raises AppendRejected, whose path names the first wrong field, like `parts[0].call_id`.
    """
    model = EVENT_TYPES.get(event_type)
    if model is not None:
        return _built(model, dict(fields))
    if is_custom(event_type):
        return CustomEvent(event_type, fields)
    raise AppendRejected("type", f"{event_type!r} is no event type; yours are named custom.<name>")


def decode_event(event_type: str, schema_version: int, raw: bytes) -> Event:
    """Return the event that `raw` holds, at the current schema version of its type.

    A type or a version that is not known here is an UnknownEvent with all of its fields.
    Raises AppendRejected when the fields are not what the type asks for.
    """
    [plain] = decode_plain(event_type, schema_version, [raw])
    if plain is not None:
        return plain
    # It may be right all the same, and else the model says where it is not.
    fields = decode(raw)
    if type(fields) is not dict:
        raise AppendRejected("data", "is not an object")
    model = EVENT_TYPES.get(event_type)
    if model is None or schema_version > model.schema_version:
        kept = CustomEvent if is_custom(event_type) else UnknownEvent
        return kept(event_type, fields, schema_version=schema_version)
    event = _built(model, upcast(event_type, schema_version, fields, to=model.schema_version))
    if event_type in BUILT_IN:  # a user's own model fills what its older events do not have
        for path in missing(event):
            raise AppendRejected(as_json_path(path), "is missing")
    return event


def decode_plain(
    event_type: str, schema_version: int, raws: Sequence[bytes]
) -> Sequence[Event | None]:
    """Return events of one type; None stands for each that only `decode_event` can tell about.

    Many at once take half the time.
    """
    plain = _plain_of(event_type, schema_version)
    return [None] * len(raws) if plain is None else _plainly(plain, raws)


def _plainly(plain: SchemaValidator, raws: Sequence[bytes]) -> Sequence[Event | None]:
    joined = b",".join(raws)
    if may_hold_forms(joined):
        forms = {at: _revived(plain, raw) for at, raw in enumerate(raws) if may_hold_forms(raw)}
        return _all_but(forms, plain, raws)
    try:
        found: list[Event] = plain.validate_json(b"[%s]" % joined)
    except ValidationError as error:
        listed = error.errors(include_url=False, include_context=False, include_input=False)
        places = {each["loc"][0] for each in listed if each["loc"]}
        return _all_but(dict.fromkeys(places or range(len(raws))), plain, raws)
    return found if len(found) == len(raws) else [None] * len(raws)


def _all_but(
    others: Mapping[Any, Event | None], plain: SchemaValidator, raws: Sequence[bytes]
) -> Sequence[Event | None]:
    """Return what is known of some places, and read the rest."""
    rest = [raw for at, raw in enumerate(raws) if at not in others]
    found = iter(_plainly(plain, rest) if rest else ())
    return [others[at] if at in others else next(found) for at in range(len(raws))]


def _revived(plain: SchemaValidator, raw: bytes) -> Event | None:
    try:
        [event] = plain.validate_python([decode(raw)])
    except ValueError:  # no JSON, or not plain
        return None
    return event  # type: ignore[no-any-return]  # the validator's kind


@lru_cache(maxsize=1_024)
def _plain_of(event_type: str, schema_version: int) -> SchemaValidator | None:
    model = BUILT_IN.get(event_type)
    if model is None or schema_version != model.schema_version:
        return None
    return plain_validator(model)


def rejection(error: ValidationError) -> AppendRejected:
    """Return what is wrong in `error` as the error of this package: the first place, in words."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = tuple(part for part in first["loc"] if not _is_tag(part))
    return AppendRejected(as_json_path(place) or "data", _reason(first))


def _built(model: type[Event], fields: dict[str, Any]) -> Event:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise rejection(error) from None


def _is_tag(part: int | str) -> bool:
    return isinstance(part, str) and part.startswith("<")


def _reason(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    match kind:
        case "literal_error":
            return f"is not one of {', '.join(_QUOTED.findall(context['expected']))}"
        case "greater_than_equal":
            return f"is less than {context['ge']}"
        case "less_than_equal":
            return f"is greater than {context['le']}"
        case _:
            return _WORDS.get(kind, error["msg"])
