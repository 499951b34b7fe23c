"""What a role counts and says of itself while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

from consumers.health import ProcessHealth, RoleHealth
from consumers.metrics_kept import Metrics


@dataclass(slots=True)
class Watch:
    """The metrics and the health of one role; nobody need look at them."""

    role: str
    health: RoleHealth = field(default_factory=lambda: RoleHealth(()))
    metrics: Metrics = field(default_factory=Metrics)
    samples: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    unsaved: Callable[[], Mapping[str, object]] = dict  # what a log line says when it is cut off

    def sampled(self, sample: Callable[[], None]) -> None:
        """Let `sample` be called in the loop every second, to set gauges."""
        self.samples.append(sample)

    def works_on(self, partitions: int) -> None:
        """Say that the role works, and on how many partitions."""
        self.health.works()
        self.metrics.put("agentjournal_partitions", partitions, role=self.role)

    def starts_over(self, trouble: Exception) -> None:
        """Say that the role dropped what it had, and takes its partitions anew."""
        kind = type(trouble).__name__
        self.health.waits(f"starts over after {kind}")
        self.metrics.put("agentjournal_partitions", 0, role=self.role)
        self.metrics.add("agentjournal_starts_over_total", role=self.role, kind=kind)

    def batch(self, records: int, began_s: float) -> None:
        """Count a batch that is done, which was read at `began_s` of the monotonic clock."""
        took_s = time.monotonic() - began_s
        self.metrics.observe("agentjournal_batch_records", records, role=self.role)
        self.metrics.observe("agentjournal_batch_seconds", took_s, role=self.role)


@dataclass(slots=True)
class Watched:
    """All roles of a process, as they are watched."""

    health: ProcessHealth
    metrics: Metrics = field(default_factory=Metrics)
    watches: dict[str, Watch] = field(default_factory=dict[str, Watch])

    def add(self, role: str, servers: tuple[str, ...]) -> Watch:
        """Return the watch of a role that needs these servers."""
        health = self.health.roles[role] = RoleHealth(servers)
        watch = self.watches[role] = Watch(role, health, self.metrics)
        return watch

    def unsaved(self, role: str) -> Mapping[str, object]:
        """Return what a role has not saved."""
        return self.watches[role].unsaved()

    def stopping(self) -> None:
        """Say that the process was asked to stop: from now on none of its roles is ready."""
        self.health.stopping = True


_CURRENT: ContextVar[Watch | None] = ContextVar("watch", default=None)


def set_watch(watch: Watch) -> None:
    """Let what runs in this context find its watch."""
    _CURRENT.set(watch)


def current_watch(role: str) -> Watch:
    """Return the watch of the role that runs here; one that nobody looks at where there is none."""
    found = _CURRENT.get()
    return Watch(role) if found is None else found
