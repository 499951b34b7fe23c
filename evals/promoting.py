"""Promotion of labelled sessions in memory: the extractor and the rules of facts, and no server."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from agentjournal.codec import encode
from agentjournal.envelope import Recorded
from agentjournal.events import Entity
from agentjournal.ids import Position, StreamId, Version
from agentjournal.memory.candidates import Candidate, Extraction
from agentjournal.memory.extracting import extract
from agentjournal.memory.rules import Rules, default_rules
from agentjournal.memory.slots import Slots, default_slots
from agentjournal.memory.statements import statements_of
from evals.holding import held
from evals.labelled import Case, LabelledSession
from evals.matching import Learned

TENANT = "evals"


@dataclass(frozen=True, slots=True)
class Promoted:
    """What promotion made of a case, and what it took."""

    learned: list[Learned]
    seconds: list[float] = field(default_factory=list[float])  # a session
    statements: list[int] = field(default_factory=list[int])  # a session


@dataclass(frozen=True, slots=True)
class Extractor:
    """The extractor under test, with the tables that it works by."""

    slots: Slots = field(default_factory=default_slots)
    rules: Rules = field(default_factory=default_rules)

    def read(self, session: LabelledSession) -> tuple[Extraction, int]:
        """Return what the extractor makes of a session, and of how many statements."""
        statements = statements_of(recorded(session))
        entities = [Entity.model_validate(each._asdict()) for each in session.entities]
        return extract(statements, entities, self.slots, self.rules), len(statements)

    def promote(self, case: Case) -> Promoted:
        """Return the facts of a case, its sessions promoted in the order in which they came in."""
        candidates: list[Candidate] = []
        seconds: list[float] = []
        counted: list[int] = []
        for session in case.sessions:
            began = time.perf_counter()
            extraction, statements = self.read(session)
            seconds.append(time.perf_counter() - began)
            counted.append(statements)
            candidates += extraction.candidates
        return Promoted(held(candidates), seconds, counted)


def recorded(session: LabelledSession) -> list[Recorded]:
    """Return a labelled session as its stream in the log."""
    return [
        Recorded(
            stream=StreamId(f"session/{TENANT}/{session.session_id}"),
            version=Version(version),
            type=event.type,
            raw_data=encode(dict(event.data)),
            id=event.event_id,
            source=f"/{TENANT}/assistant",
            schema_version=1,
            data_encoding="json",
            append_id=event.event_id,
            batch_index=0,
            batch_size=1,
            input_position=Position(version),
            recorded_at=event.at,
            rules=1,
            prevhash="",
            hash="",
        )
        for version, event in enumerate(session.events, start=1)
    ]


def invariant(extractor: Extractor, cases: Sequence[Case]) -> dict[str, int]:
    """Return for each way to disturb promotion how many cases then have other facts.

    Replay reads twice; shuffled completes sessions in another order; duplicated delivers every
    session twice; cut appends half of a session's facts before a crash and all of them after it;
    noise leaves out scratchpad and progress.
    """
    differing = Counter[str](dict.fromkeys(("replay", "shuffled", "duplicated", "cut", "noise"), 0))
    for case in cases:
        read = {each.session_id: extractor.read(each)[0].candidates for each in case.sessions}
        straight = [each for found in read.values() for each in found]
        facts = held(straight)
        again = [
            each for session in case.sessions for each in extractor.read(session)[0].candidates
        ]
        halves = [each for found in read.values() for each in found[: len(found) // 2]]
        quiet = [
            each
            for session in case.sessions
            for each in extractor.read(without_noise(case, session))[0].candidates
        ]
        disturbed: dict[str, Sequence[Candidate]] = {
            "replay": again,
            "shuffled": [each for found in reversed(read.values()) for each in found],
            "duplicated": straight + straight,
            "cut": halves + straight,
        }
        differing.update(name for name, each in disturbed.items() if held(each) != facts)
        # Left-out events move versions, so what is compared is what a reader of facts sees.
        differing["noise"] += _seen(held(quiet)) != _seen(facts)
    return dict(differing)


def without_noise(case: Case, session: LabelledSession) -> LabelledSession:
    """Return the session as if its agent had kept no scratchpad and shown no progress."""
    events = tuple(each for each in session.events if each.event_id not in case.scratch)
    return replace(session, events=events)


def _seen(facts: Iterable[Learned]) -> list[tuple[str, str, str, str | None]]:
    return [(each.entity, each.attribute, str(each.value), each.valid_to) for each in facts]
