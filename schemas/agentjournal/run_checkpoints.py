"""A run that saves the agent's own state when its policy says so."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from agentjournal.checkpoints import CheckpointPolicy, CheckpointWatch, saving
from agentjournal.errors import LimitExceeded
from agentjournal.events import (
    Event,
    ToolCompleted,
    ToolFailed,
    ToolSettled,
    ToolStarted,
)
from agentjournal.events.tool import Effect
from agentjournal.receipts import Receipt
from agentjournal.run_handoffs import RunHandoffs

Snapshot: TypeAlias = Callable[[], Any | Awaitable[Any]]  # what the agent wants to find again


class RunCheckpoints(RunHandoffs):
    """Saves and goes back to states of the agent itself."""

    _watch: CheckpointWatch | None = None
    _snapshot: Snapshot | None = None

    def save_by(self, policy: CheckpointPolicy, snapshot: Snapshot) -> None:
        """Save what `snapshot()` returns whenever the policy says so, from now on."""
        self._watch = CheckpointWatch(policy, self.held_s)
        self._snapshot = snapshot

    async def append(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        expected_version: int | None = None,
        append_id: str | None = None,
    ) -> Receipt:
        """Append events under the fence, and a checkpoint before or after them if one is due.

        Raises what `Session.append` raises, LeaseLost, and what the agent's snapshot raises.
        """
        batch = [events] if isinstance(events, Event) else list(events)
        watch = self._watch
        if watch is None:
            return await super().append(
                batch, expected_version=expected_version, append_id=append_id
            )
        begun: list[Effect] = [event.effect for event in batch if isinstance(event, ToolStarted)]
        # One with an expected version is behind nothing that the caller does not know of.
        if expected_version is None and any(
            watch.about_to_run(effect, self.held_s) for effect in begun
        ):
            await self.save_checkpoint()
        receipt = await super().append(
            batch, expected_version=expected_version, append_id=append_id
        )
        ended = [watch.effect_ended(effect, self.held_s) for effect in self._ended_by(batch)]
        if watch.event_written(self.held_s, len(batch)) or any(ended):
            with contextlib.suppress(LimitExceeded):  # the events are recorded: say so
                await self.save_checkpoint()
        return receipt

    async def save_checkpoint(self, state: Any = None, *, label: str | None = None) -> str:
        """Save a state, without one what the snapshot of this run gives; return its id.

        Raises what `append` raises; ValueError when there is no state and no snapshot.
        """
        if state is None:
            if self._snapshot is None:
                raise ValueError("there is no state: give one, or resume with `checkpoint=`")
            taken = self._snapshot()
            state = await taken if inspect.isawaitable(taken) else taken
        event, watch = saving(state, label), self._watch
        if watch is not None:
            watch.saved(self.held_s)  # what is written while it is being recorded is not in it
        try:
            await super().append(event)
        except BaseException:
            if watch is not None:
                watch.event_written(self.held_s)  # it is not known to be saved
            raise
        return event.checkpoint_id

    async def restore_checkpoint(self, checkpoint_id: str | None = None) -> Any:
        """Return a saved state, without an id the last; see `Session.restore_checkpoint`.

        With a policy only the last `keep` can be gone back to.
        """
        keep = None if self._watch is None else self._watch.policy.keep
        state = await self.session.restore_checkpoint(checkpoint_id, keep=keep)
        await self.refresh()
        return state

    def _ended_by(self, batch: Sequence[Event]) -> list[Any]:
        """Return the effects of the calls that have an outcome by these events."""
        ids = [
            event.call_id
            for event in batch
            if isinstance(event, ToolCompleted | ToolFailed | ToolSettled)
        ]
        calls = [self.state.calls[call_id] for call_id in ids if call_id in self.state.calls]
        return [call.effect for call in calls if call.effect is not None]
