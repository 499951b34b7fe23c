"""A session that is about to be taken over."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentjournal.checkpoints import CheckpointPolicy
    from agentjournal.run import Run
    from agentjournal.run_checkpoints import Snapshot
    from agentjournal.session import Session


class Resuming:
    """What `Session.resume` returns: await it for a run, or use it with `async with`."""

    def __init__(
        self, session: Session, worker: str, lease_s: float, waits: tuple[float, float]
    ) -> None:
        self._session, self._worker, self._lease_s, self._waits = session, worker, lease_s, waits
        self._run: Run | None = None
        self.saving: tuple[CheckpointPolicy, Snapshot] | None = None

    def __await__(self) -> Generator[Any, None, Run]:
        return self._taken().__await__()

    async def _taken(self) -> Run:
        run = await self._session.taken(self._worker, self._lease_s, *self._waits)
        if self.saving is not None:
            run.save_by(*self.saving)
        return run

    async def __aenter__(self) -> Run:
        self._run = await self
        return self._run

    async def __aexit__(self, *_: object) -> None:
        if self._run is not None:
            await self._run.release()
