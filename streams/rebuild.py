"""Heads from the log alone: what the sequencer falls back on when its saved heads do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agentjournal.codec import decode
from agentjournal.envelope import Recorded, parse_record
from agentjournal.ids import Milliseconds, Partition, Position, StreamId
from agentjournal.requests import NewEvent, content_digest
from streams.head import EMPTY, Head, Seen, id_digest, remember_append, status_after, user_after
from streams.partition_fold import Stored


class Rebuild:
    """Takes the records of a partition from its start on, and keeps the heads they give.

    `next_input` is where the fold goes on, `next_output` the position after the last whole batch,
    `last` its last record. `tail` holds the records of a batch that the log has only in part: they
    are met again when its request is folded.
    """

    def __init__(self, partition: Partition, start: Position) -> None:
        self.heads: dict[StreamId, Head] = {}
        self.next_input, self.next_output = Position(0), start
        self.last: Stored | None = None
        self._partition = partition
        self._batch: list[tuple[Recorded, Stored]] = []
        self._order = (-1, -1)

    def add(self, stored: Stored) -> None:
        """Take the next record; a repeat changes nothing.

        Raises IntegrityError when its hash is not that of its bytes.
        """
        recorded = parse_record(stored.record, self._partition, stored.position)
        if recorded.order <= self._order:
            return
        self._order = recorded.order
        self._batch.append((recorded, stored))
        if len(self._batch) < recorded.batch_size:
            return
        events = [event for event, _ in self._batch]
        head = self.heads.get(recorded.stream, EMPTY)
        self.heads[recorded.stream] = _after(head, events)
        self.next_input = Position(recorded.input_position + 1)
        self.next_output, self.last = Position(stored.position + 1), stored
        self._batch = []

    @property
    def tail(self) -> list[Stored]:
        return [stored for _, stored in self._batch]


def _after(head: Head, events: Sequence[Recorded]) -> Head:
    for event in events:
        body = decode(event.raw_data) if event.type == "session.started" else {}
        head = head._replace(
            status=status_after(head.status, event.type),
            user=user_after(head.user, event.type, body),
            data_bytes=head.data_bytes + len(event.raw_data),
            tokens=head.tokens + (event.tokens or 0),
        )
    mine = [event for event in events if not event.start]
    digest = content_digest(
        [NewEvent(e.id, e.type, e.raw_data, schemaversion=e.schema_version) for e in mine]
    )
    last = events[-1]
    seen = Seen(digest, mine[0].version, len(mine), last.input_position)
    return head._replace(
        version=last.version,
        hash=last.hash,
        last_activity_ms=_milliseconds(last.recorded_at),
        appends=remember_append(head.appends, id_digest(last.append_id), seen),
    )


def _milliseconds(recorded_at: str) -> Milliseconds:
    return Milliseconds(round(datetime.fromisoformat(recorded_at).timestamp() * 1_000))
