"""The tables of a projection in memory, brought up to date when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.envelope import Recorded
from agentjournal.ids import Position, StreamId
from projections.folding import Place, ProjectionFold
from projections.projection import EMPTY, Context, Projection
from projections.rows import Changes, Row

_NOWHERE = Place(Position(0), (-1, -1), "")


class Rows:
    """What a projection makes of all events so far: changes of an empty table are the table."""

    def __init__(self, projection: Projection) -> None:
        self._fold = ProjectionFold(projection)
        self._changes = Changes(projection.tables)
        self._contexts: dict[StreamId, Context] = {}
        self._taken = 0

    def current(self, table: str, recorded: Sequence[Recorded]) -> list[Row]:
        """Return the rows of a table after all that is `recorded`, the earlier ones the same."""
        while self._taken < len(recorded):
            each = recorded[self._taken]
            self._fold.places.setdefault(each.partition, _NOWHERE)
            if self._fold.wanted(each):
                context = self._contexts.get(each.stream, EMPTY)
                fold = self._fold.projection.fold
                self._contexts[each.stream] = fold(each, context, self._changes)
            self._taken += 1
        return self._changes.sorted_rows(table)
