"""What of an imported session is not in the log yet, and in which batches it is appended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from importers.imported import FIELDS, MISSING, ImportedEvent

MAX_BATCH_EVENTS = 100
MAX_BATCH_BYTES = 400_000


@dataclass(frozen=True, slots=True)
class Held:
    """An event that the stream holds, in the order of its versions from 1."""

    id: str
    type: str


@dataclass(frozen=True, slots=True)
class Differs:
    """The stream holds something else from `version` on."""

    version: int


def remaining(
    events: Sequence[ImportedEvent], held: Sequence[Held]
) -> Sequence[ImportedEvent] | Differs:
    """Return the events that `held` lacks.

    `Differs` when events that have a place in the order are missing, and the stream holds others
    where they belong: it is another session, or somebody went on with it.
    """
    there = {each.id for each in held}
    rest = [event for event in events if event.id not in there]
    ours = [event.id for event in events if not event.aside]
    asides = {event.id for event in events if event.aside}
    if all(event.aside for event in rest):
        return rest
    matched = 0
    for version, each in enumerate(held, start=1):
        if matched < len(ours) and each.id == ours[matched]:
            matched += 1
        elif each.id not in asides and each.type not in {FIELDS, MISSING}:
            return Differs(version)
    return rest


def batches(events: Sequence[ImportedEvent]) -> Iterator[list[ImportedEvent]]:
    """Yield the events in batches of one append each; one that is larger goes alone."""
    batch: list[ImportedEvent] = []
    size = 0
    for event in events:
        full = len(batch) == MAX_BATCH_EVENTS or size + len(event.data) > MAX_BATCH_BYTES
        if batch and full:
            yield batch
            batch, size = [], 0
        batch.append(event)
        size += len(event.data)
    if batch:
        yield batch
