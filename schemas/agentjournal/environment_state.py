"""What surrounds an agent: where it works, variables, packages, processes that it started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from agentjournal.events import EnvironmentChanged, Event, ProcessEnded, ProcessStarted
from agentjournal.ids import Version
from agentjournal.stored import Foldable


@dataclass(frozen=True, slots=True)
class ProcessState:
    """A process that outlives a tool call, from its start to its end."""

    process_id: str
    command: str = ""
    cwd: str = ""
    ports: Sequence[int] | None = None
    environment_names: Sequence[str] | None = None  # names, never values
    started_version: Version | None = None
    ended_version: Version | None = None
    exit_status: int | None = None


@dataclass(slots=True)
class EnvironmentState:
    """What an agent needs to find again before it goes on elsewhere."""

    cwd: str | None = None
    branch: str | None = None
    commit: str | None = None
    variables: dict[str, str] = field(default_factory=dict[str, str])
    """By name the digest of the value, or the value where that was allowed."""
    packages: dict[str, str] = field(default_factory=dict[str, str])  # name → version
    processes: dict[str, ProcessState] = field(default_factory=dict[str, ProcessState])

    @property
    def running(self) -> list[ProcessState]:
        """The processes that were started and did not end, in the order of their starts."""
        found = [p for p in self.processes.values() if p.ended_version is None]
        return sorted(found, key=lambda process: process.started_version or 0)

    def copied(self) -> EnvironmentState:
        """Return a state that goes on without this one."""
        copies = dict(self.variables), dict(self.packages), dict(self.processes)
        return EnvironmentState(self.cwd, self.branch, self.commit, *copies)


def _changed(environment: EnvironmentState, event: EnvironmentChanged, _: Foldable) -> None:
    """Unset first: a name that is in both has a value afterwards."""
    for name in event.unset or ():
        environment.variables.pop(name, None)
    environment.variables.update(event.variables or {})
    environment.packages.update(event.packages or {})
    environment.cwd = environment.cwd if event.cwd is None else event.cwd
    environment.branch = environment.branch if event.branch is None else event.branch
    environment.commit = environment.commit if event.commit is None else event.commit


def _started(environment: EnvironmentState, event: ProcessStarted, recorded: Foldable) -> None:
    """Note a process; of two starts under one id the first stands."""
    held = environment.processes.get(event.process_id) or ProcessState(event.process_id)
    if held.started_version is None:
        environment.processes[event.process_id] = replace(
            held,
            command=event.command,
            cwd=event.cwd,
            ports=event.ports,
            environment_names=event.environment_names,
            started_version=recorded.version,
        )


def _ended(environment: EnvironmentState, event: ProcessEnded, recorded: Foldable) -> None:
    """Note the end; the first stands."""
    held = environment.processes.get(event.process_id) or ProcessState(event.process_id)
    if held.ended_version is None:
        environment.processes[event.process_id] = replace(
            held, ended_version=recorded.version, exit_status=event.exit_status
        )


_Fold: TypeAlias = Callable[[EnvironmentState, Any, Foldable], None]
ENVIRONMENT_FOLDS: Mapping[type[Event], _Fold] = {
    EnvironmentChanged: _changed,
    ProcessStarted: _started,
    ProcessEnded: _ended,
}
