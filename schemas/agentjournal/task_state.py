"""The state of a task: a pure fold over its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

from agentjournal.envelope import NO_HASH
from agentjournal.events import Event, LeaseAcquired, LeaseReleased
from agentjournal.ids import StreamId, Version
from agentjournal.lease_state import SessionLease, lease_acquired, lease_released
from agentjournal.stored import Foldable
from agentjournal.summary import Summary
from agentjournal.work_state import WORK_FOLDS, WorkState


@dataclass(slots=True)
class TaskState(WorkState):
    """What a task has come to at `version`."""

    stream: StreamId
    version: Version = Version(0)
    hash: str = NO_HASH
    lease: SessionLease | None = None  # the last one, unless it was given back
    last: Foldable | None = field(default=None, compare=False, repr=False)
    summary: Summary = field(default_factory=Summary, compare=False)  # what it was folded from

    def apply(self, recorded: Foldable) -> None:
        """Take the next event of the task."""
        event = recorded.event
        fold = _fold_of(type(event))
        if fold is not None:
            fold(self, event, recorded)
        self.summary.count(recorded, event)
        self.version, self.hash, self.last = recorded.version, recorded.hash, recorded

    def copied(self) -> TaskState:
        """Return a state that goes on without this one."""
        return replace(self, summary=self.summary.copied(), **self.copied_work())


_Fold: TypeAlias = Callable[[TaskState, Any, Foldable], None]
_FOLDS: Mapping[type[Event], _Fold] = {
    **WORK_FOLDS,
    LeaseAcquired: lease_acquired,
    LeaseReleased: lease_released,
}


@cache
def _fold_of(kind: type[Event]) -> _Fold | None:
    """Return what folds events of a model, or of the model that it is made from."""
    return next((_FOLDS[base] for base in kind.__mro__ if base in _FOLDS), None)
