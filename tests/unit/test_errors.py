"""Errors come out of another process as they were raised there."""

from __future__ import annotations

import pickle

import pytest

from agentjournal import (
    AgentJournalError,
    AppendOutcomeUnknown,
    AppendRejected,
    CompactionRefused,
    EventUnreadable,
    LeaseHeld,
    NotCaughtUp,
    Unavailable,
    VersionConflict,
)


async def nothing() -> None:
    """Stand for a way to ask again."""


@pytest.mark.parametrize(
    "error",
    [
        AgentJournalError("plain"),
        AppendRejected("events[0]", "is empty"),
        VersionConflict("session/t/s", 3, 4),
        LeaseHeld("session/t/s", "w-1", "2026-01-31T12:00:10.000Z"),
        NotCaughtUp(1, 2, 0.5),
        EventUnreadable("session/t/s", 1, "custom.x", 2, "n", "is missing"),
        CompactionRefused("would lose", ("A-1",)),
        Unavailable("Kafka", OSError("gone")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_pickling(error: AgentJournalError) -> None:
    came = pickle.loads(pickle.dumps(error))
    assert type(came) is type(error)
    assert (str(came), vars(came), came.args) == (str(error), vars(error), error.args)


def test_what_belongs_to_a_connection_stays_where_it_is() -> None:
    error = AppendOutcomeUnknown("a-1", 2.0, nothing)  # type: ignore[arg-type]
    came = pickle.loads(pickle.dumps(error))
    assert (str(came), came.append_id) == (str(error), "a-1")
