"""Labelled sessions: what happened, what of it is worth keeping, and what is a trap.

A file is a case: the sessions of one person or project, in order, with the facts that a careful
reader would keep. `docs/evaluation.md` has the form and the rules of labelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

Op: TypeAlias = Literal["add", "supersede", "retract"]
Part: TypeAlias = Literal["tuning", "measured"]

FOLDER = Path(__file__).parent / "sessions"


class BadLabels(ValueError):
    """A file of labels contradicts itself: mend the file at the place that is named."""

    def __init__(self, case: str, place: str, reason: str) -> None:
        super().__init__(f"{case}: {place}: {reason}")


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of a session, as the log has it."""

    event_id: str
    at: str  # ISO 8601
    type: str
    data: Mapping[str, Any]

    @property
    def text(self) -> str:
        """All that was said in it, which quotes are looked for in."""
        return "\n".join(_texts(self.data))


@dataclass(frozen=True, slots=True)
class Gold:
    """A fact that a careful reader would keep.

    `accept`: other ways to write the value that are as good. `also`: other entities of the session
    that it may be kept for as well (what a tool did in a project, say). `optional`: a fact that
    may be kept or not, which counts neither for nor against. A retraction of no value closes the
    whole slot.
    """

    entity: str
    kind: str
    attribute: str
    value: Any
    op: Op
    valid_from: str
    evidence: tuple[str, ...]
    quote: str
    cardinality: Literal["single", "multiple"] = "single"
    accept: tuple[Any, ...] = ()
    also: tuple[str, ...] = ()
    optional: bool = False


class Distractor(NamedTuple):
    """A value that looks like a fact of this entity and is none, and why."""

    value: str
    event_id: str
    why: str


class Entity(NamedTuple):
    """Whom a session is about."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class LabelledSession:
    """A session with its labels."""

    session_id: str
    entities: tuple[Entity, ...]
    events: tuple[Happened, ...]
    facts: tuple[Gold, ...]
    noise: frozenset[str]
    distractors: tuple[Distractor, ...]


@dataclass(frozen=True)
class Case:
    """The sessions of one person or project, in the order in which they came in."""

    name: str
    domain: str
    author: str
    sessions: tuple[LabelledSession, ...]
    final_state: Mapping[str, tuple[Any, ...]]  # entity and attribute to the values that hold

    @cached_property
    def facts(self) -> tuple[Gold, ...]:
        """The labels of all sessions, in the order of validity: a late import stands early."""
        every = (fact for session in self.sessions for fact in session.facts)
        return tuple(sorted(every, key=lambda fact: fact.valid_from))

    @cached_property
    def events(self) -> Mapping[str, Happened]:
        """Every event by its id."""
        return {event.event_id: event for session in self.sessions for event in session.events}

    @cached_property
    def noise(self) -> frozenset[str]:
        """Events that nothing may be learned from."""
        return frozenset[str]().union(*(session.noise for session in self.sessions))

    @cached_property
    def scratch(self) -> frozenset[str]:
        """Scratchpad and progress: events that no agent's user ever saw."""
        kinds = ("note.", "custom.progress", "plan.", "step.")
        return frozenset(key for key, event in self.events.items() if event.type.startswith(kinds))

    @cached_property
    def distractors(self) -> tuple[Distractor, ...]:
        """The traps of all sessions."""
        return tuple(trap for session in self.sessions for trap in session.distractors)


def slot(entity: str, attribute: str) -> str:
    """Return what `final_state` names a slot by."""
    return f"{entity} {attribute}"


def load(part: Part, folder: Path = FOLDER) -> list[Case]:
    """Return the cases of a part, by name; raises `BadLabels` where a label points nowhere."""
    return [
        case_of(path.stem, path.read_bytes()) for path in sorted((folder / part).glob("*.json"))
    ]


def case_of(name: str, raw: bytes) -> Case:
    """Return the case that a file holds, checked."""
    try:
        case = _case(name, orjson.loads(raw))
    except (KeyError, TypeError, orjson.JSONDecodeError) as error:
        raise BadLabels(name, "the file", f"{type(error).__name__}: {error}") from error
    for place, reason in _contradictions(case):
        raise BadLabels(name, place, reason)
    return case


def _case(name: str, raw: Mapping[str, Any]) -> Case:
    return Case(
        name=name,
        domain=raw["domain"],
        author=raw["author"],
        sessions=tuple(_session(each) for each in raw["sessions"]),
        final_state={
            slot(each["entity"], each["attribute"]): tuple(each["values"])
            for each in raw["final_state"]
        },
    )


def _session(raw: Mapping[str, Any]) -> LabelledSession:
    return LabelledSession(
        session_id=raw["session_id"],
        entities=tuple(Entity(each["kind"], each["id"]) for each in raw["entities"]),
        events=tuple(Happened(**each) for each in raw["events"]),
        facts=tuple(_gold(each) for each in raw["facts"]),
        noise=frozenset(raw["noise"]),
        distractors=tuple(Distractor(**each) for each in raw["distractors"]),
    )


def _gold(raw: Mapping[str, Any]) -> Gold:
    lists = ("evidence", "accept", "also")
    given: dict[str, Any] = {
        key: tuple(value) if key in lists else value for key, value in raw.items()
    }
    return Gold(**given)


def _contradictions(case: Case) -> Iterable[tuple[str, str]]:
    """Yield (place, reason) for every label that cannot be right."""
    for session in case.sessions:
        known = {event.event_id: event for event in session.events}
        for key in sorted(session.noise - known.keys()):
            yield f"noise {key}", "there is no such event"
        for trap in session.distractors:
            if trap.event_id not in known:
                yield f"distractor {trap.value}", "there is no such event"
        for fact in session.facts:
            place = f"{fact.attribute} = {fact.value}"
            if missing := [key for key in fact.evidence if key not in known]:
                yield place, f"there is no event {missing[0]}"
            elif not any(fact.quote in known[key].text for key in fact.evidence):
                yield place, "no evidence has the quote"
    if (holds := final_state(case.facts)) != dict(case.final_state):
        yield "final_state", f"the facts lead to {holds}"


def final_state(facts: Sequence[Gold]) -> dict[str, tuple[Any, ...]]:
    """Return what holds after these facts, which stand in the order of validity."""
    holds: dict[str, tuple[Any, ...]] = {}
    for fact in facts:
        key = slot(fact.entity, fact.attribute)
        if fact.optional:
            continue
        if fact.op == "retract":
            kept = [each for each in holds.get(key, ()) if fact.value not in (None, each)]
            holds[key] = tuple(kept)
        elif fact.cardinality == "single":
            holds[key] = (fact.value,)
        elif fact.value not in holds.get(key, ()):
            holds[key] = (*holds.get(key, ()), fact.value)
    return holds


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
