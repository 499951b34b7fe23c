"""Building blocks for tests of the core: requests as they stand in the log, and what folds them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from agentjournal.codec import encode
from agentjournal.envelope import Recorded, parse_record
from agentjournal.events import Event, MessageAdded
from agentjournal.ids import Milliseconds, Partition, Position, StreamId, stream_id
from agentjournal.partitions import partition_of
from agentjournal.receipts import Receipt, Refusal
from agentjournal.requests import NewEvent, Request
from streams.decide import Input, Outcome, decide
from streams.head import Head
from streams.partition_fold import Stored
from streams.rules import rules_1

RULES = rules_1()
BEGAN_MS = 1_769_860_800_000  # 2026-01-31T12:00:00Z

_ids = count(1)


def event(event_type: str, /, **fields: Any) -> NewEvent:
    """Return an event with an id of its own; `fields` are its data."""
    return NewEvent(f"id-{next(_ids)}", event_type, encode(fields))


def typed(made: Event) -> NewEvent:
    """Return an event of a model with an id of its own."""
    return NewEvent(f"id-{next(_ids)}", made.type, made.encoded(), made.schema_version)


def said(text: str, role: str = "user", message_id: str | None = None) -> NewEvent:
    """Return a message of one text part."""
    parts = [{"type": "text", "text": text}]
    named = message_id or f"m-{next(_ids)}"
    return event("message.added", message_id=named, role=role, parts=parts, status="complete")


def started(user: str | None = None, **fields: Any) -> NewEvent:
    """Return the start of a session."""
    whose = {"user": user} if user else {}
    return event("session.started", agent="agent", labels={}, entities=[], **whose, **fields)


def message(text: str) -> MessageAdded:
    """Return what a user says; the same words have the same id."""
    return MessageAdded(role="user", content=text, message_id=f"m-{text[:200]}")


def request(*events: NewEvent, **fields: Any) -> Request:
    """Return a request with an append id of its own, which asks for its answer on `inbox`."""
    given: dict[str, Any] = {
        "append_id": f"append-{next(_ids)}",
        "source": "/default/agent",
        "reply_to": "inbox",
    }
    return Request(events=list(events), **{**given, **fields})


def place_of(stream: StreamId) -> Partition:
    """Return the partition that the rules give a stream."""
    return partition_of(stream.encode(), RULES.partitions)


def session_in(partition: int, number: int = 0, tenant: str = "default") -> StreamId:
    """Return the `number`-th session that lives in a partition."""
    return _stream_in(partition, number, "session", tenant)


def task_in(partition: int, number: int = 0, tenant: str = "default") -> StreamId:
    """Return the `number`-th task that lives in a partition."""
    return _stream_in(partition, number, "task", tenant)


def _stream_in(partition: int, number: int, kind: str, tenant: str) -> StreamId:
    found = (stream_id(kind, tenant, f"s-{n}") for n in count())
    matching = (stream for stream in found if place_of(stream) == partition)
    return next(stream for n, stream in enumerate(matching) if n == number)


def given(
    stream: StreamId, asked: Request | bytes | None, position: int = 0, at_ms: int | None = None
) -> Input:
    """Return the record of `appends` that a request becomes, a second after the one before."""
    time = Milliseconds(BEGAN_MS + position * 1_000 if at_ms is None else at_ms)
    value = asked.encoded() if isinstance(asked, Request) else asked
    return Input(Position(position), time, stream.encode(), value)


class Stream:
    """One stream under the fold: each request is decided on what the earlier ones left."""

    def __init__(self, stream: StreamId | None = None) -> None:
        self.stream = stream or stream_id("session", "default", "s-1")
        self.partition = place_of(self.stream)
        self.head: Head | None = None
        self.position = 0
        self.records: list[bytes] = []

    def ask(self, asked: Request | bytes | None, at_ms: int | None = None) -> Outcome:
        """Return the outcome of the stream's next request."""
        record = given(self.stream, asked, self.position, at_ms)
        outcome = decide(RULES, self.partition, record, self.head)
        self.head, self.position = outcome.head, self.position + 1
        self.records.extend(outcome.records)
        return outcome

    def accept(self, asked: Request, at_ms: int | None = None) -> Receipt:
        """Return the receipt of a request that is not refused.

        Where it says that the session expires, it says of which version.
        """
        if any(each.type == "session.expired" for each in asked.events):
            asked = asked._replace(expected_version=self.head.version if self.head else 0)
        outcome = self.ask(asked, at_ms)
        assert outcome.answer is not None, outcome
        assert isinstance(outcome.answer.outcome, Receipt), outcome.answer
        return outcome.answer.outcome

    def refuse(self, asked: Request) -> Refusal:
        """Return the refusal of a request: nothing is recorded, and the head stays as it was."""
        before = self.head
        outcome = self.ask(asked)
        assert outcome.answer is not None, outcome
        assert isinstance(outcome.answer.outcome, Refusal), outcome.answer
        assert outcome.records == ()
        assert outcome.head == before
        return outcome.answer.outcome

    @property
    def recorded(self) -> list[Recorded]:
        """The events that the stream has come to."""
        return [parse_record(record, self.partition) for record in self.records]


def stored(records: Sequence[tuple[bytes, bytes]], first: int = 0) -> list[Stored]:
    """Return (key, record) pairs as they stand in `events` from position `first` on."""
    return [Stored(Position(at), key, record) for at, (key, record) in enumerate(records, first)]
