"""How far a reader is behind the end of a log, in records and in seconds."""

from __future__ import annotations

from typing import NamedTuple

from agentjournal.ids import Partition, Position


class Behind(NamedTuple):
    """What there is to do: records, and how old the oldest of them is at most."""

    records: int
    seconds: float


def nowhere(_: Partition) -> None:
    """Say that the end of a log is not known."""


class Lag:
    """The lag of one reader over its partitions, from where it was seen at which time.

    Nobody asks the broker when a record came that was not read yet. But it came after the last one
    that was read, and after the reader was last seen at the end: the later of both is taken.
    """

    def __init__(self) -> None:
        self._at_end: dict[Partition, float] = {}
        self._behind_since: dict[Partition, float] = {}

    def look(
        self,
        partition: Partition,
        next_position: Position,
        end: Position | None,
        *,
        read_until_s: float | None,
        now_s: float,
    ) -> Behind:
        """Return how far behind a partition is; an `end` that is not known is taken for reached.

        `read_until_s` is the broker's time of the record before `next_position`, None where there
        is none; it and `now_s` in seconds since 1970.
        """
        records = 0 if end is None else max(0, end - next_position)
        if not records:
            if end is not None:
                self._at_end[partition] = now_s
            self._behind_since.pop(partition, None)
            return Behind(0, 0.0)
        since = self._behind_since.setdefault(partition, now_s)
        known = (read_until_s, self._at_end.get(partition))
        came_after = [each for each in known if each is not None]
        return Behind(records, max(0.0, now_s - max(came_after, default=since)))

    def forget(self) -> None:
        """Drop what was seen: partitions are taken anew."""
        self._at_end.clear()
        self._behind_since.clear()
