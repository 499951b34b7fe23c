"""Reading what an entity's stream says already, before more is appended to it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from agentjournal.envelope import Recorded
from agentjournal.events import Evidence, Extractor, FactLearned, FactRetracted
from agentjournal.ids import Version
from agentjournal.memory.fact_events import value_key, version_order
from agentjournal.memory.facts import Learned, Retracted


class Known(NamedTuple):
    """A `fact.learned` as it counts, and as it was written."""

    learned: Learned
    fact: FactLearned


class EntityReading:
    """What was learned of an entity; it takes the events of its stream in their order."""

    def __init__(self) -> None:
        self.version = Version(0)  # of the last event that was taken
        self.facts: list[Known] = []
        self.retractions: list[Retracted] = []
        self._said: set[tuple[str, str, str]] = set()

    def add(self, recorded: Recorded) -> None:
        """Take the next event. Raises EventUnreadable, and then has not taken it."""
        if recorded.type.startswith("fact."):
            self._take(recorded)
        self.version = recorded.version

    def _take(self, recorded: Recorded) -> None:
        match recorded.event:
            case FactLearned() as fact:
                self.facts.append(known_as(fact, recorded.version, recorded.recorded_at))
                by = fact.extractor
                self._said.add((fact.fact_id, by.name, by.version))
            case FactRetracted() as retracted:
                self.retractions.append(retracted_as(retracted, recorded.recorded_at))
                self._said.add((retracted.fact_id, "", ""))
            case _:
                pass

    def says(self, event: FactLearned | FactRetracted, extractor: Extractor) -> bool:
        """Whether this was learned by this version of the extractor, or was retracted by anyone."""
        is_learned = isinstance(event, FactLearned)
        by = (extractor.name, extractor.version) if is_learned else ("", "")
        return (event.fact_id, *by) in self._said


def known_as(fact: FactLearned, version: int, recorded_at: str) -> Known:
    """Return a fact as it counts once it is recorded at `version` of its stream."""
    source: Evidence | None = fact.evidence[0] if fact.evidence else None
    otherwise = recorded_at if source is None else fact.valid_from
    learned = Learned(
        fact_id=fact.fact_id,
        version=version,
        attribute=fact.attribute,
        value_key=value_key(fact.value),
        cardinality=fact.cardinality,
        author_role=fact.author_role,
        confidence=fact.confidence,
        said_at=datetime.fromisoformat(fact.said_at or otherwise),
        session_id="" if source is None else source.session_id,
        said_version=version if source is None else source.version,
        valid_from=datetime.fromisoformat(fact.valid_from),
        valid_to=None if fact.valid_to is None else datetime.fromisoformat(fact.valid_to),
        extractor=fact.extractor.name,
        extractor_order=version_order(fact.extractor.version),
        recorded_at=datetime.fromisoformat(recorded_at),
    )
    return Known(learned, fact)


def retracted_as(event: FactRetracted, recorded_at: str) -> Retracted:
    """Return a retraction as it counts once it is recorded."""
    return Retracted(
        fact_id=event.fact_id,
        attribute=event.attribute,
        value_key=None if event.value is None else value_key(event.value),
        said_at=datetime.fromisoformat(event.said_at or recorded_at),
        recorded_at=datetime.fromisoformat(recorded_at),
    )
