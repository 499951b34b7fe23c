"""Models to plain dicts and back: what is written of a field, and what must be there.

pydantic's own dump is not used: it would convert or drop what users put into a field.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel

REDACTED = "$redacted"  # the field of an event that says what was taken out of it


class _Written(NamedTuple):
    """How one field of a model is written."""

    name: str
    wire_name: str
    optional: bool
    any_value: bool  # the user's own: None is a value too, when it was given
    nested: bool


@cache
def _fields(model: type[BaseModel]) -> tuple[_Written, ...]:
    return tuple(
        _Written(
            name=name,
            wire_name=field.alias or name,
            optional=not field.is_required() and field.default is None,
            any_value=field.annotation is Any,
            nested=_mentions_model(field.annotation),
        )
        for name, field in model.model_fields.items()
    )


def _mentions_model(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return True
    return any(map(_mentions_model, get_args(annotation)))


def wire_form(model: BaseModel) -> dict[str, Any]:
    """Return the fields of `model` as they are written; values of users are passed through."""
    form: dict[str, Any] = {}
    given = model.model_fields_set
    values = model.__dict__
    for name, wire_name, optional, any_value, nested in _fields(type(model)):
        value = values[name]
        if value is None and optional and not (any_value and name in given):
            continue
        form[wire_name] = _nested_form(value) if nested else value
    form.update(model.model_extra or {})
    return form


def _nested_form(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return wire_form(value)
    if type(value) is list:
        return [_nested_form(item) for item in value]
    if type(value) is dict:
        return {key: _nested_form(item) for key, item in value.items()}
    return value


def missing(model: BaseModel) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every field that the written form must have and `model` was not given.

    A constructor may fill such a field; what comes from the log must hold it.
    """
    given = model.model_fields_set
    for name, wire_name, optional, _, nested in _fields(type(model)):
        if not optional and name not in given:
            yield (wire_name,)
        elif nested:
            for path in _missing_inside(model.__dict__[name]):
                yield (wire_name, *path)


def _missing_inside(value: Any) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, BaseModel):
        yield from missing(value)
    elif isinstance(value, list | dict):
        items = enumerate(value) if isinstance(value, list) else value.items()
        for at, item in items:
            for path in _missing_inside(item):
                yield (at, *path)


def is_redacted(model: BaseModel, *path: str | int) -> bool:
    """Return whether something was taken out of a field of an event before it was recorded."""
    extra = model.model_extra
    if not extra or REDACTED not in extra:  # as nearly always
        return False
    said = extra[REDACTED]
    return isinstance(said, list) and any(
        isinstance(each, dict) and each.get("path") == [*path] for each in said
    )
