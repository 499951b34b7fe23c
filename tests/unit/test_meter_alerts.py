"""The meter's alerts: when each is raised, that it is raised once, and when it is over."""

from __future__ import annotations

import agentjournal as aj
from agentjournal.ids import Partition
from streams.meter import Meter
from streams.meter_thresholds import Thresholds
from tests.unit.metered import Writer, at_ms, completed, failed, started

STREAM = "session/acme/s-1"


def outcomes(write: Writer, meter: Meter, at_s: float, *, well: int, badly: int) -> None:
    """Let calls begin and end."""
    for number, end in enumerate([completed] * well + [failed] * badly):
        call_id = f"{at_s}-{number}"
        meter.take(write.of(started(call_id, digest=call_id), at_s))
        meter.take(write.of(end(call_id), at_s))


def test_an_error_rate_is_told_of_once_and_again_after_it_was_over() -> None:
    write, meter = Writer(), Meter(Thresholds(error_rate=0.5, error_calls=10))
    outcomes(write, meter, 0, well=4, badly=5)
    assert not meter.tick(at_ms(1)), "nine outcomes are too few"
    outcomes(write, meter, 1, well=1, badly=0)
    assert not meter.tick(at_ms(2)), "five of ten are not over a half"
    outcomes(write, meter, 2, well=0, badly=2)
    [alert] = meter.tick(at_ms(3))
    assert (alert.kind, alert.tenant, alert.subject) == ("error_rate", "acme", "look_up")
    assert (alert.value, alert.threshold) == (0.583, 0.5)
    assert alert.text == "7 of 12 calls of look_up failed (58%)"
    outcomes(write, meter, 4, well=5, badly=0)
    assert not meter.tick(at_ms(5)), "7 of 17: below, and not over yet"
    outcomes(write, meter, 5, well=0, badly=5)
    assert not meter.tick(at_ms(6)), "12 of 22: it went on"
    outcomes(write, meter, 100, well=15, badly=5)
    assert not meter.tick(at_ms(101)), "a quarter: now it is over"
    outcomes(write, meter, 101, well=0, badly=20)
    [again] = meter.tick(at_ms(102))
    assert again.alert_id != alert.alert_id


def test_an_error_rate_is_over_when_the_tool_is_not_called_any_more() -> None:
    write, meter = Writer(), Meter(Thresholds(error_calls=2))
    outcomes(write, meter, 0, well=0, badly=2)
    assert len(meter.tick(at_ms(1))) == 1
    meter.tick(at_ms(200))
    outcomes(write, meter, 200, well=0, badly=2)
    assert len(meter.tick(at_ms(201))) == 1


def test_a_storm_of_sessions_is_told_of_once_for_its_tenant() -> None:
    write, meter = Writer(), Meter(Thresholds(window_s=30, session_storm=10))
    for number in range(6):
        begun = aj.SessionStarted(agent="support")
        meter.take(write.of(begun, number, stream=f"session/acme/s-{number}"))
        meter.take(write.of(begun, number, stream=f"session/{number}/s"))
    [alert] = meter.tick(at_ms(6))
    assert (alert.kind, alert.tenant, alert.subject) == ("session_storm", "acme", "acme")
    assert alert.value == 12
    assert not meter.tick(at_ms(7))


def test_a_call_past_its_lease_and_the_margin_is_told_of_once() -> None:
    write, meter = Writer(), Meter(Thresholds(stuck_call_s=60))
    meter.take(write.of(started("c", lease_s=30), 0))
    assert not meter.tick(at_ms(89.9))
    [alert] = meter.tick(at_ms(90))
    assert (alert.kind, alert.subject, alert.value) == ("stuck_call", STREAM, 60)
    assert alert.text == "look_up, call c, is open 60 s past its lease"
    assert not meter.tick(at_ms(900))


def test_a_call_with_an_outcome_is_not_stuck_and_another_attempt_has_its_own_lease() -> None:
    write, meter = Writer(), Meter(Thresholds(stuck_call_s=60))
    meter.take(write.of(started("c", lease_s=30), 0))
    meter.take(write.of(failed("c"), 20))
    meter.take(write.of(started("c", lease_s=100, attempt=2), 20))
    assert not meter.tick(at_ms(179))
    assert len(meter.tick(at_ms(180))) == 1


def test_a_call_is_not_stuck_while_its_worker_has_the_session() -> None:
    write, meter = Writer(), Meter(Thresholds(stuck_call_s=10))
    meter.take(write.of(("lease.acquired", {"holder": "w", "fence": 1, "lease_s": 50}), 0))
    meter.take(write.of(started("c", lease_s=5), 1, fence=1))
    meter.take(write.of(("lease.renewed", {"fence": 1}), 30, fence=1))
    assert not meter.tick(at_ms(20))
    assert not meter.tick(at_ms(89.9)), "until 80 it has the session"
    assert len(meter.tick(at_ms(90))) == 1


def test_a_call_is_stuck_when_another_worker_took_the_session() -> None:
    write, meter = Writer(), Meter(Thresholds(stuck_call_s=10))
    taken = ("lease.acquired", {"holder": "w", "fence": 1, "lease_s": 50})
    meter.take(write.of(taken, 0))
    meter.take(write.of(started("c", lease_s=5), 1, fence=1))
    meter.take(write.of(taken, 55))
    assert len(meter.tick(at_ms(66))) == 1


def test_a_call_is_not_stuck_when_its_outcome_may_not_have_been_read_yet() -> None:
    write, meter = Writer(), Meter(Thresholds(stuck_call_s=10))
    meter.take(write.of(started("c", lease_s=5), 0))
    assert not meter.tick(at_ms(60), {Partition(0)})
    meter.take(write.of(completed("c"), 4))
    assert not meter.tick(at_ms(61))


def test_the_same_call_in_a_row_is_told_of_once_for_each_row() -> None:
    write, meter = Writer(), Meter(Thresholds(runaway_loop=3))
    for number in range(5):
        meter.take(write.of(started(f"c-{number}"), number))
    [alert] = meter.tick(at_ms(5))
    assert (alert.kind, alert.subject, alert.value) == ("runaway_loop", STREAM, 3)
    meter.take(write.of(started("other", digest="other"), 6))
    for number in range(3):
        meter.take(write.of(started(f"d-{number}"), 7))
    [again] = meter.tick(at_ms(8))
    assert again.alert_id != alert.alert_id


def test_attempts_of_one_call_other_sessions_and_new_questions_are_no_loop() -> None:
    write, meter = Writer(), Meter(Thresholds(runaway_loop=3))
    for attempt in range(1, 6):
        meter.take(write.of(started("c", attempt=attempt)))
    for number in range(5):
        meter.take(write.of(started(f"c-{number}"), stream=f"session/acme/{number}"))
    for number in range(5):
        meter.take(write.of(aj.TurnStarted(turn_id=f"t-{number}", trigger="user")))
        meter.take(write.of(started(f"d-{number}")))
    assert not meter.tick(at_ms(1))


def test_a_worker_that_starts_over_and_over_does_not_hide_a_loop() -> None:
    write, meter = Writer(), Meter(Thresholds(runaway_loop=3))
    for number in range(3):
        meter.take(write.of(aj.TurnStarted(turn_id=f"t-{number}", trigger="resume")))
        meter.take(write.of(started(f"c-{number}")))
    assert [alert.kind for alert in meter.tick(at_ms(1))] == ["runaway_loop"]
