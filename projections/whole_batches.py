"""Appends are atomic for readers too: events are held back until their batch is whole."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.envelope import Recorded


class WholeBatches:
    """Takes the events of one partition as they are read; gives back those of whole batches.

    What makes a batch whole is the first occurrence of each event, in the order of decisions.
    """

    def __init__(self) -> None:
        self._order = (-1, -1)
        self._part: list[tuple[Recorded, bool]] = []  # from a batch on whose end is still to come
        self._is_whole = True

    def whole(self, events: Sequence[Recorded]) -> list[Recorded]:
        """Return the events up to the end of the last whole batch, repeats dropped."""
        return [recorded for recorded, is_first in self._passed(events) if is_first]

    def passed(self, events: Sequence[Recorded]) -> list[Recorded]:
        """Return the events up to the end of the last whole batch, repeats in their places.

        A reader that keeps positions drops repeats itself, but must get past them: else it would
        never be at the end of a log that ends with repeats.
        """
        return [recorded for recorded, _ in self._passed(events)]

    def _passed(self, events: Sequence[Recorded]) -> list[tuple[Recorded, bool]]:
        ready: list[tuple[Recorded, bool]] = []
        for recorded in events:
            is_first = recorded.order > self._order
            self._part.append((recorded, is_first))
            if is_first:
                self._order = recorded.order
                self._is_whole = recorded.batch_index + 1 == recorded.batch_size
            if self._is_whole:
                ready += self._part
                self._part = []
        return ready
