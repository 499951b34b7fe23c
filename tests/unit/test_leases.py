"""Leases in the fold: the broker's clock says who may take a stream, the fence who may write."""

from __future__ import annotations

import pytest

from agentjournal.ids import Milliseconds, Position, Version
from agentjournal.receipts import Refusal
from agentjournal.requests import NewEvent, Request
from streams.head import EMPTY
from streams.leases import NO_LEASE, Lease
from streams.partition_fold import Stored
from streams.rebuild import Rebuild
from tests.support import BEGAN_MS, Stream, event, request, said, started

LENGTH_S = 10


def acquired(fence: int, holder: str = "w-1", lease_s: float = LENGTH_S) -> NewEvent:
    return event("lease.acquired", holder=holder, fence=fence, lease_s=lease_s)


def taken() -> Stream:
    """Return a stream that worker w-1 took at version 2, at second 0, for 10 s."""
    stream = Stream()
    stream.accept(request(acquired(2), start=started("u-1"), expected_version=Version(0)), BEGAN_MS)
    return stream


def after(seconds: float) -> int:
    return BEGAN_MS + round(seconds * 1_000)


def lease_of(stream: Stream) -> Lease:
    return (stream.head or EMPTY).lease


def test_a_lease_lasts_from_the_brokers_time_and_its_fence_is_its_version() -> None:
    assert lease_of(taken()) == Lease(2, after(LENGTH_S), LENGTH_S * 1_000, "w-1")


def test_nobody_else_takes_a_lease_before_it_has_passed() -> None:
    stream = taken()
    held = Refusal("lease_held", "w-1", "2026-01-31T12:00:10.000Z", Version(2))
    asked = request(acquired(3, "w-2"))
    assert stream.ask(asked, after(LENGTH_S) - 1).answer.outcome == held  # type: ignore[union-attr]
    stream.accept(asked, after(LENGTH_S))
    assert lease_of(stream) == Lease(3, after(2 * LENGTH_S), LENGTH_S * 1_000, "w-2")


def test_a_lease_that_passed_holds_on_until_another_is_taken() -> None:
    stream = taken()
    stream.accept(request(said("late"), fence=2), after(60))
    assert lease_of(stream).until_ms == after(70)
    stream.accept(request(acquired(4, "w-2")), after(80))
    assert stream.refuse(request(said("too late"), fence=2)) == Refusal("lease_lost")


def test_every_write_under_the_fence_extends_the_lease_and_no_other_does() -> None:
    stream = taken()
    stream.accept(request(said("a user's message")), after(4))
    assert lease_of(stream).until_ms == after(10)
    stream.accept(request(said("an answer", "assistant"), fence=2), after(5))
    assert lease_of(stream).until_ms == after(15)
    stream.accept(request(event("lease.renewed", fence=2), fence=2), after(7))
    assert lease_of(stream).until_ms == after(17)


def test_an_append_that_repeats_is_answered_as_before_though_the_lease_is_gone() -> None:
    stream = taken()
    asked = request(said("a"), fence=2)
    receipt = stream.accept(asked, after(1))
    stream.accept(request(acquired(4, "w-2")), after(60))
    assert stream.accept(asked, after(61)) == receipt._replace(duplicate=True)


def test_what_was_released_is_free_and_its_fence_worth_nothing() -> None:
    stream = taken()
    stream.accept(request(event("lease.released", fence=2), fence=2), after(1))
    assert lease_of(stream) == NO_LEASE
    assert stream.refuse(request(said("late"), fence=2)) == Refusal("lease_lost")
    stream.accept(request(acquired(4, "w-2")), after(1))
    assert lease_of(stream).holder == "w-2"


def test_a_fence_without_a_lease_is_a_lost_one_and_is_a_dead_letter() -> None:
    for fence in (0, 1):
        outcome = Stream().ask(request(said("a"), fence=fence))
        assert (outcome.dead, outcome.records) == (Refusal("lease_lost"), ())


def test_who_takes_a_lease_says_the_version_it_gets_or_has_lost_a_race() -> None:
    stream = taken()
    stream.accept(request(event("lease.released", fence=2), fence=2), after(1))
    for fence in (1, 3, 5):
        assert stream.refuse(request(acquired(fence))) == Refusal("conflict", version=Version(3))
    fresh = Stream()
    assert fresh.refuse(request(acquired(1), start=started())) == Refusal(
        "conflict", version=Version(0)
    )
    fresh.accept(request(acquired(1)))


@pytest.mark.parametrize(
    ("asked", "path", "text"),
    [
        (request(said("a"), acquired(4)), "events[1].type", "is not the first event of its append"),
        (request(acquired(3), fence=2), "fence", "is given where a lease is taken"),
        (
            request(event("lease.renewed", fence=2)),
            "events[0].data.fence",
            "is not the fence that this append is written under",
        ),
        (
            request(said("a"), event("lease.released", fence=1), fence=2),
            "events[1].data.fence",
            "is not the fence that this append is written under",
        ),
    ],
)
def test_lease_events_stand_where_they_mean_something(asked: Request, path: str, text: str) -> None:
    assert taken().refuse(asked) == Refusal("rejected", path, text)


def test_the_lost_fence_comes_before_the_lost_race() -> None:
    stream = taken()
    asked = request(said("a"), fence=1, expected_version=1)
    assert stream.refuse(asked) == Refusal("lease_lost")


def test_a_lease_ends_with_the_year_9999_at_the_latest() -> None:
    stream = Stream()
    stream.accept(request(acquired(1, lease_s=2**63 - 1)))
    lease = lease_of(stream)
    held = stream.refuse(request(acquired(2, "w-2")))
    assert (lease.until_ms, held.text) == (253_402_300_799_999, "9999-12-31T23:59:59.999Z")


def test_the_log_alone_gives_the_same_lease() -> None:
    stream = taken()
    stream.accept(request(said("a"), said("b"), fence=2), after(3))
    stream.accept(request(said("c")), after(4))
    rebuild = Rebuild(stream.partition, Position(0))
    for at, record in enumerate(stream.records):
        rebuild.add(Stored(Position(at), stream.stream.encode(), record))
    assert stream.head is not None
    assert rebuild.heads[stream.stream] == stream.head
    assert stream.head.lease.is_live(Milliseconds(after(13) - 1))
    assert [r.fence for r in stream.recorded] == [None, None, 2, 2, None]
