"""The texts in an event that anybody may have written, and the event with others in their place.

Not looked at is what has a form of its own, given by the model: ids, digests, times, names of
tools, words of a list; and what a provider signed or encrypted, which must go back to it as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args, get_origin

import orjson
from pydantic import AfterValidator, BaseModel

from agentjournal.events import Event, ReasoningPart, UnknownEvent
from agentjournal.events.wire import REDACTED, wire_form

Path: TypeAlias = tuple[str | int, ...]

# In valid JSON exactly the names and the texts.
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?', re.DOTALL)
_MOST_NESTED = 4  # JSON in a text in JSON in …; what is deeper is looked at as it stands there
_OPAQUE = {(ReasoningPart, "signature"), (ReasoningPart, "encrypted")}
_LONG = 65_536  # characters: to go through each text of so much JSON takes long


class Place(NamedTuple):
    """Where a text stands. Texts of the same `run` follow on each other in one list of parts."""

    path: Path  # in `data`; of JSON in a text, the path of that text
    name: str = ""  # of the field, or of the object's key, that it is the value of
    run: Path | None = None
    is_key: bool = False  # of an object


class Text(NamedTuple):
    """A text, in UTF-8; halves of surrogate pairs are as they would be encoded."""

    place: Place
    raw: bytes


class Visit(NamedTuple):
    """What is done with each text."""

    text: Callable[[Place, str], str]  # returns the text to write in its place
    opens: Callable[[str], bool]  # whether long JSON is worth to be looked at text by text


def texts_of(event: Event, opens: Callable[[str], bool]) -> list[Text]:
    """Return all texts of an event, in their order; of long JSON only where `opens` says so."""
    found: list[Text] = []

    def note(place: Place, text: str) -> str:
        found.append(Text(place, text.encode("utf-8", "surrogatepass")))
        return text

    _rewritten(event, Visit(note, opens))
    return found


def with_texts(
    event: Event, texts: Sequence[str], opens: Callable[[str], bool]
) -> tuple[dict[str, Any], list[Place]]:
    """Return the fields of an event with other `texts` in place of those that `texts_of` names.

    With them the places where these are, in which the keys of objects are the new ones as well.
    """
    places: list[Place] = []

    def write(place: Place, _: str) -> str:
        places.append(place)
        return texts[len(places) - 1]

    return _rewritten(event, Visit(write, opens)), places


def rebuilt(event: Event, form: dict[str, Any], redacted: Sequence[Any]) -> Event:
    """Return an event with other fields; `redacted` is put behind what `$redacted` holds."""
    held = form.get(REDACTED)
    form = {**form, REDACTED: [*(held if isinstance(held, list) else ()), *redacted]}
    if isinstance(event, UnknownEvent):
        return type(event)(event.type, form, schema_version=event.schema_version)
    return type(event).model_validate(form)


def _rewritten(event: Event, visit: Visit) -> dict[str, Any]:
    if isinstance(event, UnknownEvent):
        return _fields_of_users(event.fields, visit)
    form = wire_form(event)
    _record(event, form, (), visit)
    return form


def _record(
    model: BaseModel, form: dict[str, Any], path: Path, visit: Visit, run: Any = None
) -> None:
    for name, wire_name in _free_fields(type(model)):
        if wire_name in form:
            place = Place((*path, wire_name), wire_name, run if wire_name == "text" else None)
            form[wire_name] = _inside(getattr(model, name), form[wire_name], place, visit)
    form.update(_fields_of_users(model.model_extra or {}, visit, path))


def _fields_of_users(fields: dict[str, Any], visit: Visit, path: Path = ()) -> dict[str, Any]:
    return {
        name: value if name == REDACTED else _walk(value, Place((*path, name), name), visit)
        for name, value in fields.items()
    }


def _inside(value: Any, form: Any, place: Place, visit: Visit) -> Any:
    """Return a field of a model: its records have fields of their own that are not looked at."""
    if isinstance(value, BaseModel):
        _record(value, form, place.path, visit)
        return form
    if type(value) is list and any(isinstance(each, BaseModel) for each in value):
        runs = _runs(form, place.path)
        for index, each in enumerate(value):
            _record(each, form[index], (*place.path, index), visit, runs[index])
        return form
    return _walk(form, place, visit)


def _walk(value: Any, place: Place, visit: Visit) -> Any:
    kind = type(value)
    if kind is str:
        return _text(value, place, visit, _MOST_NESTED)
    if kind is dict:
        made: dict[Any, Any] = {}
        for key, item in value.items():
            written = visit.text(Place(place.path, is_key=True), key)
            run = place.run if key == "text" and _is_text_part(value) else None
            made[written] = _walk(item, Place((*place.path, written), key, run), visit)
        return made
    if kind is list:
        runs = _runs(value, place.path)
        return [
            _walk(item, Place((*place.path, index), place.name, runs[index]), visit)
            for index, item in enumerate(value)
        ]
    return _bytes(value, place, visit) if kind is bytes else value


def _bytes(value: bytes, place: Place, visit: Visit) -> bytes:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return value
    return _text(text, place, visit, _MOST_NESTED).encode("utf-8", "surrogatepass")


def _text(text: str, place: Place, visit: Visit, depth: int) -> str:
    if not depth or not _is_json(text):
        return visit.text(place, text)
    if len(text) > _LONG and not visit.opens(text):
        return text
    return _json(text, place, visit, depth)


def _json(text: str, place: Place, visit: Visit, depth: int) -> str:
    """Return JSON with other texts; all that is not one of them stays byte for byte."""
    name = place.name

    def one(match: re.Match[str]) -> str:
        nonlocal name
        inner = match[1]
        held: str = json.loads(f'"{inner}"', strict=False) if "\\" in inner else inner
        if match[2] is not None:
            name = held
            made = visit.text(Place(place.path, is_key=True), held)
        else:
            made = _text(held, Place(place.path, name), visit, depth - 1)
        return match[0] if made == held else f"{json.dumps(made)}{match[2] or ''}"

    return _STRING.sub(one, text)


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


def _runs(items: Any, path: Path) -> list[Path | None]:
    """Return for each item of a list in which run of parts of text it is, if in one."""
    runs: list[Path | None] = []
    for index, item in enumerate(items):
        is_part = _is_text_part(item)
        before = runs[-1] if runs else None
        runs.append((before or (*path, index)) if is_part else None)
    return runs


def _is_text_part(item: Any) -> bool:
    return type(item) is dict and item.get("type") == "text" and type(item.get("text")) is str


@cache
def _free_fields(model: type[BaseModel]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a model that may hold any text: their names, and as they are written."""
    return tuple(
        (name, field.alias or name)
        for name, field in model.model_fields.items()
        if (model, name) not in _OPAQUE
        and not any(isinstance(rule, AfterValidator) for rule in field.metadata)
        and _may_hold_text(field.annotation)
    )


def _may_hold_text(annotation: Any) -> bool:
    if annotation is Any or annotation is str or annotation is bytes:
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return True
    if get_origin(annotation) is Annotated:
        inner, *rules = get_args(annotation)
        return not any(isinstance(rule, AfterValidator) for rule in rules) and _may_hold_text(inner)
    return any(map(_may_hold_text, get_args(annotation)))
