"""Where the promoter looks for sessions: those of late first, then those longest ago.

Pure. A place moves up behind what is dealt with, so that a scan looks at few.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from agentjournal.ids import Partition, StreamId, Version

LONGEST_IDLE_S = 1e9  # near for ever
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_LATE = timedelta(hours=1)  # who ended just now does not wait for those longest ago
_AGAIN = timedelta(seconds=10)  # by which the broker's clock may have been set back meanwhile


class Due(NamedTuple):
    """A session that has ended or is idle, and the version at which it is shown."""

    stream: StreamId
    version: Version
    partition: Partition
    active_hour: datetime  # of its last event


class Place(NamedTuple):
    """Up to when a partition is shown, and since when not all is dealt with (None: ever)."""

    partition: Partition
    read_until: datetime
    looked_until: datetime | None


def of_late(places: Sequence[Place], idle_s: float) -> list[tuple[Partition, datetime]]:
    """Return since when to look for sessions that ended or became idle lately."""
    return [(place.partition, max(_recent(place, idle_s), _since(place))) for place in places]


def of_old(places: Sequence[Place], idle_s: float) -> list[tuple[Partition, datetime]]:
    """Return since when to look in the partitions that are not dealt with up to lately."""
    return [
        (place.partition, _since(place))
        for place in places
        if _since(place) < _recent(place, idle_s)
    ]


def moved(place: Place, found: Sequence[Due], most: int, idle_s: float) -> datetime | None:
    """Return up to when a partition is dealt with, once what was found there is; None: as before.

    `found` are those longest ago, at most `most`; `idle_s` is the longest that one is waited for.
    """
    if len(found) < most:
        until = _recent(place, idle_s)
    else:
        until = min(found[-1].active_hour, _recent(place, idle_s))
    return until if until > _since(place) else None


def _since(place: Place) -> datetime:
    return place.looked_until or _LONG_AGO


def _recent(place: Place, idle_s: float) -> datetime:
    back = timedelta(seconds=idle_s)
    return max(_LONG_AGO, place.read_until - back - _LATE - _AGAIN)
