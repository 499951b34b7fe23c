-- What `verify` asks about the table of events, by name; views only.

-- name: places
-- While a generation is built there are two: rows before the lower place are in both.
SELECT partition, min(next_position) AS next_position
FROM agentjournal.projection_status WHERE projection = 'events' GROUP BY partition;

-- name: parked
SELECT stream FROM agentjournal.parked WHERE projection = 'events';

-- name: streams
SELECT stream FROM (
    (SELECT DISTINCT stream FROM agentjournal.events
     WHERE stream > %(after)s ORDER BY stream LIMIT %(most)s)
    UNION
    (SELECT stream FROM agentjournal.streams
     WHERE stream > %(after)s ORDER BY stream LIMIT %(most)s)
) AS found ORDER BY stream LIMIT %(most)s;

-- name: digests
-- A digest is as in row_digest.py. Rows beyond the checkpoint cannot be: one statement sees both.
WITH spans AS (
    SELECT * FROM unnest(%(partitions)s::int[], %(starts)s::bigint[], %(ends)s::bigint[])
        AS u (partition, first_position, end_position)
), places AS (
    SELECT partition, max(next_position) AS next_position
    FROM agentjournal.projection_status WHERE projection = 'events' GROUP BY partition
), stored AS (
    SELECT e.stream, e.version,
        e.position >= s.first_position AND e.position < s.end_position AS is_compared,
        p.partition IS NULL OR e.position >= p.next_position AS is_beyond,
        sha256(convert_to(concat_ws(E'\x1f',
            e.version, e.partition, e.position, e.input_position, e.batch_index, e.batch_size,
            e.type, e.schema_version, e.event_id, e.append_id, e.source,
            coalesce(e.agent, E'\x18'), coalesce(e.worker, E'\x18'), coalesce(e.time, E'\x18'),
            (extract(epoch FROM e.recorded_at) * 1000000)::bigint,
            coalesce(e.tokens::text, E'\x18'), coalesce(e.correlation_id, E'\x18'),
            coalesce(e.causation_id, E'\x18'), coalesce(e.traceparent, E'\x18'),
            coalesce(e.fence::text, E'\x18'), e.hash
        ), 'UTF8') || e.raw_data) AS digest
    FROM agentjournal.events AS e
    LEFT JOIN spans AS s ON s.partition = e.partition
    LEFT JOIN places AS p ON p.partition = e.partition
    WHERE e.stream = ANY (%(streams)s)
), by_stream AS (
    SELECT stream, count(*) FILTER (WHERE is_compared) AS compared,
        count(*) FILTER (WHERE is_beyond) AS beyond,
        sha256(string_agg(digest, ''::bytea ORDER BY version) FILTER (WHERE is_compared)) AS digest,
        max(version) AS last_version
    FROM stored GROUP BY stream
)
SELECT a.stream, coalesce(b.compared, 0) AS compared, coalesce(b.beyond, 0) AS beyond,
    coalesce(b.digest, ''::bytea) AS digest,
    coalesce(h.version, 0) = coalesce(b.last_version, 0)
        AND coalesce(h.head_hash, '') = coalesce(l.hash, '') AS head_fits
FROM unnest(%(streams)s::text[]) AS a (stream)
LEFT JOIN by_stream AS b USING (stream)
LEFT JOIN agentjournal.streams AS h USING (stream)
LEFT JOIN agentjournal.events AS l ON l.stream = a.stream AND l.version = b.last_version;

-- name: rows
SELECT stream, version, partition, position, input_position, batch_index, batch_size, type,
    schema_version, event_id, append_id, source, agent, worker, time,
    (extract(epoch FROM recorded_at) * 1000000)::bigint AS recorded_at_us, tokens, correlation_id,
    causation_id, traceparent, fence, hash, raw_data
FROM unnest(%(streams)s::text[], %(versions)s::bigint[]) AS u (stream, version)
JOIN agentjournal.events USING (stream, version);

-- name: beside
SELECT version, partition, position FROM agentjournal.events
WHERE stream = %(stream)s AND (version < %(first)s OR version > %(last)s)
    AND position >= %(start)s AND position < %(end)s
ORDER BY version LIMIT %(most)s;
