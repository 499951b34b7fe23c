"""The views of leases and work say what the fold of the log and the client's state say."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal import (
    ApprovalGranted,
    ApprovalRequested,
    ConversationRewound,
    Event,
    HandoffCompleted,
    HandoffRequested,
    InputProvided,
    InputRequested,
    LeaseAcquired,
    MessageAdded,
    MessageRetracted,
    SessionStarted,
    SessionState,
    ToolSettled,
    TurnEnded,
    TurnStarted,
)
from agentjournal.envelope import Recorded, iso_time
from agentjournal.ids import Milliseconds, Position
from agentjournal.requests import NewEvent
from agentjournal.turns import begin_for, inbox
from consumers.roles import PROJECTIONS
from local.stack import Stack
from streams.head import EMPTY
from streams.leases import NO_LEASE
from tests.database import Database, database_of
from tests.support import BEGAN_MS, Stream, event, request, said, session_in, typed

pytestmark = pytest.mark.stack

READ = [each for each in PROJECTIONS if each.name in {"events", "conversation", "execution"}]
NEVER_MS = 253_402_300_799_999


@pytest.fixture(scope="module")
def database(stack: Stack) -> Generator[Database]:
    with database_of(stack) as opened:
        yield opened


def placed(stream: Stream) -> list[Recorded]:
    return [each._replace(position=Position(at)) for at, each in enumerate(stream.recorded)]


async def shown(database: Database, stream: Stream, view: str) -> list[dict[str, Any]]:
    for projection in READ:
        await database.store(projection, placed(stream))
    return await database.shown(f"SELECT * FROM agentjournal.{view}")


lengths = st.sampled_from([1, 2.5, 0.0004, 0.0015, 7, 2**63 - 1])
_taken = st.tuples(st.just("lease.acquired"), lengths)
_asked = st.one_of(
    _taken,
    st.sampled_from([("lease.renewed", 0), ("lease.released", 0), ("said", 0), ("said", 0)]),
)
appends = st.lists(st.tuples(_asked, st.integers(0, 3), st.integers(-500, 4_000)), max_size=15)


def of(stream: Stream, asked: tuple[str, float], back: int) -> tuple[NewEvent, int | None]:
    """Return the event and the fence of an append; `back` 0 is in order, more is mostly not."""
    head = stream.head or EMPTY
    fence = max(0, head.lease_fence - back)
    match asked:
        case ("lease.acquired", lease_s):
            taken = {"holder": f"w-{head.version}", "lease_s": lease_s}
            return event("lease.acquired", fence=head.version + 1 - back, **taken), None
        case ("said", _):
            return said("a", "assistant"), (fence or None) if back < 2 else None
        case (event_type, _):
            return event(event_type, fence=fence or 1), fence or None


@settings(max_examples=40)
@given(appends)
def test_a_lease_lasts_in_the_view_as_long_as_in_the_log(
    database: Database, drawn: list[tuple[tuple[str, float], int, int]]
) -> None:
    """The broker's clock may go back a little."""
    stream, at_ms = Stream(session_in(3)), BEGAN_MS
    stream.accept(request(typed(SessionStarted(agent="a"))), at_ms)
    for asked, back, later_ms in drawn:
        at_ms += later_ms
        made, fence = of(stream, asked, back)
        stream.ask(request(made, fence=fence), at_ms)
    lease = (stream.head or EMPTY).lease
    leases = database.run(shown(database, stream, "leases"))
    held = [each for each in leases if not (each["released_version"] or each["replaced_version"])]
    if lease == NO_LEASE:
        assert held == []
        return
    [row] = held
    assert (row["fence"], row["holder"]) == (lease.fence, lease.holder)
    until = row["lease_until"]
    assert (until is None) == (lease.until_ms == NEVER_MS)
    if until is not None:
        assert until == datetime.fromisoformat(iso_time(Milliseconds(lease.until_ms)))


NOW = datetime(2026, 6, 1, tzinfo=UTC)
reasons = st.sampled_from(["completed", "waiting", "limit"])
names = st.sampled_from(["x", "y"])
happenings = st.lists(
    st.one_of(
        st.sampled_from(["said", "said", "say", "turn", "turn", "answered", "answered"]),
        st.tuples(st.just("ended"), reasons, st.sampled_from([None, "2026-05-01T00:00:00Z"])),
        st.tuples(st.just("retracted"), st.integers(0, 5)),
        st.tuples(st.just("rewound"), st.integers(0, 12)),
        st.tuples(st.just("asked"), names),
        st.tuples(st.just("told"), names),
        st.just("settled"),
    ),
    max_size=14,
)


def happened(what: Any, state: SessionState) -> tuple[list[Event], bool]:
    """Return the events of an append, and whether it was made under the lease."""
    kind, *more = (what,) if isinstance(what, str) else what
    found: list[Event] = []
    match kind:
        case "said":
            found = [said_by("user")]
        case "turn" | "say":
            seen = [int(each.version) for each in inbox(state)]
            asked = [said_by("user")] if kind == "say" else []
            named = [*seen, *(state.version + 2 for _ in asked)]
            found = [TurnStarted(trigger="user", input_versions=named), *asked]
        case "answered" if state.turn_id is not None:
            found = [said_by("assistant")]
        case "ended" if state.turn_id is not None:
            reason, at = more
            found = [TurnEnded(turn_id=state.turn_id, reason=reason, resume_at=at)]
        case "retracted" if mine := [m.message_id for m in state.messages if m.role == "user"]:
            found = [MessageRetracted(message_id=mine[more[0] % len(mine)], reason="r")]
        case "rewound":
            found = [ConversationRewound(to_version=min(more[0], state.version), reason="r")]
        case "asked":
            found = questions(more[0])
        case "told" if more[0] in state.approvals:
            found = [answers(more[0])[state.version % 3]]
        case "settled":
            by: Any = "person"
            found = [ToolSettled(call_id="c", outcome="completed", output="x", settled_by=by)]
        case _:  # what cannot be: no turn is open, nothing was asked
            pass
    return found, kind in {"turn", "say", "answered", "ended", "asked"}


def said_by(role: Any) -> MessageAdded:
    return MessageAdded(role=role, content="x")


def questions(name: str) -> list[Event]:
    return [
        ApprovalRequested(approval_id=name, question="q"),
        InputRequested(input_id=name, question="q"),
        HandoffRequested(handoff_id=name, mode="delegate", to_agent="b", task="t"),
    ]


def answers(name: str) -> list[Event]:
    return [
        ApprovalGranted(approval_id=name, by="u"),
        InputProvided(input_id=name, by="u", value=1),
        HandoffCompleted(handoff_id=name, summary="s"),
    ]


@settings(max_examples=60)
@given(happenings)
def test_a_session_needs_a_worker_when_a_run_of_it_would_find_something_to_do(
    database: Database, drawn: list[Any]
) -> None:
    """With a worker that names all that is unseen when it begins a turn."""
    stream = Stream(session_in(3))
    stream.accept(request(typed(SessionStarted(agent="a"))))
    stream.accept(request(typed(LeaseAcquired(holder="w", fence=2, lease_s=60))))
    state = SessionState(stream.stream)
    for each in stream.recorded:
        state.apply(each)
    for what in drawn:
        made, leased = happened(what, state)
        if made:
            stream.accept(request(*map(typed, made), fence=2 if leased else None))
        for each in stream.recorded[state.version :]:
            state.apply(each)
    found = database.run(shown(database, stream, f"runnable_at('{NOW.isoformat()}')"))
    is_wanted = state.turn_id is not None or begin_for(state, NOW) is not None
    assert [row["session_id"] for row in found] == ([stream.stream[16:]] if is_wanted else [])
