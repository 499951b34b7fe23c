"""Whether a process is healthy, and each of its roles ready: facts and what follows from them.

The event loop writes the facts, a thread reads them: so they are told also while the loop is stuck.
Healthy means that the loop comes round. Ready means that work is being done: servers answer, what
the role waited for at its start is there, and nobody asked it to stop. A role that waits for an
outage to end is healthy and not ready.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

OK = "ok"
DEFAULT_SERVERS = ("kafka", "postgres")
SERVERS: Mapping[str, tuple[str, ...]] = {  # without which a role cannot work
    "cache": ("kafka", "postgres", "redis"),
    "meter": ("kafka", "redis"),
    "promoter": ("kafka", "postgres", "redis"),
}
Checks: TypeAlias = Mapping[str, str]  # what was checked, and "ok" or why it fails


@dataclass(frozen=True, slots=True)
class HealthOptions:
    """When something counts as failed."""

    beat_s: float = 0.25  # how often the loop says that it comes round
    stuck_after_s: float = 10.0
    ask_every_s: float = 1.0  # each server
    patience_s: float = 2.0  # with an answer of a server


@dataclass(slots=True)
class ServerHealth:
    """What is known of a server; `None` and no time of asking: nothing yet."""

    error: str | None = "was not asked yet"
    asked_s: float | None = None  # when it was asked what it did not answer yet

    def check(self, now_s: float, patience_s: float) -> str:
        """Return "ok", or why the server counts as away."""
        if self.asked_s is not None and now_s - self.asked_s > patience_s:
            return f"no answer for {now_s - self.asked_s:.0f} s"
        return self.error or OK


@dataclass(slots=True)
class RoleHealth:
    """What a role says of itself."""

    servers: Sequence[str]  # without which it cannot work
    waits_for: str | None = "starting"  # None: it works

    def works(self) -> None:
        """Say that the role does its work."""
        self.waits_for = None

    def waits(self, what: str) -> None:
        """Say what the role waits for before it works again."""
        self.waits_for = what


@dataclass(slots=True)
class ProcessHealth:
    """The facts of a process; every time is in seconds of `clock`."""

    clock: Callable[[], float]
    options: HealthOptions = HealthOptions()
    beat_at_s: float | None = None  # None: the loop has not come round yet
    stopping: bool = False
    servers: dict[str, ServerHealth] = field(default_factory=dict[str, ServerHealth])
    roles: dict[str, RoleHealth] = field(default_factory=dict[str, RoleHealth])

    def beat(self) -> None:
        """Say that the loop comes round."""
        self.beat_at_s = self.clock()

    def loop_delay_s(self) -> float:
        """Return for how long the loop has not come round, beyond what is usual."""
        if self.beat_at_s is None:
            return 0.0
        return max(0.0, self.clock() - self.beat_at_s - self.options.beat_s)

    def healthy(self) -> tuple[bool, Checks]:
        """Return whether the loop comes round."""
        delay_s = self.loop_delay_s()
        if delay_s > self.options.stuck_after_s:
            return False, {"loop": f"stuck for {delay_s:.0f} s"}
        return True, {"loop": OK}

    def ready(self) -> tuple[bool, Mapping[str, Checks]]:
        """Return whether all roles are ready, and what was checked, by role."""
        found = {name: self._checks(role) for name, role in self.roles.items()}
        return all(map(_all_ok, found.values())) and bool(found), found

    def is_ready(self, name: str) -> bool:
        """Return whether one role is ready."""
        return _all_ok(self._checks(self.roles[name]))

    def _checks(self, role: RoleHealth) -> Checks:
        now_s, patience_s = self.clock(), self.options.patience_s
        return {
            **self.healthy()[1],
            **{name: self.servers[name].check(now_s, patience_s) for name in role.servers},
            "work": OK if role.waits_for is None else f"waits: {role.waits_for}",
            "stop": "stopping" if self.stopping else OK,
        }


def _all_ok(checks: Checks) -> bool:
    return all(found == OK for found in checks.values())
