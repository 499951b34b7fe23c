"""events: every event as a row, its data as the exact bytes; and how far each stream is."""

from __future__ import annotations

from agentjournal.envelope import Recorded
from agentjournal.ids import STREAM_KINDS
from projections.projection import Context, Projection, read_sql
from projections.rows import Changes, Table

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
        "hash": "first",
        "data": "first",
    },
)
STREAMS = Table(
    "streams", {"stream": "key", "partition": "first", "version": "last", "hash": "last"}
)


def fold(recorded: Recorded, context: Context, changes: Changes) -> Context:
    """Add the event's row, and move its stream on."""
    r, hash_bytes = recorded, bytes.fromhex(recorded.hash)
    changes.add(
        "events",
        {
            "stream": r.stream,
            "version": r.version,
            "partition": r.partition,
            "position": r.position,
            "input_position": r.input_position,
            "batch_index": r.batch_index,
            "batch_size": r.batch_size,
            "type": r.type,
            "schema_version": r.schema_version,
            "event_id": r.id,
            "append_id": r.append_id,
            "source": r.source,
            "agent": r.agent,
            "worker": r.worker,
            "time": r.time,
            "recorded_at": r.recorded_at,
            "tokens": r.tokens,
            "correlation_id": r.correlation_id,
            "causation_id": r.causation_id,
            "traceparent": r.traceparent,
            "hash": hash_bytes,
            "data": r.raw_data,
        },
    )
    changes.add(
        "streams",
        {"stream": r.stream, "partition": r.partition, "version": r.version, "hash": hash_bytes},
    )
    return context._replace(version=r.version, hash=r.hash)


EVENTS_PROJECTION = Projection(
    name="events",
    generation=1,
    tables=(EVENTS, STREAMS),
    fold=fold,
    kinds=frozenset(STREAM_KINDS),
    types={},  # all of them, as bytes
    sql=read_sql("events.sql"),
)
