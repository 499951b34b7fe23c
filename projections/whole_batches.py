"""Appends are atomic for readers too: events are held back until their batch is whole."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.envelope import Recorded


class WholeBatches:
    """Takes the events of one partition as they are read; gives back those of whole batches.

    Repeats are dropped on the way: what counts is the first occurrence, in the order of decisions.
    """

    def __init__(self) -> None:
        self._order = (-1, -1)
        self._part: list[Recorded] = []  # of a batch whose end is still to come

    def whole(self, events: Sequence[Recorded]) -> list[Recorded]:
        """Return the events, held-back ones first, up to the end of the last whole batch."""
        ready: list[Recorded] = []
        for recorded in events:
            if recorded.order <= self._order:
                continue
            self._order = recorded.order
            self._part.append(recorded)
            if recorded.batch_index + 1 == recorded.batch_size:
                ready += self._part
                self._part = []
        return ready
