"""One chat session on its way into events: messages, tool results, model calls, in their order.

Chat messages carry no times: `duration_ms` of results and model calls is 0.0 where the file does
not say it, and the events' `time` is absent. A tool's error is plain text in this format, so every
result is `tool.completed`; a call without a result stays open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from agentjournal.errors import AppendRejected
from agentjournal.events import CustomEvent, Event, MessageAdded, rejection
from agentjournal.responses.chat_message import message_event
from agentjournal.responses.chat_parts import as_text
from importers.chat_calls import Calls
from importers.chat_completion import Completion
from importers.chat_message import RESULTS, SPEAKERS, result_event
from importers.identity import content_of
from importers.imported import FIELDS, RECORD
from importers.session_events import Place, SessionEvents

FORMAT = "openai-chat"


class ChatSession:
    """Turns the messages of one session into its events."""

    def __init__(self, events: SessionEvents, title: str | None = None) -> None:
        self.events, self.title = events, title
        self._calls = Calls()
        self._fields: dict[str, bytes] = {}

    def message(self, raw: Any, place: Place, time: str | None = None) -> None:
        """Take the next message, or whatever stands in its place."""
        event_id = self.events.next_id(content_of(raw))
        event = self._event(raw, event_id, place)
        if self.title is None and isinstance(event, MessageAdded) and event.role == "user":
            self.title = event.text
        self.events.add(event_id, event, place, time)

    def completion(self, completion: Completion, place: Place) -> None:
        """Take the answer of a model: its message, and what is known of the call."""
        event_id = self.events.next_id(content_of(completion.message))
        call_id = self.events.next_id(content_of(completion.envelope), ahead=1)
        called = completion.model_called(call_id)
        event = self._event(completion.message, event_id, place)
        if isinstance(event, MessageAdded):
            more: dict[str, Any] = {"status": "incomplete"} if completion.was_cut else {}
            more |= {} if called is None else {"model_call_id": call_id}
            event = event.model_copy(update=more)
        self.events.add(event_id, event, place, completion.time)
        if called is None:
            self.fields({"response": completion.envelope}, place)
        else:
            self.events.add(call_id, called, place, completion.time)
        for choice in completion.other_choices:
            record_id = self.events.next_id(content_of(choice))
            event = self._record(choice, "is another choice of the same response", place)
            self.events.add(record_id, event, place, completion.time)

    def fields(self, fields: Mapping[str, Any], place: Place) -> None:
        """Take what the file says besides messages; what it said already is not kept again."""
        digests = {name: content_of(value) for name, value in fields.items()}
        new = {n: value for n, value in fields.items() if self._fields.get(n) != digests[n]}
        self._fields |= digests
        if new:
            event = CustomEvent(FIELDS, {"format": FORMAT, "fields": new})
            self.events.add_aside(content_of(new), event, place)

    def _event(self, raw: Any, event_id: str, place: Place) -> Event:
        if not isinstance(raw, Mapping):
            return self._record(raw, "is no object", place)
        role = raw.get("role")
        try:
            if role in RESULTS:
                result = result_event(raw, self._calls)
                return result or self._record(raw, "is the result of no open call", place)
            if role in SPEAKERS:
                return message_event(raw, event_id, self._calls.beginning(self.events.index))
        except ValidationError as error:
            return self._record(raw, f"is no message: {rejection(error)}", place)
        except AppendRejected as error:
            return self._record(raw, f"is no message: {error}", place)
        reason = "has no role" if role is None else f"has the unknown role {as_text(role)!r}"
        return self._record(raw, reason, place)

    def _record(self, raw: Any, reason: str, place: Place) -> CustomEvent:
        self.events.report.notes.append(f"{place.words} {reason}: kept as {RECORD}")
        return CustomEvent(RECORD, {"format": FORMAT, "reason": reason, "raw": raw})
