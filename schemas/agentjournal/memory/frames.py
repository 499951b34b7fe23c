"""Frames: patterns that hold for every slot that says what it is called.

"My … is …", "change my … to …", "… is my new …", and an answer to the question for it are said of
a postcode as of a plan. A slot with `names` is found by all of them. Of slots whose values are
written alike one rule is made for each frame, which tells by the name which slot is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from agentjournal.errors import NotConfigured
from agentjournal.memory.literals import Needs
from agentjournal.memory.rule import Case, Rule, name_key, rule_of
from agentjournal.memory.slots import Slots
from agentjournal.memory.templates import Templates

if TYPE_CHECKING:
    from agentjournal.memory.rules import Rules

NAME = "slot"  # the group of a pattern that holds the name
_FORMS = "forms"
_END = re.compile(r"\{\{\w*end\}\}")  # where the clause of a value ends


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame as it was read, and where. `forms`: of which values it speaks; none: of all."""

    place: str
    name: str
    forms: tuple[str, ...]
    entities: tuple[str, ...]
    given: Mapping[str, Any]
    cases: tuple[Case, ...]
    counter_examples: tuple[str, ...]


class _Alike(NamedTuple):
    """Slots of one kind of entity whose values are written alike."""

    entity: str
    form: str
    is_multiple: bool
    choices: Mapping[str, str]
    names: dict[str, str]  # what a slot is called, to its attribute


def frame_of(place: str, given: Mapping[str, Any]) -> Frame:
    """Return the frame that a table says. Raises NotConfigured, which names the place."""
    for name in ("name", "patterns"):
        if name not in given:
            raise NotConfigured(f"{place}: {name} is missing")
    place = f"{place} ({given['name']})"
    cases = [Case(**each) for each in given.get("cases", [])]
    rest = {name: each for name, each in given.items() if name not in {"forms", "cases", "entity"}}
    return Frame(
        place,
        given["name"],
        tuple(given.get(_FORMS, ())),
        tuple(given.get("entity", ())),
        rest,
        tuple(replace(each, facts=dict(each.facts)) for each in cases),
        tuple(given.get("counter_examples", ())),
    )


@lru_cache(maxsize=16)
def with_frames(rules: Rules, slots: Slots) -> Rules:
    """Return rules with those that their frames make of slots, at the place of the frames.

    Raises NotConfigured where a slot has a form that the rules do not know.
    """
    made: list[Rule] = []
    for alike in () if not rules.frames else _alike(slots, rules.synonyms):
        if alike.form not in rules.forms and alike.form != "choice":
            known = ", ".join(sorted(rules.forms))
            first = next(iter(alike.names.values()))
            raise NotConfigured(f"{first}: form {alike.form!r} is not one of {known}")
        made += [
            _rule(frame, alike, rules)
            for frame in rules.frames
            if (not frame.forms or alike.form in frame.forms)
            and (not frame.entities or alike.entity in frame.entities)
        ]
    at = rules.frames_at
    return replace(rules, rules=(*rules.rules[:at], *made, *rules.rules[at:]), frames=())


def _alike(slots: Slots, synonyms: Mapping[str, Sequence[str]]) -> Iterator[_Alike]:
    found: dict[tuple[Any, ...], _Alike] = {}
    for slot in slots:
        if not slot.names:
            continue
        is_choice = slot.form == "choice"
        key = (slot.entity, slot.form, slot.cardinality, slot.attribute if is_choice else "")
        alike = found.setdefault(
            key, _Alike(slot.entity, slot.form, slot.cardinality == "multiple", slot.choices, {})
        )
        for name in slot.names:
            for spelling in _spellings(name, synonyms):
                alike.names.setdefault(spelling, slot.attribute)
    yield from found.values()


def _spellings(name: str, synonyms: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield name
    before, _, last = name.rpartition(" ")
    for other in synonyms.get(last, ()):
        yield f"{before} {other}"


def _rule(frame: Frame, alike: _Alike, rules: Rules) -> Rule:
    form = rules.forms.get(alike.form) or _one_of(alike.choices)
    names = _names(alike.names)
    templates = rules.templates.also({"names": names, "value": form, "bare": _END.sub("", form)})
    given = {
        **frame.given,
        "name": f"{frame.name}: {alike.entity}, {alike.form}",
        "attribute": "{" + NAME + "}",
        "entity": [alike.entity],
        "split": alike.is_multiple,
    }
    if not frame.given.keys() & {"asked", "about"}:
        given["hints"] = sorted({name.casefold() for name in alike.names})
    known = {name_key(name): attribute for name, attribute in alike.names.items()}
    return replace(
        rule_of(frame.place, given, _Named(templates), is_checked=rules.is_checked), names=known
    )


class _Named:
    """Fills in what slots are called, first as what tells the slot, and how values are written."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def filled(self, text: str) -> str:
        text = text.replace("{{names}}", f"(?P<{NAME}>{{{{names}}}})", 1)
        return self._templates.filled(text)

    def needs(self, text: str) -> Needs:
        return self._templates.needs(text)


def _names(names: Mapping[str, str]) -> str:
    words = sorted(names, key=len, reverse=True)
    return "|".join(
        r"[\s-]?".join(map(re.escape, re.split(r"[\s-]+", word))) + "s?" for word in words
    )


def _one_of(choices: Mapping[str, str]) -> str:
    words: Sequence[str] = sorted(choices, key=len, reverse=True)
    return rf"(?P<value>{'|'.join(map(re.escape, words))})(?!\w)"
