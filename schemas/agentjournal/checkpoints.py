"""When an agent saves a checkpoint of its own state: a policy, and who watches over it.

Pure: the time is given, in seconds of any clock that only goes forward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from agentjournal.events import CheckpointSaved
from agentjournal.events.decode import rejection
from agentjournal.events.tool import Effect
from agentjournal.ids import new_event_id
from agentjournal.outgoing import checked_id
from agentjournal.work_state import CheckpointState

Happened: TypeAlias = Literal["effect_ended", "before_external", "event_written"]


@dataclass(frozen=True, slots=True)
class CheckpointPolicy:
    """When to save: each of these that is given is a reason, and one is enough.

    An effect is a call or step that does more than read. `keep` is how many of the last checkpoints
    may be gone back to; the log keeps all of them.
    """

    after_effects: bool = True
    every_events: int | None = None
    every_s: float | None = None
    before_external: bool = False
    keep: int = 3

    def __post_init__(self) -> None:
        for name, least in (("every_events", 1), ("every_s", 0), ("keep", 1)):
            given = getattr(self, name)
            if given is not None and not given >= least:
                raise ValueError(f"{name}={given} is below {least}")


@dataclass(frozen=True, slots=True)
class Unsaved:
    """What happened since the last checkpoint, or since the watch began."""

    events: int = 0
    since_s: float = 0.0
    effects: int = 0


def due(policy: CheckpointPolicy, unsaved: Unsaved, happened: Happened, now_s: float) -> bool:
    """Whether to save now that this happened; never when nothing was written since the last."""
    if not unsaved.events and not unsaved.effects:
        return False
    if happened == "effect_ended" and policy.after_effects:
        return True
    if happened == "before_external" and policy.before_external:
        return True
    if policy.every_events is not None and unsaved.events >= policy.every_events:
        return True
    return policy.every_s is not None and now_s - unsaved.since_s >= policy.every_s


class CheckpointWatch:
    """Told what happens in a run, answers whether to save a checkpoint now.

    Each answer that is yes is to be followed by `saved` once the checkpoint is recorded; until then
    the answer stays yes for the same reason. The event that saves it does not count.
    """

    def __init__(self, policy: CheckpointPolicy, now_s: float) -> None:
        self.policy = policy
        self._unsaved = Unsaved(since_s=now_s)

    def event_written(self, now_s: float, count: int = 1) -> bool:
        """So many events were recorded."""
        self._note(events=count)
        return due(self.policy, self._unsaved, "event_written", now_s)

    def effect_ended(self, effect: Effect, now_s: float) -> bool:
        """A call or step has an outcome, and it is recorded."""
        if effect == "read":
            return due(self.policy, self._unsaved, "event_written", now_s)
        self._note(effects=1)
        return due(self.policy, self._unsaved, "effect_ended", now_s)

    def about_to_run(self, effect: Effect, now_s: float) -> bool:
        """A call or step is about to be recorded as begun."""
        happened: Happened = "before_external" if effect == "external" else "event_written"
        return due(self.policy, self._unsaved, happened, now_s)

    def saved(self, now_s: float) -> None:
        """A checkpoint is recorded."""
        self._unsaved = Unsaved(since_s=now_s)

    def _note(self, events: int = 0, effects: int = 0) -> None:
        held = self._unsaved
        self._unsaved = Unsaved(held.events + events, held.since_s, held.effects + effects)


def saving(
    state: Any, label: str | None, schema_version: int = 1, checkpoint_id: str | None = None
) -> CheckpointSaved:
    """Return the event that saves a state. Raises AppendRejected."""
    named = new_event_id() if checkpoint_id is None else checkpoint_id
    try:
        return CheckpointSaved(
            checkpoint_id=checked_id("checkpoint_id", named),
            label=label,
            schema_version=schema_version,
            state=state,
        )
    except ValidationError as error:
        raise rejection(error) from None


def kept(checkpoints: Mapping[str, CheckpointState], keep: int | None) -> list[CheckpointState]:
    """Return the last `keep` checkpoints, None for all, the latest first."""
    latest = sorted(checkpoints.values(), key=lambda each: each.version, reverse=True)
    return latest[:keep]
