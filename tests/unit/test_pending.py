"""An append on its way: an acceptance settles it from any attempt, a refusal from the last only."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest

from agentjournal.errors import (
    AgentJournalError,
    AppendIdReused,
    AppendRejected,
    LeaseHeld,
    LeaseLost,
    LimitExceeded,
    SessionMismatch,
    StreamDeleted,
    Unavailable,
    VersionConflict,
)
from agentjournal.ids import Position, Version, stream_id
from agentjournal.pending import Pending
from agentjournal.receipts import Answer, Receipt, Refusal, RefusalReason
from agentjournal.requests import Request, decode_request
from tests.support import place_of, request, said

STREAM = stream_id("session", "default", "s-1")


def pending(asked: Request | None = None, sent: int = 0) -> Pending:
    made = Pending(asked or request(said("a")), STREAM, place_of(STREAM))
    for _ in range(sent):
        made.next_attempt(0.0)
    return made


def accepted(of: Pending, attempt: int, *, duplicate: bool = False) -> Answer:
    place = Position(5), Version(1), Version(1)
    receipt = Receipt(STREAM, of.partition, *place, duplicate, of.request.append_id)
    return Answer(STREAM, of.request.append_id, attempt, receipt)


def refused(of: Pending, attempt: int, refusal: Refusal | None = None) -> Answer:
    outcome = refusal or Refusal("conflict", version=Version(3))
    return Answer(STREAM, of.request.append_id, attempt, outcome)


async def test_each_sending_carries_its_number() -> None:
    made = pending()
    numbers = [decode_request(made.next_attempt(0.0)).attempt for _ in range(3)]
    assert numbers == [1, 2, 3]
    assert made.attempts == 3


@pytest.mark.parametrize("attempt", [1, 2, 3])
@pytest.mark.parametrize("duplicate", [False, True])
async def test_an_acceptance_of_any_attempt_settles_it(attempt: int, duplicate: bool) -> None:
    made = pending(sent=3)
    answer = accepted(made, attempt, duplicate=duplicate)
    assert made.settle(answer)
    assert made.outcome.result() == answer.outcome
    assert made.in_log.done()


async def test_a_refusal_of_an_earlier_attempt_settles_nothing() -> None:
    made = pending(sent=3)
    for earlier in (1, 2):
        assert not made.settle(refused(made, earlier))
    assert not made.outcome.done()
    assert made.settle(accepted(made, 2))
    assert made.outcome.result().position == 5


async def test_a_refusal_of_the_last_attempt_settles_it() -> None:
    made = pending(sent=2)
    assert made.settle(refused(made, 2))
    with pytest.raises(VersionConflict):
        made.outcome.result()
    assert made.in_log.result() is None  # Kafka had it: whoever enqueued it is not told otherwise


async def test_the_first_settlement_stands() -> None:
    made = pending(sent=2)
    made.settle(refused(made, 2))
    assert made.settle(accepted(made, 1))
    with pytest.raises(VersionConflict):
        made.outcome.result()
    other = pending(sent=1)
    other.settle(accepted(other, 1))
    assert other.settle(refused(other, 1))
    assert other.outcome.result().position == 5


REFUSALS: dict[RefusalReason, tuple[Refusal, AgentJournalError]] = {
    "conflict": (Refusal("conflict", version=Version(9)), VersionConflict(STREAM, 4, 9)),
    "rejected": (
        Refusal("rejected", "events[0].data", "bad"),
        AppendRejected("events[0].data", "bad"),
    ),
    "id_reused": (Refusal("id_reused"), AppendIdReused("a", STREAM)),
    "limit": (
        Refusal("limit", "events", "10", Version(11)),
        LimitExceeded(STREAM, "events", 11, 10),
    ),
    "not_idle": (
        Refusal("not_idle", "events[0].data.idle_s", "has not passed since the last event"),
        AppendRejected("events[0].data.idle_s", "has not passed since the last event"),
    ),
    "deleted": (Refusal("deleted"), StreamDeleted(STREAM)),
    "mismatch": (Refusal("mismatch"), SessionMismatch(STREAM)),
    "lease_held": (
        Refusal("lease_held", "w-1", "2026-01-31T12:01:00.000Z", Version(3)),
        LeaseHeld(STREAM, "w-1", "2026-01-31T12:01:00.000Z"),
    ),
    "lease_lost": (Refusal("lease_lost"), LeaseLost(STREAM)),
}


def test_every_reason_has_an_error() -> None:
    assert set(REFUSALS) == set(get_args(RefusalReason))


@pytest.mark.parametrize("reason", REFUSALS)
async def test_a_reason_becomes_the_error_that_says_what_to_do(reason: RefusalReason) -> None:
    refusal, expected = REFUSALS[reason]
    made = pending(request(said("a"), append_id="a", expected_version=4), sent=1)
    made.settle(refused(made, 1, refusal))
    with pytest.raises(type(expected)) as raised:
        made.outcome.result()
    assert (str(raised.value), vars(raised.value)) == (str(expected), vars(expected))


async def test_an_answer_is_asked_for_again_later_each_time() -> None:
    made = pending()
    made.next_attempt(100.0)
    assert not made.overdue(1_000.0)  # Kafka does not have it yet: nobody could have answered
    made.in_log.set_result(None)
    waits: list[float] = []
    now = 100.0
    for _ in range(6):
        wait = next(s / 2 for s in range(100) if made.overdue(now + s / 2))
        waits.append(wait - 0.5)
        now += wait
        made.next_attempt(now)
    assert waits == [2, 4, 8, 16, 16, 16]


async def test_an_append_that_never_left_fails_for_whoever_waits() -> None:
    made = pending()
    made.fail(Unavailable("Kafka", "away"))
    for future in (made.in_log, made.outcome):
        with pytest.raises(Unavailable):
            future.result()


async def test_failing_does_not_unsay_that_kafka_may_have_it() -> None:
    made = pending(sent=1)
    made.fail(Unavailable("Kafka", "away"))
    assert not made.in_log.done()
    assert isinstance(made.outcome.exception(), Unavailable)


async def test_failing_what_is_settled_changes_nothing() -> None:
    made = pending(sent=1)
    made.settle(accepted(made, 1))
    made.fail(Unavailable("Kafka", "away"))
    assert made.outcome.result().position == 5


async def test_an_error_that_nobody_asks_for_is_no_fault() -> None:
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    made = pending()
    made.fail(Unavailable("Kafka", "away"))
    del made
    await asyncio.sleep(0)
    assert failures == []


async def test_the_very_same_append_is_told_from_another() -> None:
    asked = request(said("a", message_id="m"), append_id="a", expected_version=3)
    made = pending(asked)
    again = [e._replace(id="new", time="2030-01-01T00:00:00Z") for e in asked.events]
    assert made.is_of(asked._replace(events=again, attempt=9))
    assert not made.is_of(asked._replace(events=[said("b")]))
    assert not made.is_of(asked._replace(expected_version=None))
    assert not made.is_of(asked._replace(fence=1))
