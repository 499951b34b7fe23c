"""The slot table: which attributes an entity has, how many values each holds, and their form."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from agentjournal.errors import NotConfigured
from agentjournal.memory.candidates import Cardinality, Kind

EntityKind: TypeAlias = Literal["user", "account", "project"]
ValueType: TypeAlias = Literal[
    "text",
    "name",
    "code",
    "number",
    "quantity",
    "money",
    "date",
    "time",
    "email",
    "phone",
    "choice",
]
_FIELDS = {"kind", "cardinality", "type", "choices", "example", "names", "form"}
_NO_CHOICES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Slot:
    """What is known of a slot. `choices` leads from a word, case-folded, to the value it means.

    `names` are the nouns that people call it by, and `form` how its values are written: the frames
    of the rules find it by them. A slot without names is found by rules of its own alone.
    """

    entity: EntityKind
    attribute: str
    kind: Kind
    cardinality: Cardinality
    type: ValueType
    choices: Mapping[str, str] = field(default_factory=dict[str, str])
    example: Any = None
    names: tuple[str, ...] = ()
    form: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """The slots that there are, by entity kind and attribute."""

    by_name: Mapping[tuple[str, str], Slot]

    def find(self, entity_kind: str, attribute: str) -> Slot | None:
        """Return the slot of an attribute, or the family it belongs to; None: free text."""
        exact = self.by_name.get((entity_kind, attribute))
        if exact is not None:
            return exact
        for (kind, pattern), slot in self.by_name.items():
            if kind == entity_kind and "*" in pattern and fnmatchcase(attribute, pattern):
                return slot
        return None

    def __iter__(self) -> Iterator[Slot]:
        return iter(self.by_name.values())


@cache
def default_slots() -> Slots:
    """Return the slots that come with the package."""
    place = files("agentjournal.memory") / "slots.toml"
    return Slots(_slots("slots.toml", tomllib.loads(place.read_text(encoding="utf-8"))))


def read_slots(path: str | None) -> Slots:
    """Return the default slots with those of a file added, which replace what has the same name.

    Raises NotConfigured, which names the place.
    """
    if path is None:
        return default_slots()
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{path} cannot be read: {error}") from error
    return Slots({**default_slots().by_name, **_slots(path, given)})


def _slots(place: str, given: Mapping[str, Any]) -> dict[tuple[str, str], Slot]:
    found: dict[tuple[str, str], Slot] = {}
    for entity, attributes in given.items():
        if entity not in get_args(EntityKind) or not isinstance(attributes, dict):
            kinds = ", ".join(get_args(EntityKind))
            raise NotConfigured(f"{place}: {entity} is not a table of an entity kind: {kinds}")
        for attribute, table in attributes.items():
            where = f"{place}: {entity}.{attribute}"
            found[entity, attribute] = _slot(where, entity, attribute, table)  # type: ignore[arg-type]  # just checked
    return found


def _slot(where: str, entity: EntityKind, attribute: str, table: object) -> Slot:
    if not isinstance(table, dict):
        raise NotConfigured(f"{where} is not a table")
    unknown = sorted(set(table) - _FIELDS)
    if unknown:
        raise NotConfigured(f"{where}.{unknown[0]}: is not one of {', '.join(sorted(_FIELDS))}")
    return Slot(
        entity,
        attribute,
        _one_of(where, table, "kind", get_args(Kind)),
        _one_of(where, {"cardinality": "single", **table}, "cardinality", get_args(Cardinality)),
        _one_of(where, {"type": "text", **table}, "type", get_args(ValueType)),
        _choices(where, table.get("choices", {})),
        table.get("example"),
        _names(where, table.get("names", [])),
        _form(where, table),
    )


def _form(where: str, table: Mapping[str, Any]) -> str:
    """Return how values are written; the rules check that they know it."""
    form = table.get("form", table.get("type", "text"))
    if not isinstance(form, str):
        raise NotConfigured(f"{where}.form: is not a word")
    return form


def _names(where: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) and name for name in given):
        raise NotConfigured(f"{where}.names: is not a list of words")
    return tuple(given)


def _one_of(where: str, table: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> Any:
    value = table.get(name)
    if value not in allowed:
        raise NotConfigured(f"{where}.{name}: {value!r} is not one of {', '.join(allowed)}")
    return value


def _choices(where: str, given: object) -> Mapping[str, str]:
    if not isinstance(given, dict):
        raise NotConfigured(f"{where}.choices is not a table")
    if not given:
        return _NO_CHOICES
    found: dict[str, str] = {}
    for value, words in given.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise NotConfigured(f"{where}.choices.{value}: is not a list of words")
        for word in (value, *words):
            if found.setdefault(word.casefold(), value) != value:
                raise NotConfigured(f"{where}.choices: {word!r} means two values")
    return found
