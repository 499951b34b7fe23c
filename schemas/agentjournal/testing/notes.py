"""Working memory of a log in memory."""

from __future__ import annotations

from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.testing.world import World
from agentjournal.working_memory import Cached, Needed, Note, StoredNotes


class MemoryNotes:
    """Working memory as the read models have it."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def wait_until(self, needed: Needed, timeout_s: float) -> None:
        """Return: what is needed shows."""

    async def read(self, stream: StreamId, partition: Partition) -> StoredNotes:
        """Return the notes as they stand now."""
        rows, events = self._world.cores.rows, self._world.streams.get(stream, [])
        ends = [each for each in rows("note_ends") if each["stream"] == stream]
        ended = max(
            (each.get(at) or 0 for each in ends for at in ("version", "expired_version")), default=0
        )
        noted = [
            events[row["version"] - 1]
            for row in rows("notes")
            if row["stream"] == stream and not row["deleted"] and row["version"] > ended
        ]
        notes = {each.data["key"]: Note(each.recorded_at, each.raw_data) for each in noted}
        place = Position(len(self._world.events[partition]))
        return StoredNotes(notes, True, place, Version(len(events)))


class NoNotes:
    """A cache of notes that holds none: what it would save is not worth its while in memory."""

    async def look(self, stream: StreamId, partition: Partition) -> Cached | None:
        """Return that it does not hold the stream."""

    async def fill(self, stream: StreamId, partition: Partition, stored: StoredNotes) -> None:
        """Take nothing."""

    async def close(self) -> None:
        """Nothing is open."""
