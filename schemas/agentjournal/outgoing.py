"""From typed events to the bytes of a request: checked here, so that errors name the place."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from agentjournal.errors import AppendRejected, RedactionFailed
from agentjournal.estimates import estimated_tokens
from agentjournal.events import BUILT_IN, Event, NoteSet, allowed_on
from agentjournal.events.fields import ID_RULE, is_id
from agentjournal.ids import new_event_id
from agentjournal.offloading import offload, refuse_our_name
from agentjournal.requests import MAX_EVENTS, MAX_REQUEST_BYTES, NewEvent
from agentjournal.stored import written_time

Redact: TypeAlias = Callable[[Event], Event]


def outgoing(
    kind: str,
    events: Event | Sequence[Event],
    redact: Redact | None,
    contents: dict[str, bytes] | None = None,
) -> list[NewEvent]:
    """Return `events` as they go into a request.

    Large values are put into `contents`, by their digests, where it is given: they are to be kept
    in the artifact store before the request is sent. Raises AppendRejected with the path of the
    first fault, like `events[2].data.parts[0].text`.
    """
    batch = [events] if isinstance(events, Event) else list(events)
    if not batch:
        raise AppendRejected("events", "is empty")
    if len(batch) > MAX_EVENTS:
        raise AppendRejected(
            "events", f"has {len(batch)} events, at most {MAX_EVENTS} are one append"
        )
    now = written_time(datetime.now(UTC))
    made = [_one(kind, index, event, redact, now) for index, event in enumerate(batch)]
    if contents is not None:
        made = [_offloaded(event, contents) for event in made]
    check_size(made)
    return made


def _offloaded(event: NewEvent, contents: dict[str, bytes]) -> NewEvent:
    if event.type == NoteSet.type:
        return event  # the cache of notes holds them as they are
    data, taken = offload(event.data, typed=_typed_fields(event.type))
    contents.update(taken)
    return event._replace(data=data) if taken else event


@cache
def _typed_fields(event_type: str) -> frozenset[str]:
    """Return the fields of a type that the log does not take anything for."""
    model = BUILT_IN.get(event_type)
    if model is None:
        return frozenset()
    fields = model.model_fields.items()
    return frozenset(field.alias or name for name, field in fields if field.annotation is not Any)


def check_size(events: Sequence[NewEvent]) -> None:
    """Raise AppendRejected when the events are too large for one request."""
    total = sum(len(event.data) for event in events)
    if total > MAX_REQUEST_BYTES:
        largest = max(range(len(events)), key=lambda index: len(events[index].data))
        raise AppendRejected(
            f"events[{largest}].data",
            f"has {len(events[largest].data):,} bytes of the {total:,} in this append, "
            f"at most {MAX_REQUEST_BYTES:,} are allowed together",
        )


def _one(kind: str, index: int, event: object, redact: Redact | None, now: str) -> NewEvent:
    place = f"events[{index}]"
    if not isinstance(event, Event):
        raise AppendRejected(place, f"is a {type(event).__name__}, not an event")
    written = redacted(event, redact, place)
    if not isinstance(written, Event):
        raise AppendRejected(place, f"was redacted to a {type(written).__name__}, not an event")
    if not written.type:
        name = type(written).__name__
        raise AppendRejected(
            place, f"has no type: agentjournal.register({name}, type='custom.…') gives it one"
        )
    if not allowed_on(written.type, kind):
        raise AppendRejected(f"{place}.type", f"{written.type} does not belong to a {kind} stream")
    try:
        data = written.encoded()
        refuse_our_name(data)
    except AppendRejected as error:
        raise AppendRejected(f"{place}.data.{error.path}", error.reason) from None
    tokens = estimated_tokens(written)
    return NewEvent(new_event_id(), written.type, data, written.schema_version, now, tokens)


def redacted(event: Event, redact: Redact | None, place: str) -> object:
    """Return what `redact` makes of an event: anything, as a caller's function may.

    Raises RedactionFailed when it raises, with nothing of the event in it.
    """
    if redact is None:
        return event
    try:
        return redact(event)
    except Exception as error:  # noqa: BLE001 - whatever it is, it may quote the event
        failure = RedactionFailed(place, event.type, type(error).__name__, _line_of(error))
    raise failure  # here, so that the error is not its context


def _line_of(error: Exception) -> str:
    lines = traceback.extract_tb(error.__traceback__)
    return f"{Path(lines[-1].filename).name}:{lines[-1].lineno}"


def checked_id(name: str, text: str) -> str:
    """Return `text`. Raises AppendRejected when it cannot be an id, or another short attribute."""
    if not is_id(text):
        raise AppendRejected(name, ID_RULE)
    return text


def batch_id(seed: str, index: int, events: Sequence[NewEvent]) -> str:
    """Return an append id that the same content under the same seed always gets."""
    digest = hashlib.sha256(f"{seed}\0{index}".encode())
    for event in events:
        digest.update(f"\0{event.type}\0{event.id}\0".encode() + event.data)
    return f"{seed[:40]}-{digest.hexdigest()[:32]}"
