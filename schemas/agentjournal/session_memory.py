"""What a session keeps at hand: its notes, and results of tools that may be used again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.cached_results import CachedResult, result_at
from agentjournal.digests import arguments_digest
from agentjournal.ids import Position
from agentjournal.note_writer import NoteWriter
from agentjournal.partitions import partition_of
from agentjournal.ports import READ_FOR_RESULTS
from agentjournal.waiting import wait_until
from agentjournal.working_memory import Needed, live_values, read_notes


class SessionMemory(NoteWriter):
    """A session's working memory. Notes are events; what keeps them ready is only a cache."""

    async def notes(self, *, timeout_s: float = 5.0) -> Mapping[str, Any]:
        """Return the notes that hold, by key, with the exact values that were set.

        Gone are those that were deleted, whose time has passed by this machine's clock, or that
        were set before the session last ended. What is acknowledged through this handle is in
        it; through one that has written nothing, what anybody wrote before this call.

        Raises NotCaughtUp when the read models stay behind for `timeout_s`, StreamParked,
        Unavailable.
        """
        servers, needed = self._servers, await self._needed(timeout_s)
        found = await read_notes(
            servers.notes, servers.stored_notes, self.stream, needed, timeout_s
        )
        return live_values(found, servers.now())

    async def cached_result(
        self,
        tool: str,
        arguments: Any,
        *,
        max_age_s: float,
        reads_environment: bool = False,
        timeout_s: float = 5.0,
    ) -> CachedResult | None:
        """Return the latest success of the same call in the last `max_age_s` seconds, or None.

        The same call is one of the tenant whose `tool.started` has this tool, the effect `read` and
        the `arguments_digest` of tool and arguments. Calls that failed, whose outcome is not known,
        that were tried again since or rewound, and those that took a cached result themselves do
        not count. With `reads_environment` only calls of this session do, that began after its last
        `file.changed`, `environment.changed` or `snapshot.restored`.

        Raises ValueError for an age below 0, NotCaughtUp when the read models stay behind for
        `timeout_s`, AppendRejected for arguments that cannot be written, StreamParked, Unavailable.
        """
        if not max_age_s >= 0:
            raise ValueError(f"max_age_s={max_age_s} is not a time of at least 0 s")
        call = tool, arguments_digest(tool, arguments)
        servers, needed = self._servers, await self._needed(timeout_s)
        await wait_until(servers.views, needed, READ_FOR_RESULTS, timeout_s)
        only = self.id if reads_environment else None
        found = await servers.results.latest(self.tenant, call, max_age_s, only)
        return None if found is None else await result_at(servers.views, self.tenant, *found)

    async def _needed(self, timeout_s: float) -> Needed:
        """Return what a fresh read must show."""
        partition = partition_of(self.stream.encode())
        if self._last is not None:
            return Needed(partition, Position(0), self._last)
        end = await self._servers.ends.end_of(partition, timeout_s=timeout_s)
        return Needed(partition, end)
