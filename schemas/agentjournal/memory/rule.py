"""One rule: what it looks for, what it makes of it, and the examples that prove it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from agentjournal.errors import NotConfigured
from agentjournal.memory.candidates import Kind
from agentjournal.memory.literals import Needs, needs_of
from agentjournal.memory.templates import Filling

ALLOWANCES = frozenset(
    {
        "question", "hypothetical", "modal", "reported", "negation", "uncertain",  # of the sentence
        "task", "request",  # of a durable rule
        "shared",  # the words may be a value of another rule too
    }
)  # fmt: skip
_NOT_A_LETTER = re.compile(r"[\W_]+")
_FIELDS = {
    "name", "attribute", "entity", "hints", "patterns", "kind", "value", "split", "durable",
    "allow", "asked", "about", "needs", "unless", "confidence", "retracts", "cases",
    "counter_examples", "reject", "remark",
}  # fmt: skip


class _AsWritten:
    """Patterns without fragments."""

    def filled(self, text: str) -> str:
        return text

    def needs(self, text: str) -> Needs:
        return needs_of(text)


class Pattern:
    """A pattern that is compiled when a text may match it first: most sessions need few of them."""

    __slots__ = ("_compiled", "_filling", "_needs", "_written")

    def __init__(self, written: str, filling: Filling | None = None) -> None:
        """A pattern as it is written, and what makes one of it; None: it is one."""
        self._written = written
        self._filling: Filling = filling or _AsWritten()
        self._compiled: re.Pattern[str] | None = None
        self._needs: Needs | None = None

    @property
    def text(self) -> str:
        """The pattern in full."""
        return self._filling.filled(self._written)

    def compiled(self) -> re.Pattern[str]:
        """Return the pattern compiled. Raises re.error where it is none, NotConfigured."""
        if self._compiled is None:
            self._compiled = re.compile(self.text, re.IGNORECASE)
        return self._compiled

    def needs(self) -> Needs:
        """Return what is in all texts that it matches."""
        if self._needs is None:
            self._needs = self._filling.needs(self._written)
        return self._needs

    def search(self, text: str) -> re.Match[str] | None:
        """Return where the pattern is found first."""
        return (self._compiled or self.compiled()).search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every place where the pattern is found."""
        return (self._compiled or self.compiled()).finditer(text)


@dataclass(frozen=True, slots=True)
class Case:
    """A text, said by a user, and the exact facts: attribute to values.

    Of `~attribute` they are taken back, without any written all that there are: None.
    """

    text: str
    facts: Mapping[str, tuple[Any, ...]]
    asked: str | None = None  # what the assistant said before


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and the slot that its value is for.

    One of `hints` is in every sentence that the rule may match, in lower case: most rules need no
    more than this look; with none, any sentence may be one. `durable`: a sign of durability is
    needed where the sentence asks for something. `allow`: what does not speak against this rule.
    `asked`: what the assistant has just asked for. `about`: what was spoken of just before, by
    either. `reject`: values that are none. `names`: of a rule of many slots, what each is called.
    `value`: what it means, whatever the words are, or several such. `retracts`: what it finds is no
    longer so; where it finds no value, nothing of its slot is.
    """

    name: str
    attribute: str
    entities: tuple[str, ...]
    hints: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    kind: Kind | None
    value: Any
    split: bool
    durable: bool
    allow: frozenset[str]
    asked: Pattern | None
    needs: Pattern | None
    unless: Pattern | None
    reject: Pattern | None
    confidence: float
    cases: tuple[Case, ...]
    counter_examples: tuple[str, ...]
    about: Pattern | None = None
    retracts: bool = False
    names: Mapping[str, str] = field(default_factory=dict[str, str])

    def attribute_of(self, name: str) -> str | None:
        """Return the attribute that a rule of many slots means by a name."""
        return self.names.get(name_key(name))


def name_key(name: str) -> str:
    """Return what the spellings of a slot's name have in common: `E-mails`, `email`."""
    return _NOT_A_LETTER.sub("", name.casefold()).removesuffix("s")


def rule_of(
    place: str,
    given: Mapping[str, Any],
    filling: Filling | None = None,
    *,
    is_checked: bool = True,
) -> Rule:
    """Return the rule that a table says. Raises NotConfigured, which names the place.

    Without `is_checked` its patterns are known to be right, and are not compiled before they are
    needed.
    """
    place = f"{place} ({given['name']})" if "name" in given else place
    for name in given:
        if name not in _FIELDS:
            raise NotConfigured(f"{place}: {name} is not a field of a rule")
    for name in ("name", "attribute", "patterns"):
        if name not in given:
            raise NotConfigured(f"{place}: {name} is missing")

    def compiled(name: str, text: str | None) -> Pattern | None:
        if text is None:
            return None
        try:
            pattern = Pattern(text, filling)
            if is_checked:
                pattern.compiled()
        except (NotConfigured, re.error, TypeError) as error:
            raise NotConfigured(f"{place}: {name}: {error}") from error
        return pattern

    patterns = tuple(compiled("patterns", text) for text in given["patterns"])
    return Rule(
        name=given["name"],
        attribute=given["attribute"],
        entities=tuple(given.get("entity", ["user"])),
        hints=tuple(given.get("hints", [])),
        patterns=tuple(each for each in patterns if each is not None),
        kind=_kind(place, given.get("kind")),
        value=_value(place, given.get("value")),
        split=given.get("split", False),
        durable=given.get("durable", False),
        allow=_allowances(place, given.get("allow", [])),
        asked=compiled("asked", given.get("asked")),
        needs=compiled("needs", given.get("needs")),
        unless=compiled("unless", given.get("unless")),
        reject=compiled("reject", given.get("reject")),
        confidence=given.get("confidence", 0.9),
        cases=tuple(_case(place, each) for each in given.get("cases", [])),
        counter_examples=tuple(given.get("counter_examples", [])),
        about=compiled("about", given.get("about")),
        retracts=given.get("retracts", False),
    )


def _value(place: str, value: Any) -> Any:
    texts = value if isinstance(value, list) else [value]
    if value is not None and not all(isinstance(each, str) and each for each in texts):
        raise NotConfigured(f"{place}: value is no text, and no list of texts")
    return value


def _kind(place: str, kind: str | None) -> Any:
    if kind is not None and kind not in get_args(Kind):
        raise NotConfigured(f"{place}: kind {kind!r} is not one of {', '.join(get_args(Kind))}")
    return kind


def _allowances(place: str, given: list[str]) -> frozenset[str]:
    for name in given:
        if name not in ALLOWANCES:
            raise NotConfigured(
                f"{place}: allow: {name!r} is not one of {', '.join(sorted(ALLOWANCES))}"
            )
    return frozenset(given)


def _case(place: str, given: Mapping[str, Any]) -> Case:
    if "text" not in given:
        raise NotConfigured(f"{place}: a case has no text")
    facts = {
        name: tuple(values) or ((None,) if name.startswith("~") else ())
        for name, values in given.get("facts", {}).items()
    }
    return Case(given["text"], facts, given.get("asked"))
