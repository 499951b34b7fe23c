"""A task: work that outlives the sessions that it is done in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentjournal.errors import TaskNotFound
from agentjournal.events import LeaseAcquired
from agentjournal.handle import Servers, Writer
from agentjournal.ids import StreamId
from agentjournal.leasing import Keeper, checked_length, process_name, take_when_free
from agentjournal.note_writer import NoteWriter
from agentjournal.outgoing import checked_id
from agentjournal.receipts import Receipt
from agentjournal.session_plans import SessionPlans
from agentjournal.task_loading import stored_fold
from agentjournal.task_state import TaskState


class Task(NoteWriter, SessionPlans):
    """One task. Making a handle writes nothing; its appends keep their order."""

    def __init__(self, stream: StreamId, servers: Servers, writer: Writer) -> None:
        super().__init__(stream, servers, writer)
        self._kept: TaskState | None = None  # from one reading to the next

    async def load(self, *, fresh: bool = True, timeout_s: float = 5.0) -> TaskState:
        """Return what the task has come to: plans, notes, checkpoints, decisions.

        Fresh means that everything acknowledged through this handle is in it; through one that has
        written nothing, or was not the fastest, what anybody wrote before this call.

        Raises TaskNotFound, NotCaughtUp when the read models stay behind for `timeout_s`,
        StreamParked, EventUnreadable, IntegrityError when the events are not the whole chain.
        """
        if fresh:
            await self._catch_up(timeout_s)
        state = await stored_fold(self._servers.views, self.stream, TaskState)
        if not state.version:
            raise TaskNotFound(self.stream)
        return state

    async def current(self, *, timeout_s: float = 5.0) -> TaskState:
        """Return the newest state without reading all of it again: one to look at, not to keep.

        It goes on at the next read of this handle. Empty when the task has not begun. Raises what
        `load` raises.
        """
        await self._catch_up(timeout_s)
        # Taken out meanwhile: a call beside this one, or after a failure, reads from the start.
        kept, self._kept = self._kept, None
        self._kept = state = await stored_fold(self._servers.views, self.stream, TaskState, kept)
        return state

    async def notes(self, *, timeout_s: float = 5.0) -> Mapping[str, Any]:
        """Return the notes that hold, by key, with the exact values. Raises what `load` raises."""
        return (await self.current(timeout_s=timeout_s)).notes_at(self.now())

    def lease(
        self,
        *,
        worker: str | None = None,
        lease_s: float = 60.0,
        wait_s: float = 0.0,
        timeout_s: float = 30.0,
    ) -> TaskLease:
        """Take the task's lease: `async with task.lease() as task` gives a handle under its fence.

        It is renewed until it is left. Everything that the handle writes raises LeaseLost once
        another worker took the task. `worker` is a name that no other worker has; while another
        holds the lease, up to `wait_s` are spent waiting for it.

        Entering raises LeaseHeld, and what `append` raises; ValueError for a length that is none.
        """
        name = checked_id("worker", worker or self._writer.worker or process_name())
        return TaskLease(self, name, checked_length(lease_s), (wait_s, timeout_s))

    async def taken(
        self, worker: str, lease_s: float, waits: tuple[float, float]
    ) -> tuple[Task, Keeper]:
        """Return the handle that `lease` is for, and what renews the lease."""
        receipt = await take_when_free(self, worker, lease_s, *waits)
        lease = LeaseAcquired(holder=worker, fence=receipt.first_version, lease_s=lease_s)
        held = Task(
            self.stream, self._servers, replace(self._writer, worker=worker, fence=lease.fence)
        )
        held.go_on(receipt, self._written_at)
        keeper = Keeper(held, lease)
        keeper.start()
        return held, keeper

    def go_on(self, last: Receipt, written_at: float) -> None:
        """Take over what another handle of the task knows."""
        self._last, self._written_at = last, written_at


class TaskLease:
    """What `Task.lease` returns: use it with `async with`."""

    def __init__(self, task: Task, worker: str, lease_s: float, waits: tuple[float, float]) -> None:
        self._task, self._worker, self._lease_s, self._waits = task, worker, lease_s, waits
        self._keeper: Keeper | None = None

    async def __aenter__(self) -> Task:
        task, self._keeper = await self._task.taken(self._worker, self._lease_s, self._waits)
        return task

    async def __aexit__(self, *_: object) -> None:
        if self._keeper is not None:
            await self._keeper.release()
