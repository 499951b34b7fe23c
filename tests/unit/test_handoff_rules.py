"""What a child session comes to, and what it may do, as pure rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    Constraints,
    Failure,
    HandoffCompleted,
    HandoffFailed,
    MessageAdded,
    ModelCalled,
    Money,
    SessionEnded,
    SessionState,
    TurnEnded,
    TurnStarted,
    Usage,
)
from agentjournal.constraints import broken, refused
from agentjournal.events import Cost, Event
from agentjournal.handoffs import Wanted, handing, handing_off, result_of
from agentjournal.ids import Version, stream_id
from agentjournal.run_state import OwnEvent
from agentjournal.turns import Trigger
from tests.agents import says

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
NOON = "2026-01-31T12:00:00.000Z"
TASK = MessageAdded(role="user", content="Count.", message_id="m")


def state_of(*events: Event, at: str = NOON) -> SessionState:
    """Return what a session has come to by these events, all recorded at one moment."""
    state = SessionState(stream_id("session", "default", "child"))
    for version, event in enumerate(events, 1):
        state.apply(OwnEvent(Version(version), event, at))
    return state


def turn(*said: Event, reason: str | None, turn_id: str = "t") -> list[Event]:
    """Return a turn with what was said in it, and how it ended."""
    trigger: Trigger = "user"
    begun = TurnStarted(turn_id=turn_id, trigger=trigger)
    ended = (
        [] if reason is None else [TurnEnded.model_validate({"turn_id": turn_id, "reason": reason})]
    )
    return [begun, *said, *ended]


def ending(events: list[Event], constraints: Constraints | None = None, at: str = NOON) -> str:
    """Return in words how a session of these events ends its handoff."""
    match result_of(state_of(TASK, *events, at=at), "h", constraints or Constraints()):
        case HandoffCompleted(summary=summary):
            return f"completed: {summary}"
        case HandoffFailed(error=error):
            return f"failed: {error.type}"
        case _:
            return "goes on"


@pytest.mark.parametrize(
    ("events", "ends"),
    [
        ([], "goes on"),
        (turn(reason=None), "goes on"),
        (turn(says("Which?"), reason="waiting"), "goes on"),
        (turn(says("Well"), reason="interrupted"), "goes on"),
        (turn(says("Well"), says("3"), reason="completed"), "completed: 3"),
        (turn(reason="completed"), "completed: "),
        (turn(says("3"), reason="failed"), "failed: failed"),
        (turn(reason="limit"), "failed: limit"),
        ([SessionEnded()], "failed: session_ended"),
        ([*turn(says("3"), reason="completed"), SessionEnded()], "completed: 3"),
        (
            [
                *turn(says("Which?"), reason="waiting"),
                *turn(says("4"), reason="completed", turn_id="u"),
            ],
            "completed: 4",
        ),
    ],
)
def test_a_child_ends_its_handoff_as_its_last_turn_ended(events: list[Event], ends: str) -> None:
    assert ending(events) == ends


def test_a_result_counts_when_it_was_recorded_by_the_deadline() -> None:
    done = turn(says("3"), reason="completed")
    limits = Constraints(deadline_at=NOON)
    assert ending(done, limits, at=NOON) == "completed: 3"
    assert ending(done, limits, at="2026-01-31T12:00:00.001Z") == "failed: constraint_violated"


def test_a_turn_that_goes_on_later_is_not_over() -> None:
    later = TurnEnded(turn_id="t", reason="limit", resume_at=NOON)
    assert ending([*turn(reason=None), later]) == "goes on"
    assert ending([*turn(reason=None), later, SessionEnded()]) == "failed: session_ended"


def test_how_a_turn_failed_is_how_its_handoff_failed() -> None:
    error = Failure(type="timeout", message="no answer")
    failed = TurnEnded(turn_id="t", reason="failed", error=error)
    found = result_of(state_of(TASK, *turn(reason=None), failed), "h", Constraints())
    assert found == HandoffFailed(handoff_id="h", error=error)


costs = st.decimals(0, 10**6, allow_nan=False, places=6)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), costs, st.sampled_from("AB"))))
def test_what_was_used_is_the_sum_of_what_each_call_of_a_model_used(
    calls: list[tuple[int, int, Decimal, str]],
) -> None:
    events = [
        ModelCalled(
            provider="p",
            request_model="m",
            input_tokens=into,
            output_tokens=out,
            cost=Cost(amount=f"{amount:f}", currency=currency * 3, source="client"),
            duration_ms=1,
        )
        for into, out, amount, currency in calls
    ]
    used = state_of(*events).usage
    assert (used.model_calls, used.input_tokens, used.output_tokens) == (
        *(len(calls), sum(each[0] for each in calls)),
        sum(each[1] for each in calls),
    )
    for letter in "AB":
        spent = [amount for _, _, amount, currency in calls if currency == letter]
        assert used.cost.get(letter * 3, Decimal(0)) == sum(spent, Decimal(0))


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "y"]))),
    st.none() | st.integers(0, 3),
    st.none() | st.lists(st.sampled_from(["x", "y"])),
)
def test_no_more_calls_begin_than_may_and_only_of_tools_that_may(
    calls: list[tuple[str, str]], most: int | None, tools: list[str] | None
) -> None:
    limits, begun = Constraints(max_tool_calls=most, tools=tools), set[str]()
    for call_id, tool in calls:
        found = refused(limits, begun, call_id, tool)
        if found is None:
            begun.add(call_id)
            assert tools is None or tool in tools
        else:
            is_full = most is not None and len(begun) == most and call_id not in begun
            assert is_full or (tools is not None and tool not in tools)
    assert most is None or len(begun) <= most


def test_nothing_more_may_be_done_from_the_limit_on() -> None:
    money = Money(amount="0.30", currency="EUR")
    assert broken(Constraints(), Usage(), NOW) is None
    at_noon = Constraints(deadline_at=NOON)
    assert broken(at_noon, Usage(), NOW - timedelta(milliseconds=1)) is None
    cases = [
        (at_noon, Usage(), "deadline_at"),
        (Constraints(max_tokens=7), Usage(input_tokens=5, output_tokens=2), "max_tokens"),
        (Constraints(max_cost=money), Usage(cost={"EUR": Decimal("0.3")}), "max_cost"),
    ]
    for limits, used, name in cases:
        found = broken(limits, used, NOW)
        assert found is not None
        assert found.constraint == name
    below = Usage(input_tokens=6, cost={"EUR": Decimal("0.29"), "USD": Decimal(9)})
    assert broken(Constraints(max_tokens=7, max_cost=money), below, NOW) is None


def test_a_turn_that_waits_goes_on_at_the_first_deadline() -> None:
    state = state_of(TASK, *turn(reason=None))
    later = handing_off(state, Wanted(to_agent="a", task="x", deadline_in_s=60), NOW)
    first, ended = handing(state, later)
    assert isinstance(ended, TurnEnded)
    assert (first, ended.reason, ended.resume_at) == (later, "waiting", "2026-01-31T12:01:00.000Z")
    state.apply(OwnEvent(Version(4), later, NOON))
    sooner = handing_off(state, Wanted(to_agent="a", task="y", deadline_in_s=30), NOW)
    assert handing(state, sooner)[1] == ended.model_copy(
        update={"resume_at": "2026-01-31T12:00:30.000Z"}
    )


@given(st.text(min_size=1), st.text(), st.lists(st.integers() | st.text()), st.text())
def test_the_same_handed_over_has_the_same_ids_and_anything_else_has_others(
    task: str, other: str, context: list[int | str], agent: str
) -> None:
    def ids(**wanted: object) -> tuple[str, str | None]:
        given_ = {"to_agent": "a", "task": task, "context": context, **wanted}
        event = handing_off(state_of(TASK), Wanted(**given_), NOW)  # type: ignore[arg-type]
        return event.handoff_id, event.child_session_id

    assert ids() == ids(max_tokens=3)
    assert (ids() == ids(task=other)) == (task == other)
    assert not set(ids()) & set(ids(context=[*context, agent]))
