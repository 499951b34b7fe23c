"""States that an agent saves and goes back to, in a session or a task."""

from __future__ import annotations

from typing import Any

from agentjournal.checkpoints import kept, saving
from agentjournal.errors import CheckpointNotFound, IntegrityError, NotConfigured
from agentjournal.events import CheckpointRestored, CheckpointSaved
from agentjournal.handle import Handle
from agentjournal.state import SessionState
from agentjournal.task_state import TaskState


class SessionCheckpoints(Handle):
    """What an agent itself wants to find again, besides what the log knows of it."""

    async def current(self, *, timeout_s: float = 5.0) -> SessionState | TaskState:
        """Return the newest state: one to look at, not to keep."""
        raise NotImplementedError

    async def save_checkpoint(
        self,
        state: Any,
        label: str | None = None,
        schema_version: int = 1,
        *,
        checkpoint_id: str | None = None,
        timeout_s: float = 30.0,
    ) -> str:
        """Record `state`, any value, exactly; return the id to find it by.

        One over 64 KiB goes to the artifact store and comes back by itself. `schema_version` is
        that of the state's own form. Of two under one `checkpoint_id` the first stands.
        Raises what `append` raises.
        """
        event = saving(state, label, schema_version, checkpoint_id)
        await self.append(event, timeout_s=timeout_s)
        return event.checkpoint_id

    async def restore_checkpoint(
        self, checkpoint_id: str | None = None, *, keep: int | None = None, timeout_s: float = 5.0
    ) -> Any:
        """Return a state as it was saved, without an id the last, and record that it is used.

        With `keep` only the last so many can be gone back to. A state that was saved as an artifact
        by hand comes as the bytes of the artifact. Raises CheckpointNotFound, what `load` and
        `append` raise, and what `artifact` raises.
        """
        known = (await self.current(timeout_s=timeout_s)).checkpoints
        found = [c for c in kept(known, keep) if checkpoint_id in {None, c.checkpoint_id}]
        if not found:
            raise CheckpointNotFound(self.stream, checkpoint_id)
        saved = await self._saved(found[0].version)
        state = saved.state
        if "state" not in saved.model_fields_set and saved.artifact is not None:
            store = self._servers.artifacts
            if store is None:
                raise NotConfigured(f"there is no artifact store that has {saved.artifact}")
            state = await store.read(saved.artifact)
        await self.append(CheckpointRestored(checkpoint_id=saved.checkpoint_id))
        return state

    async def _saved(self, version: int) -> CheckpointSaved:
        found = self._servers.views.read_stream(self.stream, after=version - 1, most=1)
        async for recorded in found:
            event = recorded.event
            if isinstance(event, CheckpointSaved) and recorded.version == version:
                return event
        raise IntegrityError(f"{self.stream}: version {version} is no checkpoint any more")
