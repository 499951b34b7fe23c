"""The meter's core: what it counts, for how long, and how much it holds at most."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentjournal as aj
from agentjournal.errors import NotConfigured
from agentjournal.ids import Partition
from agentjournal.rates import TenantRates, ToolRates
from streams.meter import Meter
from streams.meter_thresholds import Capacity, Thresholds, thresholds_of
from streams.meter_windows import PARTS, Window
from tests.unit.metered import Writer, at_ms, completed, failed, started

HI = aj.MessageAdded(role="user", content="hi")


@given(
    counted=st.lists(st.integers(0, 300_000), max_size=60),
    now=st.integers(0, 300_000),
    window_s=st.integers(1, 100),
)
def test_what_counts_is_the_window_and_at_most_a_part_of_it_more(
    counted: list[int], now: int, window_s: int
) -> None:
    window, part_ms = Window(window_s), window_s * 1_000 // PARTS
    kept = [at for at in counted if at <= now]
    # In the order of time, as the log has it but for its partitions.
    for at in sorted(kept):
        window.add(at, "x")
    sum_now = window.sums(now)["x"]
    surely = sum(at > now - window_s * 1_000 for at in kept)
    at_most = sum(at >= now - window_s * 1_000 - part_ms for at in kept)
    assert surely <= sum_now <= at_most


@given(counted=st.lists(st.integers(0, 10_000_000), max_size=300))
def test_a_window_never_holds_more_than_a_few_parts(counted: list[int]) -> None:
    window = Window(10)
    for at in counted:
        window.add(at, "x")
    inside: Any = window
    assert len(inside._parts) <= 2 * PARTS


def test_events_tokens_and_sessions_are_counted_by_tenant() -> None:
    write, meter = Writer(), Meter()
    meter.take(write.of(aj.SessionStarted(agent="support"), 0))
    meter.take(write.of(HI, 1, tokens=7))
    meter.take(write.of(HI, 2, tokens=5, stream="session/a%2Fb/s-1"))
    meter.take(write.of(("fact.retracted", {}), 2, stream="user/acme/u-1"))
    spent = {"input_tokens": 100, "output_tokens": 20}
    meter.take(write.of(("model.called", spent), 3))
    assert meter.snapshot(at_ms(10)).tenants == (
        TenantRates("a/b", 1, 5, 0, 0, 1),
        TenantRates("acme", 4, 7, 120, 1, 1),
    )
    later = meter.snapshot(at_ms(100))
    assert [each.sessions_active for each in later.tenants] == [1, 1], "events are a minute's only"
    assert [each.events for each in later.tenants] == [0, 0]
    assert not meter.snapshot(at_ms(303)).tenants


def test_calls_outcomes_and_their_time_are_counted_by_tool() -> None:
    write, meter = Writer(), Meter()
    for number, (event, at_s) in enumerate([(completed, 1), (completed, 1), (failed, 4)]):
        meter.take(write.of(started(f"c-{number}"), 0))
        meter.take(write.of(event(f"c-{number}"), at_s))
    meter.take(write.of(started("open"), 4))
    [tool] = meter.snapshot(at_ms(10)).tools
    assert (tool.tool, tool.calls, tool.completed, tool.failed) == ("look_up", 4, 2, 1)
    assert tool.events == 7
    assert tool.error_rate == pytest.approx(1 / 3)
    assert tool.p50_s == pytest.approx(1, rel=0.1)
    assert tool.p95_s == pytest.approx(4, rel=0.1)


def test_an_outcome_settled_later_is_one_and_a_second_outcome_is_none() -> None:
    write, meter = Writer(), Meter()
    meter.take(write.of(started("c"), 0))
    settled = {"call_id": "c", "outcome": "completed", "settled_by": "person"}
    meter.take(write.of(("tool.settled", settled), 5))
    meter.take(write.of(completed("c"), 6))
    found = meter.snapshot(at_ms(10))
    assert (found.tools[0].completed, found.tools[0].failed) == (1, 0)
    assert found.uncounted.calls == 1


def test_a_record_that_is_read_again_counts_once() -> None:
    write, meter = Writer(), Meter()
    first, second = write.of(HI), write.of(HI)
    for each in (first, second, first, second, second):
        meter.take(each)
    assert meter.snapshot(at_ms(0)).tenants[0].events == 2


def test_an_event_without_its_fields_is_told_of_and_the_next_one_counts() -> None:
    write, meter = Writer(), Meter()
    with pytest.raises(KeyError):
        meter.take(write.of(("tool.started", {"call_id": "c"})))
    meter.refuse()
    meter.take(write.of(HI))
    found = meter.snapshot(at_ms(1))
    assert (found.tenants[0].events, found.uncounted.unreadable) == (2, 1)


def test_a_session_that_ended_is_not_active() -> None:
    write, meter = Writer(), Meter()
    meter.take(write.of(HI))
    meter.take(write.of(aj.SessionEnded(reason="done"), 1))
    assert meter.snapshot(at_ms(2)).tenants[0].sessions_active == 0


def test_partitions_that_another_meter_reads_now_leave_nothing_open() -> None:
    write, meter = Writer(), Meter(Thresholds(stuck_call_s=1))
    meter.take(write.of(started("here", lease_s=1), partition=0))
    meter.take(write.of(started("there", lease_s=1), stream="session/acme/s-2", partition=1))
    meter.keep({Partition(0)})
    assert meter.snapshot(at_ms(1)).tenants[0].sessions_active == 1
    assert [alert.subject for alert in meter.tick(at_ms(60))] == ["session/acme/s-1"]


@given(
    names=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=80),
)
def test_it_holds_no_more_than_its_capacity_and_says_what_it_could_not_take(
    names: list[tuple[int, int, bool]],
) -> None:
    most = Capacity(tenants=2, tools=3, sessions=4, calls=5)
    write, meter = Writer(), Meter(most=most)
    for number, (tenant, name, ends) in enumerate(names):
        stream = f"session/t{tenant}/s{name}"
        call = f"c{name}"
        event = completed(call) if ends else started(call, tool=f"tool{name}")
        meter.take(write.of(event, number / 100, stream=stream))
    inside: Any = meter
    assert len(inside._tenants) <= 2
    assert len(inside._tools) <= 3
    assert len(inside._sessions) <= 4
    assert len(inside._calls) <= 5
    found = meter.snapshot(at_ms(1))
    counted = sum(each.events for each in found.tenants)
    assert counted + found.uncounted.tenants == len(names)
    open_or_unknown = sum(each.events for each in found.tools) + found.uncounted.tools
    assert open_or_unknown + found.uncounted.calls == len(names)


def test_tools_that_nobody_uses_make_room() -> None:
    write, meter = Writer(), Meter(most=Capacity(tools=1))
    meter.take(write.of(started("a", tool="one"), 0))
    meter.take(write.of(started("b", tool="two"), 1))
    assert meter.snapshot(at_ms(2)).uncounted.tools == 1
    meter.snapshot(at_ms(120))
    meter.take(write.of(started("c", tool="two"), 121))
    assert meter.snapshot(at_ms(121)).tools == (ToolRates("acme", "two", 1, 0, 1, 0, 0),)


def test_thresholds_are_set_by_the_environment() -> None:
    assert thresholds_of({}) == Thresholds()
    found = thresholds_of(
        {"AGENTJOURNAL_METER_ERROR_RATE": "0.25", "AGENTJOURNAL_METER_RUNAWAY_LOOP": "3"}
    )
    assert found == Thresholds(error_rate=0.25, runaway_loop=3)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ERROR_RATE", "half"),
        ("ERROR_RATE", "1.5"),
        ("ERROR_RATE", "0"),
        ("ERROR_CALLS", "2.5"),
        ("WINDOW_S", "0.5"),
        ("WINDOW_S", "nan"),
        ("STUCK_CALL_S", "-1"),
    ],
)
def test_a_threshold_that_is_none_is_refused_by_its_name(name: str, text: str) -> None:
    with pytest.raises(NotConfigured, match=f"AGENTJOURNAL_METER_{name}"):
        thresholds_of({f"AGENTJOURNAL_METER_{name}": text})
