"""A session's events as a conversation to read: what was said and done, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from agentjournal.envelope import Recorded
from agentjournal.events import (
    Event,
    MessageAdded,
    MessageRetracted,
    ModelCalled,
    ToolCompleted,
    ToolFailed,
    ToolSettled,
    ToolStarted,
)
from agentjournal.state import Message, SessionState

CallEvent: TypeAlias = ToolStarted | ToolCompleted | ToolFailed | ToolSettled

# The header tells of the first; the others tell how work was guarded, not what was said.
_UNSHOWN = frozenset({"session.started", "lease.acquired", "lease.renewed", "lease.released"})


@dataclass(frozen=True, slots=True)
class Said:
    """A message, and the calls it asks for that no earlier one did."""

    message: Message
    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Began:
    """A tool call that no message asked for, where a worker began it."""

    call_id: str


@dataclass(frozen=True, slots=True)
class Happened:
    """Any other event."""

    event: Event
    recorded: Recorded


Entry: TypeAlias = Said | Began | Happened


@dataclass(slots=True)
class CallTimes:
    """When a tool call went on, by the broker's clock."""

    started_at: str | None = None
    lease_s: float | None = None
    duration_ms: float | None = None


@dataclass(slots=True)
class Transcript:
    """The conversation up to the version of `state`, and what it took."""

    state: SessionState
    started_at: str = ""
    last_at: str = ""
    entries: list[Entry] = field(default_factory=list[Entry])
    retracted: set[str] = field(default_factory=set[str])  # message ids
    times: dict[str, CallTimes] = field(default_factory=dict[str, CallTimes])
    model_calls: dict[str, ModelCalled] = field(default_factory=dict[str, ModelCalled])
    answered_calls: set[str] = field(default_factory=set[str])  # of the model, with a message
    input_tokens: int = 0
    output_tokens: int = 0
    costs: dict[str, Decimal] = field(default_factory=dict[str, Decimal])  # by currency
    _placed: set[str] = field(default_factory=set[str])  # calls that have an entry

    def apply(self, recorded: Recorded) -> None:
        """Take the next event of the session."""
        self.state.apply(recorded)
        self.started_at = self.started_at or recorded.recorded_at
        self.last_at = recorded.recorded_at
        event = recorded.event
        match event:
            case MessageAdded():
                self._said(event, recorded)
            case ToolStarted() | ToolCompleted() | ToolFailed() | ToolSettled():
                self._called(event, recorded)
            case MessageRetracted(message_id=message_id):
                self.retracted.add(message_id)
            case ModelCalled():
                self.model_calls[event.model_call_id] = event
                self._count(event)
                self.entries.append(Happened(event, recorded))
            case _ if recorded.type not in _UNSHOWN:
                self.entries.append(Happened(event, recorded))
            case _:
                pass

    def _said(self, event: MessageAdded, recorded: Recorded) -> None:
        asked = dict.fromkeys(part.call_id for part in event.tool_calls)
        new = tuple(call_id for call_id in asked if call_id not in self._placed)
        self._placed.update(new)
        message = Message(
            event.message_id,
            event.role,
            event.parts,
            recorded.version,
            recorded.recorded_at,
            self.state.turn_id,
            event.name,
            event.model_call_id,
            event.status,
            recorded.tokens,
        )
        self.entries.append(Said(message, new))
        if event.model_call_id is not None:
            self.answered_calls.add(event.model_call_id)

    def _called(self, event: CallEvent, recorded: Recorded) -> None:
        if event.call_id not in self._placed:
            self._placed.add(event.call_id)
            self.entries.append(Began(event.call_id))
        call = self.state.calls[event.call_id]
        if isinstance(event, ToolStarted):
            if call.started_version == recorded.version:
                self.times[event.call_id] = CallTimes(recorded.recorded_at, event.lease_s)
        elif call.ended_version == recorded.version:  # a later outcome changes nothing
            times = self.times.setdefault(event.call_id, CallTimes())
            if isinstance(event, ToolCompleted):
                times.duration_ms = event.duration_ms
            else:
                times.duration_ms = _between(times.started_at, recorded.recorded_at)

    def _count(self, called: ModelCalled) -> None:
        self.input_tokens += called.input_tokens
        self.output_tokens += called.output_tokens
        if called.cost is not None:
            spent = self.costs.get(called.cost.currency, Decimal(0))
            self.costs[called.cost.currency] = spent + Decimal(called.cost.amount)


def _between(began: str | None, ended: str) -> float | None:
    if began is None:
        return None
    passed = datetime.fromisoformat(ended) - datetime.fromisoformat(began)
    return passed.total_seconds() * 1_000
