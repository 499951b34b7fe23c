"""How people of a language take turns, take things back and type in haste: patterns as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from agentjournal.errors import NotConfigured
from agentjournal.memory import dictation

_NEVER = re.compile(r"(?!)")


class Rewrite(NamedTuple):
    """A pattern, and what is said instead."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The table `talk` of a language; what it leaves out never matches.

    `talk.toml` says of each pattern what it is for. `dictation` names how codes are spoken.
    """

    dictation: str | None = None
    hasty: re.Pattern[str] = _NEVER
    written_out: Sequence[Rewrite] = ()
    clauses: re.Pattern[str] = _NEVER
    parts: re.Pattern[str] = _NEVER
    one_more: re.Pattern[str] = _NEVER
    that_before: re.Pattern[str] = _NEVER
    forbidden: re.Pattern[str] = _NEVER
    no_longer: Sequence[Rewrite] = ()
    not_so: re.Pattern[str] = _NEVER
    still: Sequence[Rewrite] = ()
    still_tag: re.Pattern[str] = _NEVER
    yes: re.Pattern[str] = _NEVER
    so_tag: re.Pattern[str] = _NEVER
    offer: re.Pattern[str] = _NEVER
    confirming: Sequence[Rewrite] = ()
    speaker: Sequence[Rewrite] = ()
    of_a_task: re.Pattern[str] = _NEVER
    another_thing: re.Pattern[str] = _NEVER
    mine: re.Pattern[str] = _NEVER
    ours: re.Pattern[str] = _NEVER
    mine_or_that: re.Pattern[str] = _NEVER
    former: re.Pattern[str] = _NEVER
    not_behind: re.Pattern[str] = _NEVER


_NAMES = frozenset(each.name for each in fields(Talk))


def talk_of(
    place: str, table: Mapping[str, Any], compiled: Callable[[str, str], re.Pattern[str]]
) -> Talk:
    """Return what a table says; `compiled` makes a pattern of a place and a text.

    Raises NotConfigured, which names the place, as `compiled` does.
    """
    found: dict[str, Any] = {}
    for name, given in table.items():
        where = f"talk.{name}"
        match given:
            case _ if name not in _NAMES:
                raise NotConfigured(f"{place}: {where} is nothing that talk has")
            case str() if name == "dictation":
                if given != dictation.NAME:
                    raise NotConfigured(f"{place}: {where}: {given!r} is not {dictation.NAME!r}")
                found[name] = given
            case str():
                found[name] = compiled(where, given)
            case list():
                found[name] = [_rewrite(place, where, each, compiled) for each in given]
            case _:
                raise NotConfigured(f"{place}: {where} is no pattern and no list of them")
    return Talk(**found)


def _rewrite(
    place: str, where: str, given: Any, compiled: Callable[[str, str], re.Pattern[str]]
) -> Rewrite:
    match given:
        case {"pattern": str(pattern), "instead": str(instead), **more} if not more:
            return Rewrite(compiled(where, pattern), instead)
        case _:
            raise NotConfigured(f"{place}: {where}: each has a pattern, and what is said instead")
