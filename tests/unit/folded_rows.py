"""What a projection makes of a stream's events, without a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agentjournal import Event, LeaseReleased, LeaseRenewed
from agentjournal.ids import Position, StreamId
from projections.folding import Place, ProjectionFold
from projections.projection import Projection
from projections.rows import Row
from tests.support import Stream, request, typed

BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)
_SAID_BY_THE_STREAM = ("stream", "tenant", "session_id", "task_id")


def at(second: int) -> str:
    """Return the broker's time of the event that is so many seconds after the first."""
    return (BEGAN + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def whole_rows(
    projection: Projection, *events: Event, stream: StreamId | None = None
) -> dict[str, list[Row]]:
    """Return the rows of all tables after these events, a second apart, without what is null."""
    writer = Stream(stream)
    for each in events:
        fence = each.fence if isinstance(each, LeaseRenewed | LeaseReleased) else None
        writer.accept(request(typed(each), fence=fence))
    recorded = [r._replace(position=Position(place)) for place, r in enumerate(writer.recorded)]
    fold = ProjectionFold(projection)
    fold.places[writer.partition] = Place(Position(0), (-1, -1), "")
    fold.put(fold.missing(recorded), {})
    changes = fold.fold({writer.partition: recorded}).changes
    return {
        table.name: [
            {name: value for name, value in row.items() if value is not None}
            for row in changes.sorted_rows(table.name)
        ]
        for table in projection.tables
    }


def rows_of(projection: Projection, *events: Event) -> dict[str, list[Row]]:
    """Return those rows without what follows from the stream, and without keys that are digests."""
    return {
        table: [
            {
                name: value
                for name, value in row.items()
                if name not in _SAID_BY_THE_STREAM and not isinstance(value, bytes)
            }
            for row in rows
        ]
        for table, rows in whole_rows(projection, *events).items()
    }
