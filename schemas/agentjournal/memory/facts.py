"""Which facts hold: supersession, ends, retractions and merging, computed from what was said.

Pure, and the same in any order of what it is given. The views in SQL follow the same rules.

What was said about a slot (an attribute of an entity) is ordered by when it was said, then by
session and version. In a slot for a single value each statement ends those before it, from when it
is valid on, unless it ranks lower: users and developers before tools, tools before assistants.
While something that ranks higher holds, lower statements count for nothing. The same value said
again is one fact with more evidence. A retraction takes back what had been said until then: it
hides it, and brings nothing back that it had ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Literal, TypeAlias

Ending: TypeAlias = Literal["said", "superseded", "retracted", "outranked"]

RANKS: Mapping[str, int] = {"user": 3, "developer": 3, "tool": 2, "assistant": 1, "system": 1}


@dataclass(frozen=True, slots=True)
class Learned:
    """A `fact.learned` as it is stored. `session_id` is empty for what no session said."""

    fact_id: str
    version: int  # in the entity's stream
    attribute: str
    value_key: bytes
    cardinality: str
    author_role: str
    confidence: float
    said_at: datetime
    session_id: str
    said_version: int  # of the event that says so, in the session
    valid_from: datetime
    valid_to: datetime | None
    extractor: str
    extractor_order: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Retracted:
    """A `fact.retracted`: of a fact, and of all that had been said of its value until then.

    Without a fact of this id, `attribute` and `value_key` say what is meant; a `value_key` of None
    then means every value.
    """

    fact_id: str
    attribute: str | None
    value_key: bytes | None
    said_at: datetime
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Promoted:
    """A `promotion.completed`: how far an extractor has read a session."""

    session_id: str
    through_version: int
    extractor: str
    extractor_order: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """A fact as it comes out: what says so, the first in front, and from when until when it holds.

    `valid_to` is not reached; None: it has not ended.
    """

    said: tuple[Learned, ...]
    valid_from: datetime
    valid_to: datetime | None
    ended_by: Ending | None
    retracted_at: datetime | None = None

    def holds(self, as_of: datetime) -> bool:
        """Whether it is true at a moment, and to be believed."""
        return holds(self.valid_from, self.valid_to, self.ended_by, as_of)


def holds(
    valid_from: datetime, valid_to: datetime | None, ended_by: Ending | None, as_of: datetime
) -> bool:
    """Whether a fact with this validity is true at a moment, and to be believed."""
    if ended_by in {"retracted", "outranked"} or valid_from > as_of:
        return False
    return valid_to is None or as_of < valid_to


@dataclass(frozen=True, slots=True)
class Said:
    """What an entity's stream, and the sessions it comes from, say."""

    learned: Sequence[Learned] = ()
    retracted: Sequence[Retracted] = ()
    promoted: Sequence[Promoted] = ()

    def known(self, known_at: datetime) -> Said:
        """Return what was recorded up to a moment."""
        return Said(
            [each for each in self.learned if each.recorded_at <= known_at],
            [each for each in self.retracted if each.recorded_at <= known_at],
            [each for each in self.promoted if each.recorded_at <= known_at],
        )


def facts_of(said: Said) -> list[Held]:
    """Return all facts, also those that ended, by attribute and in the order they were said."""
    retractions = _resolved(said)
    slots: defaultdict[tuple[str, str, bytes], list[Learned]] = defaultdict(list)
    for each in _first(_current(said)):
        own = b"" if each.cardinality == "single" else each.value_key
        slots[each.attribute, each.cardinality, own].append(each)
    found: list[Held] = []
    for slot in slots.values():
        slot.sort(key=_place)
        found.extend(_facts_of_slot(slot, retractions))
    return sorted(found, key=lambda fact: (fact.said[0].attribute, *_place(fact.said[0])))


def facts_at(said: Said, as_of: datetime) -> list[Held]:
    """Return the facts that hold at a moment."""
    return [fact for fact in facts_of(said) if fact.holds(as_of)]


def current_facts(said: Said, now: datetime) -> list[Held]:
    """Return the facts that hold now, where the clock of who asks may be behind the broker's."""
    return facts_at(said, max([now, *(each.recorded_at for each in said.learned)]))


def _place(each: Learned) -> tuple[datetime, str, int, str]:
    return each.said_at, each.session_id, each.said_version, each.fact_id


def _current(said: Said) -> Iterator[Learned]:
    """Yield what no newer version of the same extractor has read again."""
    promoted: defaultdict[tuple[str, str], list[Promoted]] = defaultdict(list)
    for each in said.promoted:
        promoted[each.session_id, each.extractor].append(each)
    for fact in said.learned:
        if not any(
            newer.extractor_order > fact.extractor_order
            and newer.through_version >= fact.said_version
            for newer in promoted[fact.session_id, fact.extractor]
        ):
            yield fact


def _first(learned: Iterable[Learned]) -> Iterable[Learned]:
    """Return one of each id: who learned it first does not matter, but who it was."""
    found: dict[str, Learned] = {}
    for each in sorted(
        learned, key=lambda each: (each.extractor, each.extractor_order, each.version)
    ):
        found.setdefault(each.fact_id, each)
    return found.values()


def _resolved(said: Said) -> list[Retracted]:
    """Return the retractions, and for those of facts alone what they mean: slots and values."""
    named: defaultdict[str, list[Learned]] = defaultdict(list)
    for each in said.learned:
        named[each.fact_id].append(each)
    found = list(said.retracted)
    for retracted in said.retracted:
        if retracted.attribute is None:
            found += [
                replace(retracted, attribute=fact.attribute, value_key=fact.value_key)
                for fact in named[retracted.fact_id]
            ]
    return found


def _retracted_at(fact: Learned, retractions: Iterable[Retracted]) -> datetime | None:
    times = [
        each.said_at
        for each in retractions
        if each.fact_id == fact.fact_id
        or (
            each.attribute == fact.attribute
            and each.value_key in {None, fact.value_key}
            and fact.said_at <= each.said_at
        )
    ]
    return min(times, default=None)


@dataclass(slots=True)
class _Row:
    """A statement of a slot, and what becomes of it."""

    said: Learned
    rank: int
    retracted_at: datetime | None
    next_from: datetime | None = None  # of the first that ends it
    ends_at: datetime | None = None
    is_outranked: bool = False


def _facts_of_slot(slot: Sequence[Learned], retractions: Sequence[Retracted]) -> Iterator[Held]:
    rows = [_Row(each, RANKS[each.author_role], _retracted_at(each, retractions)) for each in slot]
    is_single = slot[0].cardinality == "single"
    for place, row in enumerate(rows):
        if is_single:
            later = [each.said.valid_from for each in rows[place + 1 :] if each.rank >= row.rank]
            row.next_from = min(later, default=None)
        row.ends_at = _earliest(row.said.valid_to, row.next_from, row.retracted_at)
    for place, row in enumerate(rows):
        row.is_outranked = is_single and any(
            each.rank > row.rank and (each.ends_at is None or each.ends_at > row.said.valid_from)
            for each in rows[:place]
        )
    yield from map(_merged, _runs([row for row in rows if not row.is_outranked]))
    for row in rows:
        if row.is_outranked:
            begins_at = row.said.valid_from
            yield Held((row.said,), begins_at, begins_at, "outranked", row.retracted_at)


def _runs(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """Part rows where another value comes, a retraction was between, or it had ended."""
    run = list(rows[:1])
    for before, row in pairwise(rows):
        had_ended = before.said.valid_to is not None and before.said.valid_to < row.said.valid_from
        is_same = before.said.value_key == row.said.value_key
        if had_ended or not is_same or before.retracted_at != row.retracted_at:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _merged(run: Sequence[_Row]) -> Held:
    begins_at, last = min(row.said.valid_from for row in run), run[-1]
    ends_at = None if last.ends_at is None else max(last.ends_at, begins_at)
    ended_by: Ending | None = None
    if last.retracted_at is not None:
        ended_by = "retracted"
    elif last.ends_at is not None:
        ended_by = "superseded" if last.ends_at == last.next_from else "said"
    said = tuple(row.said for row in run)
    return Held(said, begins_at, ends_at, ended_by, last.retracted_at)


def _earliest(*times: datetime | None) -> datetime | None:
    return min((time for time in times if time is not None), default=None)
