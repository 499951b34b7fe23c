"""The metrics of a process: counted by its event loop, read by the thread that serves them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from consumers.metrics import METRICS, MetricName

_Kept = TypeVar("_Kept", Counter, Gauge)


class Metrics:
    """What a process counts, by the names of the table. A name is published once it is used.

    A value is in the table's unit. Labels are given by name, all that the table has.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._kept: dict[MetricName, Counter | Gauge | Histogram] = {}

    def add(self, name: MetricName, by: float = 1, **labels: str) -> None:
        """Count `by` more; 0 makes a counter begin at 0, so that its first step shows."""
        self._labelled(name, Counter, labels).inc(by)

    def put(self, name: MetricName, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._labelled(name, Gauge, labels).set(value)

    def observe(self, name: MetricName, value: float, **labels: str) -> None:
        """Count a value in a histogram."""
        self.observe_all(name, [(value, 1)], **labels)

    def observe_all(
        self, name: MetricName, values: Iterable[tuple[float, int]], **labels: str
    ) -> None:
        """Count values in a histogram, each so many times."""
        found = self._kept.get(name)
        if not isinstance(found, Histogram):
            found = self._kept[name] = Histogram(name)
            self.registry.register(found)
        found.observe(values, labels)

    def _labelled(self, name: MetricName, kind: type[_Kept], labels: Mapping[str, str]) -> _Kept:
        found = self._kept.get(name)
        if not isinstance(found, kind):
            metric = METRICS[name]
            found = kind(name, metric.meaning, tuple(metric.labels), registry=self.registry)
            self._kept[name] = found
        return found.labels(**labels) if labels else found


class Histogram(Collector):
    """Counts values in buckets, many of one value at once: the library's counts them one by one."""

    def __init__(self, name: MetricName) -> None:
        self._name, self._metric = name, METRICS[name]
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}

    def observe(self, values: Iterable[tuple[float, int]], labels: Mapping[str, str]) -> None:
        """Count values, each so many times, under these labels."""
        key = tuple(labels[label] for label in self._metric.labels)
        counts = self._counts.get(key)
        if counts is None:
            counts = [0] * (len(self._metric.buckets) + 1)
            self._sums[key] = 0.0
            self._counts[key] = counts  # last: who collects goes by it
        buckets, total = self._metric.buckets, 0.0
        for value, times in values:
            counts[bisect_left(buckets, value)] += times
            total += value * times
        self._sums[key] += total

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """Return what was counted, as the registry asks for it."""
        family = HistogramMetricFamily(
            self._name, self._metric.meaning, labels=tuple(self._metric.labels)
        )
        for key, counts in list(self._counts.items()):
            family.add_metric(key, list(self._cumulative(counts)), self._sums[key])
        return [family]

    def _cumulative(self, counts: list[int]) -> Iterator[tuple[str, float]]:
        below = 0
        for bound, count in zip((*self._metric.buckets, float("inf")), list(counts), strict=True):
            below += count
            yield "+Inf" if bound == float("inf") else repr(bound), below
