"""What a session says of each entity: candidates as events, and those that are refused.

Pure. An event follows from what was said alone: whoever promotes again makes the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from pydantic import ValidationError

from agentjournal.errors import AppendRejected
from agentjournal.events import Evidence, Extractor, FactLearned, FactRetracted
from agentjournal.ids import StreamId, parse_stream, stream_id
from agentjournal.memory.candidates import Candidate, Extraction, Refused, Statement
from agentjournal.memory.entity_reading import EntityReading
from agentjournal.memory.fact_events import (
    ANY_VALUE,
    MAX_FACT_BYTES,
    fact_id_of,
    retraction,
    this_alone,
)
from agentjournal.memory.session_reading import Reading
from agentjournal.memory.statements import Gone

FactEvent: TypeAlias = FactLearned | FactRetracted
_Slot: TypeAlias = tuple[str, str, str, str, str]  # of an entity, in an event
_Place: TypeAlias = tuple[int, int]
_APART = timedelta(microseconds=1)
_DELETED = "the session was deleted"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a session says of each entity, and the candidates that are refused."""

    of_entity: Mapping[StreamId, Sequence[FactEvent]] = field(
        default_factory=dict[StreamId, Sequence[FactEvent]]
    )
    refused: Sequence[Refused] = ()


def wanted_of(reading: Reading, extraction: Extraction, extractor: Extractor) -> Wanted:
    """Return what is to be known because of a session, by the streams of its entities.

    A candidate is refused that is about nobody whom the session is about, or whose quote is not
    there, whatever extractor it comes from.
    """
    found: dict[StreamId, dict[str, FactEvent]] = {}
    refused = list(extraction.refused)
    _, tenant, _ = parse_stream(reading.stream)
    about: set[tuple[str, str]] = {(each.kind, each.id) for each in reading.entities}
    for candidate in in_their_order(extraction.candidates):
        reason = _objection(reading, about, candidate)
        made = reason or _made(candidate, tenant, extractor)
        if isinstance(made, str):
            refused.append(Refused(made, candidate.quote, candidate.statement))
        else:
            stream, event = made
            found.setdefault(stream, {}).setdefault(event.fact_id, event)
    wanted = {stream: tuple(events.values()) for stream, events in found.items()}
    return Wanted(wanted, refused)


def in_their_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates of which those of one slot in one message were said one after the other.

    Each was said a microsecond after the one that stands before it: times of the log are whole
    milliseconds, so it still comes before whatever was said after the message.
    """
    places: dict[_Slot, set[_Place]] = {}
    for each in candidates:
        places.setdefault(_slot_of(each), set()).add(_place_of(each))
    return [
        _said_later(each, sum(place < _place_of(each) for place in places[_slot_of(each)]))
        for each in candidates
    ]


def _slot_of(candidate: Candidate) -> _Slot:
    entity, said = candidate.entity, candidate.statement
    return entity.kind, entity.id, candidate.attribute, said.session_id, said.event_id


def _place_of(candidate: Candidate) -> _Place:
    """Return where in the message it stands, and where in its quote the value does."""
    quote, value = candidate.quote, candidate.value
    within = quote.casefold().rfind(value.casefold()) if isinstance(value, str) else -1
    return candidate.statement.text.find(quote), within


def _said_later(candidate: Candidate, places: int) -> Candidate:
    if not places:
        return candidate
    said = candidate.statement
    at = datetime.fromisoformat(said.at) + places * _APART
    return replace(candidate, statement=replace(said, at=at.isoformat()))


def streams_of_gone(reading: Reading) -> list[StreamId]:
    """Return the streams that may hold what a message had taught that is gone, or all of it."""
    _, tenant, _ = parse_stream(reading.stream)
    is_any = bool(reading.gone or reading.deleted)
    return [stream_id(each.kind, tenant, each.id) for each in reading.ever if is_any]


def without_gone(
    wanted: Wanted, reading: Reading, known: Mapping[StreamId, EntityReading]
) -> Wanted:
    """Return what is wanted, and that facts are taken back whose message counts no longer.

    Each is taken back alone: the same that was said elsewhere holds. What an earlier promotion has
    taken back is not wanted again.
    """
    gone = {each.event_id: each for each in reading.gone}
    found = dict(wanted.of_entity)
    for stream in streams_of_gone(reading):
        back = _taken_back(reading, known[stream], gone)
        if back:
            found[stream] = (*found.get(stream, ()), *back)
    return replace(wanted, of_entity=found)


def all_gone(reading: Reading, known: Mapping[StreamId, EntityReading]) -> Wanted:
    """Return that all is taken back that a deleted session had taught.

    As one that is gone with its message, each fact is taken back alone.
    """
    found: dict[StreamId, Sequence[FactEvent]] = {}
    if (deleted := reading.deleted) is not None:
        by = Gone("", deleted.event_id, deleted.version, deleted.at, _DELETED)
        for stream in streams_of_gone(reading):
            there = _retracted_in(known[stream])
            facts = [each for each, _ in _taught_by(reading, known[stream])]
            back = {
                each.fact_id: _back(each, by, reading)
                for each in facts
                if each.fact_id not in there
            }
            found[stream] = tuple(back.values())
    return Wanted(found)


def _taken_back(
    reading: Reading, known: EntityReading, gone: Mapping[str, Gone]
) -> list[FactRetracted]:
    there = _retracted_in(known)
    found: dict[str, FactRetracted] = {}
    for fact, source in _taught_by(reading, known):
        by = gone.get(source.event_id)
        if by is None or (by.version <= reading.promoted and fact.fact_id in there):
            continue
        found[fact.fact_id] = _back(fact, by, reading)
    return list(found.values())


def _retracted_in(known: EntityReading) -> set[str]:
    return {each.fact_id for each in known.retractions}


def _taught_by(reading: Reading, known: EntityReading) -> Iterator[tuple[FactLearned, Evidence]]:
    """Yield the facts that a session has taught, with what they were said in."""
    for fact in (each.fact for each in known.facts):
        source = fact.evidence[0] if fact.evidence else None
        if source is not None and source.session_id == reading.session_id:
            yield fact, source


def _back(fact: FactLearned, by: Gone, reading: Reading) -> FactRetracted:
    told = Evidence(session_id=reading.session_id, event_id=by.by_event_id, version=by.version)
    return retraction(
        fact.attribute,
        this_alone(fact.fact_id, fact.value),
        fact_id=fact.fact_id,
        said_at=by.at,
        reason=by.reason,
        by="promoter",
        evidence=[told],
    )


def _objection(
    reading: Reading, about: Collection[tuple[str, str]], candidate: Candidate
) -> str | None:
    said = (candidate.statement, *candidate.others)
    if any(each.session_id != reading.session_id for each in said):
        return "another session"
    if (candidate.entity.kind, candidate.entity.id) not in about:
        return "another entity"
    if not candidate.quote or all(candidate.quote not in each.text for each in said):
        return "no quote"
    return None


def _made(
    candidate: Candidate, tenant: str, extractor: Extractor
) -> tuple[StreamId, FactEvent] | str:
    """Return what says so, and in which stream, or why nothing can."""
    try:
        made = _retracted(candidate) if candidate.retracts else _learned(candidate, extractor)
        stream = stream_id(candidate.entity.kind, tenant, candidate.entity.id)
        size = len(made.encoded())
    except (ValidationError, AppendRejected):
        return "not valid"
    return (stream, made) if size <= MAX_FACT_BYTES else "too large"


def _learned(candidate: Candidate, extractor: Extractor) -> FactLearned:
    said = candidate.statement
    return FactLearned(
        fact_id=_id_of(candidate, candidate.attribute),
        kind=candidate.kind,
        attribute=candidate.attribute,
        value=candidate.value,
        cardinality=candidate.cardinality,
        quote=candidate.quote,
        evidence=_evidence(candidate),
        author_role=said.role,
        confidence=candidate.confidence,
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        said_at=None if candidate.valid_from == said.at else said.at,
        extractor=extractor,
    )


def _retracted(candidate: Candidate) -> FactRetracted:
    said = candidate.statement
    return retraction(
        candidate.attribute,
        ANY_VALUE if candidate.value is None else candidate.value,
        fact_id=_id_of(candidate, f"retracted {candidate.attribute}"),
        said_at=said.at,
        reason=candidate.quote,
        by=said.role,
        evidence=_evidence(candidate),
    )


def _id_of(candidate: Candidate, attribute: str) -> str:
    said = candidate.statement
    return fact_id_of(candidate.entity, said.session_id, said.event_id, attribute, candidate.value)


def _evidence(candidate: Candidate) -> list[Evidence]:
    said: Sequence[Statement] = (candidate.statement, *candidate.others)
    return [
        Evidence(session_id=each.session_id, event_id=each.event_id, version=each.version)
        for each in {each.event_id: each for each in said}.values()
    ]
