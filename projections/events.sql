-- Statements of the projection `events`, by name: one array a column.

-- name: contexts
SELECT stream, version, encode(hash, 'hex') AS hash, NULL::text AS turn_id
FROM agentjournal_internal.streams_1 WHERE stream = ANY (%(streams)s);

-- name: events
INSERT INTO agentjournal_internal.events_1 (
    stream, version, partition, position, input_position, batch_index, batch_size, type,
    schema_version, event_id, append_id, source, agent, worker, time, recorded_at, tokens,
    correlation_id, causation_id, traceparent, fence, hash, data
)
SELECT * FROM unnest(
    %(stream)b::text[], %(version)b::bigint[], %(partition)b::int[], %(position)b::bigint[],
    %(input_position)b::bigint[], %(batch_index)b::int[], %(batch_size)b::int[], %(type)b::text[],
    %(schema_version)b::int[], %(event_id)b::text[], %(append_id)b::text[], %(source)b::text[],
    %(agent)b::text[], %(worker)b::text[], %(time)b::text[], %(recorded_at)s::timestamptz[],
    %(tokens)b::bigint[], %(correlation_id)b::text[], %(causation_id)b::text[],
    %(traceparent)b::text[], %(fence)b::bigint[], %(hash)b::bytea[], %(data)b::bytea[]
);

-- name: streams
INSERT INTO agentjournal_internal.streams_1 AS t (stream, partition, version, hash)
SELECT * FROM unnest(
    %(stream)b::text[], %(partition)b::int[], %(version)b::bigint[], %(hash)b::bytea[]
)
ON CONFLICT (stream) DO UPDATE SET version = excluded.version, hash = excluded.hash;
