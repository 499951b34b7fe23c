"""Events of a conversation, and the rows that come of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from agentjournal import (
    Event,
    MessageAdded,
    ModelCalled,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolStarted,
)
from agentjournal.ids import Position
from projections.conversation import CONVERSATION
from projections.folding import Place, ProjectionFold
from projections.rows import Row
from tests.support import Stream, request, typed

BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)
KEY = ("tenant", "session_id")


def rows_of(*events: Event) -> dict[str, list[Row]]:
    """Return the rows of all tables after these events, a second apart, without what is null."""
    stream = Stream()
    for each in events:
        stream.accept(request(typed(each)._replace(tokens=3)))
    recorded = [r._replace(position=Position(at)) for at, r in enumerate(stream.recorded)]
    fold = ProjectionFold(CONVERSATION)
    fold.places[stream.partition] = Place(Position(0), (-1, -1), "")
    fold.put(fold.missing(recorded), {})
    changes = fold.fold({stream.partition: recorded}).changes
    return {
        table.name: [
            {name: value for name, value in row.items() if value is not None and name not in KEY}
            for row in changes.sorted_rows(table.name)
        ]
        for table in CONVERSATION.tables
    }


def only(table: str, *events: Event) -> Row:
    [row] = rows_of(*events)[table]
    return row


def at(second: int) -> str:
    return (BEGAN + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def asking(*call_ids: str) -> MessageAdded:
    calls = [ToolCallPart(call_id=c, name="refund", arguments_text='{"o":1}') for c in call_ids]
    return MessageAdded(role="assistant", parts=[TextPart(text="wait"), *calls], message_id="m-1")


def tool_started(attempt: int = 1, call_id: str = "c-1") -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="refund",
        arguments_text='{"o":1}',
        arguments_digest="d",
        effect="external",
        idempotency_key=f"k-{attempt}",
        attempt=attempt,
        lease_s=60.5,
    )


def tool_completed(attempt: int = 1, output: Any = "done") -> ToolCompleted:
    return ToolCompleted(call_id="c-1", attempt=attempt, output=output, duration_ms=12.5)


def tool_failed(attempt: int = 1) -> ToolFailed:
    error = ToolFailure(type="timeout", message="too late\0", retryable=True)
    return ToolFailed(call_id="c-1", attempt=attempt, error=error)


def model_called(**more: Any) -> ModelCalled:
    fields: dict[str, Any] = {
        "model_call_id": "mc-1",
        "provider": "openai",
        "request_model": "gpt",
        "input_tokens": 10,
        "output_tokens": 4,
        "duration_ms": 7,
        "status": "completed",
    }
    return ModelCalled(**{**fields, **more})
