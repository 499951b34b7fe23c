"""Sessions in which anything may happen, in any order, as their writers' events."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agentjournal import (
    Cost,
    Event,
    MessageAdded,
    MessageRetracted,
    ModelCalled,
    SessionEnded,
    SessionResumed,
    SessionUpdated,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

calls = st.sampled_from(["c-1", "c-2"])
attempts = st.integers(1, 3)
turns = st.sampled_from(["t-1", "t-2"])
outputs = st.sampled_from(["one", "two"])
failures = st.sampled_from(
    [
        ToolFailure(type="timeout", message="late", retryable=True),
        ToolFailure(type="error", message="wrong", retryable=False),
    ]
)


def asking(call_id: str) -> MessageAdded:
    part = ToolCallPart(call_id=call_id, name="asked", arguments_text="{}")
    return MessageAdded(role="assistant", parts=[TextPart(text="wait"), part])


def starting(call_id: str, attempt: int) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="started",
        arguments_text="[]",
        arguments_digest="d",
        effect="read",
        idempotency_key=f"k-{attempt}",
        attempt=attempt,
        lease_s=1,
    )


def settling(call_id: str, output: str, error: ToolFailure | None) -> ToolSettled:
    outcome: Any = "completed" if error is None else "failed"
    return ToolSettled(
        call_id=call_id, outcome=outcome, output=output, error=error, settled_by="verifier"
    )


events: st.SearchStrategy[Event] = st.one_of(
    calls.map(asking),
    st.builds(starting, calls, attempts),
    st.builds(
        ToolCompleted, call_id=calls, attempt=attempts, output=outputs, duration_ms=st.just(1)
    ),
    st.builds(ToolFailed, call_id=calls, attempt=attempts, error=failures),
    st.builds(settling, calls, outputs, st.none() | failures),
    turns.map(lambda turn: TurnStarted(turn_id=turn, trigger="user", input_versions=[])),
    turns.map(lambda turn: TurnEnded(turn_id=turn, reason="completed")),
    st.sampled_from(["m-1", "m-2"]).map(
        lambda m: MessageAdded(role="user", content=m, message_id=m)
    ),
    st.sampled_from(["m-1", "m-2"]).map(lambda m: MessageRetracted(message_id=m, reason="r")),
    st.sampled_from(
        [SessionEnded(reason=None), SessionResumed(worker=None), SessionUpdated(title="new")]
    ),
)


def each_message_once(given: list[Event]) -> list[Event]:
    """Leave out messages under an id that was used: no writer makes two of them."""
    seen: set[str] = set()
    kept: list[Event] = []
    for each in given:
        if isinstance(each, MessageAdded):
            if each.message_id in seen:
                continue
            seen.add(each.message_id)
        kept.append(each)
    return kept


_amounts = st.sampled_from(["0.1", "0.2", "-3", "9" * 30, "0." + "0" * 29 + "1", "1.10"])


def _model_called(call_id: str, tokens: int, amount: str | None, duration_ms: float) -> ModelCalled:
    cost = None if amount is None else Cost(amount=amount, currency="EUR", source="provider")
    return ModelCalled(
        model_call_id=call_id,
        provider="p",
        request_model="gpt",
        input_tokens=tokens,
        output_tokens=1,
        duration_ms=duration_ms,
        status="completed",
        cost=cost,
    )


model_calls: st.SearchStrategy[Event] = st.builds(
    _model_called,
    st.sampled_from(["mc-1", "mc-2"]),
    st.integers(0, 9),
    st.none() | _amounts,
    st.sampled_from([1, 0.5, 2**63 - 1]),
)
odd_messages: st.SearchStrategy[Event] = st.text(
    st.sampled_from("a\0\ud800é😀\n\\\"'"), max_size=6
).map(lambda text: MessageAdded(role="user", content=text))
