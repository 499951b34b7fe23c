"""Rules of extraction: patterns as data, one folder a language, and the words they are made of.

A rule that comes first in the order of its files and its place wins over a later one for the same
words of a sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from agentjournal.errors import NotConfigured
from agentjournal.memory.frames import Frame, frame_of
from agentjournal.memory.rule import Rule, rule_of
from agentjournal.memory.rule_index import Meant, RuleIndex
from agentjournal.memory.sentences import Splitting
from agentjournal.memory.talk import Talk, talk_of
from agentjournal.memory.templates import Templates

_WORDS = "words.toml"
_TALK = "talk.toml"


class _Folder(Protocol):
    @property
    def name(self) -> str: ...
    def iterdir(self) -> Iterable[Any]: ...
    def read_text(self, encoding: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Cues:
    """What the mood, the durability and the edges of a sentence are told by."""

    question: re.Pattern[str]
    tag: re.Pattern[str]
    polite: re.Pattern[str]
    amends: re.Pattern[str]
    hypothetical: re.Pattern[str]
    modal: re.Pattern[str]
    fiction: re.Pattern[str]
    reported: re.Pattern[str]
    reported_after: re.Pattern[str]
    says: re.Pattern[str]
    quotes: re.Pattern[str]
    asked_of_another: re.Pattern[str]
    of_oneself: re.Pattern[str]
    void: re.Pattern[str]
    supposed: re.Pattern[str]
    doubted: re.Pattern[str]
    denied: re.Pattern[str]
    asked: re.Pattern[str]
    copula: re.Pattern[str]
    perhaps: re.Pattern[str]
    is_not: re.Pattern[str]
    settled: re.Pattern[str]
    instead: re.Pattern[str]
    corrected: re.Pattern[str]
    strong: re.Pattern[str]
    clause: re.Pattern[str]
    negation: re.Pattern[str]
    uncertain: re.Pattern[str]
    task_only: re.Pattern[str]
    request: re.Pattern[str]
    durable: re.Pattern[str]
    retraction: re.Pattern[str]
    no_more: re.Pattern[str]
    dropped: re.Pattern[str]
    dropped_am: re.Pattern[str]
    no_value: re.Pattern[str]
    before: re.Pattern[str]
    behind: re.Pattern[str]
    no_item: re.Pattern[str]
    and_: re.Pattern[str]


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules of a language, in the order in which they are tried.

    `frames` make rules of slots, which stand at `frames_at`; `forms` say how values are written.
    """

    language: str
    rules: tuple[Rule, ...]
    cues: Cues
    splitting: Splitting
    slot_words: Mapping[str, tuple[str, ...]]  # what a slot is called
    templates: Templates = field(default_factory=lambda: Templates({}))
    talk: Talk = field(default_factory=Talk)
    forms: Mapping[str, str] = field(default_factory=dict[str, str])
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    frames: tuple[Frame, ...] = ()
    frames_at: int = 0
    is_checked: bool = True

    def meant(self, sentence: str, asked: str, before: str) -> Meant:
        """Return the rules that may match a sentence after what was said, in their order.

        With each come those of its patterns that may.
        """
        return _index(self).meant(sentence, asked, before)


@lru_cache(maxsize=16)
def _index(rules: Rules) -> RuleIndex:
    return RuleIndex(rules.rules)


@cache
def default_rules(language: str = "en") -> Rules:
    """Return the rules that come with the package.

    Raises NotConfigured when there are none for the language.
    """
    folder = files("agentjournal.memory") / "rules" / language
    if not folder.is_dir():
        raise NotConfigured(f"there are no rules for the language {language!r}")
    return _read(language, folder, is_checked=False)  # every pattern of them has a test


def read_rules(path: str | Path) -> Rules:
    """Return the rules of a folder: `words.toml` and files of rules.

    Raises NotConfigured, which names the file and the rule.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise NotConfigured(f"{path} is not a folder of rules")
    return _read(folder.name, folder)


def _read(language: str, folder: _Folder, *, is_checked: bool = True) -> Rules:
    places = sorted(folder.iterdir(), key=lambda each: each.name)
    tables = {each.name: _table(each) for each in places if each.name.endswith(".toml")}
    words = tables.pop(_WORDS, None)
    if words is None:
        raise NotConfigured(f"{folder.name}: there is no {_WORDS}")
    templates = _templates(words, tables)
    talk = _talk(tables.pop(_TALK, {}), templates)
    rules: list[Rule] = []
    frames: list[Frame] = []
    forms: dict[str, str] = {}
    synonyms: dict[str, tuple[str, ...]] = {}
    at = 0
    for name, table in tables.items():
        forms |= table.get("forms", {})
        synonyms |= {word: tuple(each) for word, each in table.get("synonyms", {}).items()}
        for number, given in enumerate(table.get("frame", []), 1):
            frames.append(frame_of(f"{language}/{name}: frame {number}", given))
            at = len(rules)
        for number, given in enumerate(table.get("rule", []), 1):
            place = f"{language}/{name}: rule {number}"
            rules.append(rule_of(place, given, templates, is_checked=is_checked))
    slot_words = {name: tuple(given) for name, given in words.get("slot_words", {}).items()}
    cues, splitting = _cues(words, templates), _splitting(words, templates)
    return Rules(
        language,
        tuple(rules),
        cues,
        splitting,
        slot_words,
        templates,
        talk,
        forms,
        synonyms,
        tuple(frames),
        at,
        is_checked,
    )


def _table(place: Any) -> dict[str, Any]:
    try:
        return tomllib.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{place.name} cannot be read: {error}") from error


def _templates(words: Mapping[str, Any], tables: Mapping[str, Any]) -> Templates:
    given: dict[str, str] = {}
    for file, table in ((_WORDS, words), *tables.items()):
        fragments: dict[str, str] = table.get("fragments", {})
        for name in fragments:  # a later one would change the patterns of the other file
            if name in given:
                raise NotConfigured(f"{file}: there is a fragment {name!r} in another file already")
        given |= fragments
    return Templates(given, _WORDS)


def _cues(words: Mapping[str, Any], templates: Templates) -> Cues:
    given = words.get("cues", {})
    names = [field.name.rstrip("_") for field in fields(Cues)]  # `and_` is the cue `and`
    missing = [name for name in names if name not in given]
    if missing:
        raise NotConfigured(f"{_WORDS}: cues.{missing[0]} is missing")
    return Cues(*(_compiled(f"cues.{name}", given[name], templates) for name in names))


def _splitting(words: Mapping[str, Any], templates: Templates) -> Splitting:
    announces = words.get("cues", {}).get("announces", r"(?!)")
    return Splitting(
        frozenset(words.get("abbreviations", ())), _compiled("cues.announces", announces, templates)
    )


def _talk(table: Mapping[str, Any], templates: Templates) -> Talk:
    def compiled(place: str, text: str) -> re.Pattern[str]:
        return _compiled(place, text, templates, file=_TALK)

    return talk_of(_TALK, table.get("talk", {}), compiled)


def _compiled(
    place: str, text: str, templates: Templates, *, file: str = _WORDS
) -> re.Pattern[str]:
    try:
        return re.compile(templates.filled(text), re.IGNORECASE)
    except (re.error, TypeError) as error:
        raise NotConfigured(f"{file}: {place}: {error}") from error
