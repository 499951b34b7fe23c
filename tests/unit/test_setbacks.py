"""When a worker may try a session again."""

from __future__ import annotations

import pytest

from agentjournal.ports import Runnable
from agentjournal.setbacks import Setbacks


def found(head: int = 10, version: int = 5, reason: str = "turn", name: str = "s") -> Runnable:
    return Runnable(name, reason, version, head)


def setbacks() -> Setbacks:
    return Setbacks(first_s=1, most_s=60)


def first_try(past: Setbacks, of: Runnable, since: float) -> float:
    """Return the first tenth of a second after `since` at which a session may be tried."""
    times = (since + tenth / 10 for tenth in range(100_000))
    return next(at for at in times if past.may_try(of, at)) - since


def test_what_is_not_known_may_be_tried() -> None:
    assert setbacks().may_try(found(), 0)


def test_what_got_on_may_be_tried_at_once() -> None:
    past = setbacks()
    past.ended(found(), known_version=14, now=100, failed=False)
    assert past.may_try(found(head=16, version=15, reason="message"), 100)


def test_each_error_in_a_row_doubles_the_wait_up_to_the_most() -> None:
    past, now = setbacks(), 100.0
    waits: list[float] = []
    for head in range(10, 90, 10):
        past.ended(found(head), known_version=head + 3, now=now, failed=True)
        waits.append(first_try(past, found(head + 10, version=head), now))
        now += waits[-1]
    assert waits == pytest.approx([1, 2, 4, 8, 16, 32, 60, 60], abs=0.1)


def test_a_run_after_which_the_very_same_is_to_be_done_is_a_setback() -> None:
    past = setbacks()
    past.ended(found(), known_version=11, now=100, failed=False)
    assert first_try(past, found(head=12), 100) == pytest.approx(1, abs=0.1)
    past.ended(found(head=12), known_version=14, now=101, failed=False)
    assert first_try(past, found(head=15), 101) == pytest.approx(2, abs=0.1)


def test_who_got_on_begins_anew() -> None:
    past = setbacks()
    for now in (100, 200):
        past.ended(found(), known_version=11, now=now, failed=True)
    past.ended(found(), known_version=14, now=300, failed=False)
    assert past.may_try(found(head=15, version=13), 300)
    past.ended(found(head=15, version=13), known_version=17, now=301, failed=True)
    assert first_try(past, found(head=20), 301) == pytest.approx(1, abs=0.1)


def test_what_is_found_as_it_was_before_the_run_ended_is_left_for_a_while() -> None:
    past = setbacks()
    past.ended(found(), known_version=14, now=100, failed=False)
    stale = found(head=14, version=13)
    assert not past.may_try(stale, 104.9)
    assert past.may_try(stale, 105)  # its lease was not given back, and has passed by itself


def test_what_somebody_else_has_is_left_alone_without_a_setback() -> None:
    past = setbacks()
    past.leave(found(), now=100, seconds=0.5)
    assert (past.may_try(found(), 100.4), past.left_alone(100.4)) == (False, ["s"])
    assert (past.may_try(found(), 100.5), past.left_alone(100.5)) == (True, [])
    past.ended(found(), known_version=11, now=101, failed=True)
    assert first_try(past, found(head=12), 101) == pytest.approx(1, abs=0.1)


def test_those_that_wait_are_named_and_a_part_of_the_wait_is_enough() -> None:
    past = Setbacks(first_s=10, most_s=60, spread=lambda s: s / 2)
    past.ended(found(name="a"), known_version=11, now=100, failed=True)
    past.ended(found(name="b"), known_version=11, now=102, failed=True)
    assert past.left_alone(104.9) == ["a", "b"]
    assert past.left_alone(105) == ["b"]


def test_very_many_sessions_are_not_all_remembered() -> None:
    past = setbacks()
    for n in range(10_001):
        past.ended(found(name=f"s-{n}"), known_version=11, now=100, failed=True)
    assert len(past.left_alone(100)) == 10_000
    assert past.may_try(found(name="s-0"), 100)
