"""The table of metrics, the page about it, and what is published of it."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from agentjournal.ids import Partition, Position
from commands.metrics_page import METRICS_PAGE, metrics_page
from consumers.metrics import METRICS, MetricName
from consumers.metrics_kept import Metrics
from consumers.metrics_lag import Behind, Lag

LATENCY: MetricName = "agentjournal_append_latency_seconds"


def published(metrics: Metrics) -> dict[tuple[str, ...], float]:
    text = generate_latest(metrics.registry).decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_page_of_metrics_is_up_to_date() -> None:
    page = METRICS_PAGE.read_text(encoding="utf-8")
    assert page == metrics_page(page), "run python -m commands.metrics_page"


def test_every_name_is_in_the_table_once_and_says_its_unit() -> None:
    assert list(METRICS) == sorted(get_args(MetricName))
    for name, metric in METRICS.items():
        assert re.fullmatch(r"agentjournal(_[a-z]+)+", name)
        assert name.endswith("_total") == (metric.kind == "counter"), name
        assert name.endswith("_seconds") == (metric.unit == "seconds"), name
        assert bool(metric.buckets) == (metric.kind == "histogram"), name
        assert list(metric.buckets) == sorted(set(metric.buckets)), name


def test_no_label_names_whose_state_it_is() -> None:
    labels = {label for metric in METRICS.values() for label in metric.labels}
    assert not labels & {"stream", "session", "session_id", "tenant", "user", "agent", "worker"}, (
        "labels must be bounded"
    )


def test_what_is_counted_is_published_under_its_name() -> None:
    metrics = Metrics()
    metrics.add("agentjournal_decisions_total", 0, decision="conflict")
    metrics.add("agentjournal_decisions_total", 2, decision="accepted")
    metrics.add("agentjournal_decisions_total", 3, decision="accepted")
    metrics.put("agentjournal_heads", 7)
    metrics.put("agentjournal_heads", 5)
    found = published(metrics)
    assert found["agentjournal_decisions_total", "accepted"] == 5
    assert found["agentjournal_decisions_total", "conflict"] == 0
    assert found["agentjournal_heads",] == 5
    assert not any(name.startswith("agentjournal_lag") for name, *_ in found)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(1, 5))))
def test_a_histogram_counts_how_many_were_not_above_each_bound(
    values: list[tuple[float, int]],
) -> None:
    metrics = Metrics()
    metrics.observe_all(LATENCY, values[:2])
    metrics.observe_all(LATENCY, values[2:])
    found = published(metrics)
    every = [value for value, times in values for _ in range(times)]
    for bound in METRICS[LATENCY].buckets:
        below = sum(value <= bound for value in every)
        assert found[f"{LATENCY}_bucket", str(float(bound))] == below
    assert found[f"{LATENCY}_bucket", "+Inf"] == found[f"{LATENCY}_count",] == len(every)
    assert found[f"{LATENCY}_sum",] == pytest.approx(sum(every))


P = Partition(3)


def test_who_is_at_the_end_is_not_behind_however_old_the_last_record_is() -> None:
    assert Lag().look(P, Position(9), Position(9), read_until_s=5, now_s=1_000) == Behind(0, 0)
    assert Lag().look(P, Position(9), None, read_until_s=5, now_s=1_000) == Behind(0, 0)


def test_a_record_that_comes_after_a_long_quiet_time_is_not_old() -> None:
    lag = Lag()
    lag.look(P, Position(9), Position(9), read_until_s=5, now_s=1_000)
    found = lag.look(P, Position(9), Position(10), read_until_s=5, now_s=1_002)
    assert found == Behind(1, 2), "it was at the end two seconds ago"


def test_who_reads_an_old_log_is_behind_by_the_age_of_what_was_read_last() -> None:
    lag = Lag()
    assert lag.look(P, Position(0), Position(99), read_until_s=None, now_s=1_000) == Behind(99, 0)
    assert lag.look(P, Position(0), Position(99), read_until_s=None, now_s=1_004) == Behind(99, 4)
    assert lag.look(P, Position(50), Position(99), read_until_s=400, now_s=1_005) == Behind(49, 605)


def test_a_clock_that_is_behind_the_brokers_gives_no_lag_below_zero() -> None:
    found = Lag().look(P, Position(1), Position(2), read_until_s=50, now_s=40)
    assert found == Behind(1, 0)
