-- Statements of the projection `events`, by name: one array a column.

-- name: contexts
SELECT stream, version, encode(hash, 'hex') AS hash, NULL::text AS turn_id
FROM agentjournal_internal.streams_1 WHERE stream = ANY (%(streams)s);

-- name: events
INSERT INTO agentjournal_internal.events_1 (
    stream, version, partition, position, input_position, batch_index, batch_size, type,
    schema_version, event_id, append_id, source, agent, worker, time, recorded_at, tokens,
    correlation_id, causation_id, traceparent, hash, data
)
SELECT * FROM unnest(
    %(stream)s::text[], %(version)s::bigint[], %(partition)s::int[], %(position)s::bigint[],
    %(input_position)s::bigint[], %(batch_index)s::int[], %(batch_size)s::int[], %(type)s::text[],
    %(schema_version)s::int[], %(event_id)s::text[], %(append_id)s::text[], %(source)s::text[],
    %(agent)s::text[], %(worker)s::text[], %(time)s::text[], %(recorded_at)s::timestamptz[],
    %(tokens)s::bigint[], %(correlation_id)s::text[], %(causation_id)s::text[],
    %(traceparent)s::text[], %(hash)s::bytea[], %(data)s::bytea[]
);

-- name: streams
INSERT INTO agentjournal_internal.streams_1 AS t (stream, partition, version, hash)
SELECT * FROM unnest(
    %(stream)s::text[], %(partition)s::int[], %(version)s::bigint[], %(hash)s::bytea[]
)
ON CONFLICT (stream) DO UPDATE SET version = excluded.version, hash = excluded.hash;
