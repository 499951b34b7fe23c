"""The read model `conversation`: what is left to do in a session."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    ApprovalDenied,
    ApprovalGranted,
    ConversationRewound,
    Event,
    HandoffCompleted,
    HandoffFailed,
    HandoffRequested,
    InputProvided,
    LeaseAcquired,
    MessageAdded,
    MessageRetracted,
    NoteSet,
    SessionEnded,
    SessionExpired,
    SessionResumed,
    SessionStarted,
    ToolSettled,
    TurnEnded,
    TurnStarted,
)
from agentjournal.events import Failure
from agentjournal.ids import Position
from projections.conversation import CONVERSATION
from projections.folding import Place, ProjectionFold
from projections.rows import Row
from tests.support import BEGAN_MS, Stream, request, typed

NEVER = "9999-12-31T00:00:00Z"
BEGUN = (SessionStarted(agent="support"), LeaseAcquired(holder="w", fence=2, lease_s=60))


def row_of(*events: tuple[Event, bool] | Event | list[Event]) -> Row:
    """Return what is left after these; a list is an append, a pair says whether it was leased."""
    stream = Stream()
    for each in (*BEGUN, *events):
        made, leased = each if isinstance(each, tuple) else (each, False)
        batch = made if isinstance(made, list) else [made]
        at_ms = BEGAN_MS + 100_000 if isinstance(made, SessionExpired) else None
        stream.accept(request(*map(typed, batch), fence=2 if leased else None), at_ms)
    recorded = [r._replace(position=Position(at)) for at, r in enumerate(stream.recorded)]
    fold = ProjectionFold(CONVERSATION)
    fold.places[stream.partition] = Place(Position(0), (-1, -1), "")
    fold.put(fold.missing(recorded), {})
    [row] = fold.fold({stream.partition: recorded}).changes.sorted_rows("work")
    return row


def said(name: str = "m") -> MessageAdded:
    return MessageAdded(role="user", content="hello", message_id=name)


def answer(**more: Any) -> MessageAdded:
    return MessageAdded(role="assistant", content="yes", **more)


def turn(*versions: int, turn_id: str = "t", trigger: Any = "user") -> TurnStarted:
    return TurnStarted(turn_id=turn_id, trigger=trigger, input_versions=list(versions))


def ended(reason: Any = "completed", *, turn_id: str = "t", **more: Any) -> TurnEnded:
    return TurnEnded(turn_id=turn_id, reason=reason, **more)


def test_a_turn_is_open_until_it_ends() -> None:
    row = row_of(said(), turn(3))
    assert (row["turn_id"], row["started_version"], row["ended_version"]) == ("t", 4, 0)
    assert (row["turn_reason"], row["due_at"], row["agent"]) == ("", NEVER, "support")
    row = row_of(said(), turn(3), ended("waiting", resume_at="2026-02-01T00:00:00Z"))
    assert (row["turn_id"], row["started_version"], row["ended_version"]) == ("", 4, 5)
    assert (row["turn_reason"], row["due_at"]) == ("waiting", "2026-02-01T00:00:00Z")
    row = row_of(said(), turn(3), ended("limit"), turn(turn_id="u", trigger="resume"))
    assert (row["turn_id"], row["turn_reason"], row["due_at"]) == ("u", "", NEVER)


def test_the_end_of_another_turn_ends_nothing() -> None:
    row = row_of(turn(), turn(turn_id="u"), ended("waiting", turn_id="t"))
    assert (row["turn_id"], row["ended_version"], row["turn_reason"]) == ("u", 0, "")


@pytest.mark.parametrize(
    ("events", "version"),
    [
        ([], None),
        ([said()], 3),
        ([said("a"), said("b")], 3),
        ([said("a"), said("b"), turn(3)], 4),  # b came before the turn, which knew nothing of it
        ([said("a"), said("b"), turn(4)], 3),
        ([said("a"), said("b"), turn(3, 4)], 0),
        ([said(), turn(3), said("meanwhile"), (answer(), True)], 5),
        ([said(), turn(3), said("meanwhile"), (answer(), True), ended()], 5),
        ([said(), turn(trigger="approval"), (answer(), True)], 3),
        ([said(), MessageRetracted(message_id="m", reason="r")], 0),
        ([said("a"), said("b"), MessageRetracted(message_id="a", reason="r")], 4),
        ([MessageAdded(role="system", content="be kind")], None),
    ],
)
def test_a_message_is_unseen_until_a_turn_names_its_version(
    events: list[Any], version: int | None
) -> None:
    assert row_of(*events).get("unseen_version") == version


def test_a_turn_may_name_messages_of_its_own_append_before_they_come() -> None:
    def together(*versions: int) -> list[Event]:
        return [turn(*versions), said("a"), said("b")]

    assert row_of(together(4, 5)).get("unseen_version") == 0
    assert row_of(together(4))["unseen_version"] == 5
    assert row_of(together(4, 5, 6), said("c"))["unseen_version"] == 6
    assert row_of(together(4, 5))["remaining"] == ""


@pytest.mark.parametrize(
    ("events", "version"),
    [
        ([said(), answer()], 0),
        ([said("a"), answer(), said("b")], 5),
        ([said(), turn(), answer()], 0),  # who has no lease lists nothing
        ([said(), (answer(), True)], 0),  # in no turn
        ([said(), answer(status="incomplete")], 3),
    ],
)
def test_who_answers_under_no_lease_or_in_no_turn_answers_all_there_is(
    events: list[Any], version: int
) -> None:
    assert row_of(*events)["unseen_version"] == version


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        (said("b"), "open"),
        (ApprovalGranted(approval_id="a", by="eva"), "open"),
        (InputProvided(input_id="i", by="eva", value=1), "open"),
        (ToolSettled(call_id="c", outcome="completed", settled_by="person"), "open"),
        (answer(), "expired"),
        (NoteSet(key="k", value=1), "expired"),
    ],
)
def test_an_expired_session_has_work_again_when_somebody_wants_something(
    wanted: Event, status: str
) -> None:
    assert row_of(said("a"), SessionExpired(idle_s=1), wanted)["status"] == status
    assert row_of(said("a"), SessionEnded(), wanted)["status"] == "ended"


def test_after_a_rewind_it_must_be_looked_what_is_left_until_a_turn_names_messages() -> None:
    talk: list[Any] = [said("a"), turn(3), (answer(), True), ended(), said("b")]
    rewound = ConversationRewound(to_version=6, reason="undo")
    row = row_of(*talk, rewound)
    assert (row["unseen_version"], row["rewound_version"]) == (0, 8)
    kept = row_of(*talk, ConversationRewound(to_version=7, reason="undo"))
    assert (kept["unseen_version"], kept["rewound_version"]) == (7, 8)
    assert row_of(*talk, rewound, rewound)["rewound_version"] == 9
    afterwards: list[tuple[Event, int]] = [
        (turn(trigger="approval", turn_id="u"), 8),
        (turn(3, turn_id="u"), 0),
        (answer(), 0),
    ]
    for after, left in afterwards:
        assert row_of(*talk, rewound, after)["rewound_version"] == left


@pytest.mark.parametrize(
    "event",
    [
        ApprovalGranted(approval_id="a", by="u"),
        ApprovalDenied(approval_id="a", by="u"),
        InputProvided(input_id="i", by="u", value=1),
        HandoffCompleted(handoff_id="h", summary="done"),
        HandoffFailed(handoff_id="h", error=Failure(message="no")),
    ],
)
def test_an_answer_is_noted_by_its_version(event: Event) -> None:
    assert row_of(said(), turn(3), ended("waiting"), event)["answer_version"] == 6


def test_a_call_that_is_settled_from_elsewhere_is_noted_by_its_version() -> None:
    settled = ToolSettled(call_id="c", outcome="completed", output="x", settled_by="person")
    assert row_of(settled)["settled_version"] == 3


def test_a_session_is_worked_on_by_whom_it_was_transferred_to_last_and_who_did_not_fail() -> None:
    def to(agent: str, mode: Any = "transfer") -> HandoffRequested:
        return HandoffRequested(handoff_id=f"to-{agent}", mode=mode, to_agent=agent, task="go on")

    def failed(agent: str) -> HandoffFailed:
        return HandoffFailed(handoff_id=f"to-{agent}", error=Failure(message="no"))

    assert row_of(to("helper", "delegate")).get("to_agent") is None
    assert row_of(to("a"), to("b"))["to_agent"] == "b"
    assert row_of(to("a"), to("b"), failed("b"))["to_agent"] == "a"
    assert row_of(to("a"), to("b"), failed("b"), failed("a"))["to_agent"] == ""
    assert row_of(to("a"), to("b"), failed("a"))["to_agent"] == "b"


def test_what_was_handed_to_another_agent_is_noted_by_its_version() -> None:
    task = HandoffRequested(handoff_id="h", mode="delegate", to_agent="b", task="look it up")
    assert row_of(task)["handed_version"] == 3


def test_a_session_has_the_status_that_it_came_to() -> None:
    assert row_of(SessionEnded())["status"] == "ended"
    assert row_of(SessionEnded(), SessionResumed())["status"] == "open"


steps = st.lists(
    st.one_of(
        st.just("said"),
        st.tuples(st.just("retracted"), st.integers(0, 9)),
        st.tuples(st.just("listed"), st.sets(st.integers(3, 20), max_size=4)),
        st.tuples(st.just("answered"), st.booleans()),
        st.just("ended"),
    ),
    max_size=15,
)


@given(steps)
def test_what_is_unseen_is_what_a_list_of_all_messages_says(drawn: list[Any]) -> None:
    events: list[Any] = []
    unseen: dict[int, str] = {}
    names: list[str] = []
    is_open = False
    for at, step in enumerate(drawn):
        version = 3 + at
        match step:
            case "said":
                names.append(f"m-{at}")
                events.append(said(names[-1]))
                unseen[version] = names[-1]
            case ("retracted", int(n)):
                name = names[n % len(names)] if names else "none"
                events.append(MessageRetracted(message_id=name, reason="r"))
                unseen = {v: m for v, m in unseen.items() if m != name}
            case ("listed", listed):
                events.append(turn(*sorted(listed)))
                unseen = {v: m for v, m in unseen.items() if v not in listed}
                is_open = True
            case ("answered", leased):
                events.append((answer(), leased))
                unseen = unseen if leased and is_open else {}
            case _:
                events.append(ended())
                is_open = False
    assert (row_of(*events).get("unseen_version") or 0) == min(unseen, default=0)


def test_of_very_many_unseen_messages_the_first_and_the_last_are_known() -> None:
    row = row_of(*(said(f"m-{n}") for n in range(300)))
    assert row["unseen_version"] == 3
    assert len(row["remaining"]) < 3_000
    seen = turn(*range(3, 303))
    assert row_of(*(said(f"m-{n}") for n in range(300)), seen)["unseen_version"] == 0
    some = turn(*range(3, 102))
    assert row_of(*(said(f"m-{n}") for n in range(300)), some)["unseen_version"] == 302
