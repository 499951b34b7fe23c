"""Some streams of a partition as they stand in the log, first occurrences only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentjournal.envelope import Recorded, parse_record
from agentjournal.ids import Partition, Position, StreamId
from commands.kafka_topic import KafkaTopic
from projections.whole_batches import WholeBatches
from streams.ports import Bounds

_AT_ONCE = 2_000  # records


class KafkaStreams:
    """Reads a partition from its start, and keeps the events of `streams`."""

    def __init__(
        self, topic: KafkaTopic, partition: Partition, streams: Iterable[StreamId]
    ) -> None:
        self._topic, self._partition = topic, partition
        self._events: dict[StreamId, list[Recorded]] = {stream: [] for stream in streams}
        self._batches = WholeBatches()
        self.end = Position(0)

    async def read_on(self) -> None:
        """Read what came since. Raises Unavailable, IntegrityError for a record of others."""
        bounds = (await self._topic.bounds())[self._partition]
        span = Bounds(max(self.end, bounds.start), bounds.end)
        waiting: list[Recorded] = []
        async for record in self._topic.read({self._partition: span}):
            waiting.append(parse_record(record.value, record.partition, record.position))
            if len(waiting) >= _AT_ONCE:
                self._keep(waiting)
                waiting = []
        self._keep(waiting)
        self.end = span.end

    def events(self, stream: StreamId) -> Sequence[Recorded]:
        """Return the events of a stream, in order."""
        return self._events[stream]

    def _keep(self, read: Sequence[Recorded]) -> None:
        for recorded in self._batches.whole(read):
            if (kept := self._events.get(recorded.stream)) is not None:
                kept.append(recorded)
