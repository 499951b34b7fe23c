"""events: every event as a row, its data as the exact bytes; and how far each stream is."""

from __future__ import annotations

from agentjournal.envelope import Recorded
from agentjournal.ids import STREAM_KINDS, Partition, StreamId, Version
from projections.projection import Context, Projection, read_sql
from projections.rows import Changes, Row, Table

EVENTS = Table(
    "events",
    {
        "stream": "key",
        "version": "key",
        "partition": "first",
        "position": "first",
        "input_position": "first",
        "batch_index": "first",
        "batch_size": "first",
        "type": "first",
        "schema_version": "first",
        "event_id": "first",
        "append_id": "first",
        "source": "first",
        "agent": "first",
        "worker": "first",
        "time": "first",
        "recorded_at": "first",
        "tokens": "first",
        "correlation_id": "first",
        "causation_id": "first",
        "traceparent": "first",
        "fence": "first",
        "hash": "first",
        "data": "first",
    },
    insert_only=True,
)
STREAMS = Table(
    "streams", {"stream": "key", "partition": "first", "version": "last", "hash": "last"}
)


def fold(recorded: Recorded, context: Context, changes: Changes) -> Context:
    """Add the event's row, and move its stream on."""
    r, hash_bytes = recorded, bytes.fromhex(recorded.hash)
    changes.insert(
        "events",
        (
            r.stream,
            r.version,
            r.partition,
            r.position,
            r.input_position,
            r.batch_index,
            r.batch_size,
            r.type,
            r.schema_version,
            r.id,
            r.append_id,
            r.source,
            r.agent,
            r.worker,
            r.time,
            r.recorded_at,
            r.tokens,
            r.correlation_id,
            r.causation_id,
            r.traceparent,
            r.fence,
            hash_bytes,
            r.raw_data,
        ),
    )
    changes.add_last("streams", r.stream, _stream, r.stream, r.partition, r.version, hash_bytes)
    return Context(r.version, r.hash, context.turn_id)


def _stream(stream: StreamId, partition: Partition, version: Version, hash_bytes: bytes) -> Row:
    return {"stream": stream, "partition": partition, "version": version, "hash": hash_bytes}


EVENTS_PROJECTION = Projection(
    name="events",
    tables=(EVENTS, STREAMS),
    fold=fold,
    kinds=frozenset(STREAM_KINDS),
    types={},  # all of them, as bytes
    sql=read_sql("events.sql"),
)
