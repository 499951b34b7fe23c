"""What sessions and tasks have in common: plans, notes, checkpoints, decisions, surroundings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from agentjournal.environment_state import ENVIRONMENT_FOLDS, EnvironmentState
from agentjournal.events import (
    CheckpointRestored,
    CheckpointSaved,
    DecisionMade,
    Event,
    NoteDeleted,
    NoteSet,
)
from agentjournal.ids import Version
from agentjournal.planning import PLAN_FOLDS, PlanState
from agentjournal.stored import Foldable
from agentjournal.working_memory import has_expired


@dataclass(frozen=True, slots=True)
class NoteState:
    """A note that was set and neither deleted nor left behind by the session's end."""

    key: str
    value: Any
    version: Version
    recorded_at: str  # the broker's clock
    ttl_s: float | None = None

    def holds_at(self, moment: datetime) -> bool:
        """Whether its time has not passed."""
        return not has_expired(self.recorded_at, self.ttl_s, moment)


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice between alternatives, and why."""

    version: Version
    recorded_at: str
    question: str
    choice: Any
    reason: str
    by: str
    alternatives: Sequence[Any] | None = None


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """A state that an agent saved; what it holds stays in the log."""

    checkpoint_id: str
    version: Version  # of the event that saved it
    saved_at: str  # the broker's clock
    schema_version: int  # of the agent's state
    label: str | None = None
    restored_version: Version | None = None


@dataclass(slots=True, kw_only=True)
class WorkState:
    """The part of a state that sessions and tasks share."""

    plans: dict[str, PlanState] = field(default_factory=dict[str, PlanState])
    notes: dict[str, NoteState] = field(default_factory=dict[str, NoteState])
    environment: EnvironmentState = field(default_factory=EnvironmentState)
    checkpoints: dict[str, CheckpointState] = field(default_factory=dict[str, CheckpointState])
    decisions: list[Decision] = field(default_factory=list[Decision])
    notes_aside: dict[str, NoteState] = field(default_factory=dict[str, NoteState])  # while expired

    def notes_at(self, moment: datetime) -> dict[str, Any]:
        """Return the values of the notes that hold at a moment, in the order of their keys."""
        held = [note for _, note in sorted(self.notes.items()) if note.holds_at(moment)]
        return {note.key: note.value for note in held}

    def copied_work(self) -> dict[str, Any]:
        """Return the fields of this part, as they go on without this one."""
        return {
            "plans": dict(self.plans),
            "notes": dict(self.notes),
            "environment": self.environment.copied(),
            "checkpoints": dict(self.checkpoints),
            "decisions": list(self.decisions),
            "notes_aside": dict(self.notes_aside),
        }


def forget_notes(state: WorkState) -> None:
    """Drop the notes of a session that ends."""
    state.notes.clear()
    state.notes_aside.clear()


def put_notes_aside(state: WorkState) -> None:
    """Hide the notes of a session that expires."""
    state.notes_aside |= state.notes
    state.notes.clear()


def bring_notes_back(state: WorkState) -> None:
    """Show the notes that an expired session had, but for those that were written since."""
    state.notes = state.notes_aside | state.notes
    state.notes_aside = {}


def _note_set(state: WorkState, event: NoteSet, recorded: Foldable) -> None:
    state.notes[event.key] = NoteState(
        event.key, event.value, recorded.version, recorded.recorded_at, event.ttl_s
    )


def _note_deleted(state: WorkState, event: NoteDeleted, _: Foldable) -> None:
    state.notes.pop(event.key, None)
    state.notes_aside.pop(event.key, None)


def _decided(state: WorkState, event: DecisionMade, recorded: Foldable) -> None:
    decision = Decision(
        recorded.version,
        recorded.recorded_at,
        event.question,
        event.choice,
        event.reason,
        event.by,
        event.alternatives,
    )
    state.decisions.append(decision)


def _saved(state: WorkState, event: CheckpointSaved, recorded: Foldable) -> None:
    """Note a checkpoint; of two under one id the first stands."""
    if event.checkpoint_id not in state.checkpoints:
        state.checkpoints[event.checkpoint_id] = CheckpointState(
            event.checkpoint_id,
            recorded.version,
            recorded.recorded_at,
            event.state_schema_version,
            event.label,
        )


def _restored(state: WorkState, event: CheckpointRestored, recorded: Foldable) -> None:
    held = state.checkpoints.get(event.checkpoint_id)
    if held is not None:
        state.checkpoints[event.checkpoint_id] = replace(held, restored_version=recorded.version)


_Fold: TypeAlias = Callable[[WorkState, Any, Foldable], None]


def _of_plans(fold: Callable[[dict[str, PlanState], Any, Foldable], None]) -> _Fold:
    return lambda state, event, recorded: fold(state.plans, event, recorded)


def _of_environment(fold: Callable[[EnvironmentState, Any, Foldable], None]) -> _Fold:
    return lambda state, event, recorded: fold(state.environment, event, recorded)


WORK_FOLDS: Mapping[type[Event], _Fold] = {
    **{model: _of_plans(fold) for model, fold in PLAN_FOLDS.items()},
    **{model: _of_environment(fold) for model, fold in ENVIRONMENT_FOLDS.items()},
    NoteSet: _note_set,
    NoteDeleted: _note_deleted,
    DecisionMade: _decided,
    CheckpointSaved: _saved,
    CheckpointRestored: _restored,
}
