-- What those who follow streams are told, all of them by one statement: views only.

-- name: heads
SELECT stream, version FROM agentjournal.streams WHERE stream = ANY (%(streams)s);

-- name: behind
-- Where nothing is new, the head says so. Each stream has its share, so that one that is written
-- to all the time does not keep the others waiting.
SELECT asked.stream, s.version AS last_version, e.version, e.type, e.raw_data, e.event_id, e.source,
       e.schema_version, e.append_id, e.batch_index, e.batch_size, e.input_position,
       e.recorded_at, e.hash, e.time, e.tokens, e.agent, e.worker, e.correlation_id,
       e.causation_id, e.traceparent, e.fence, e.partition, e.position
FROM unnest(%(streams)s::text[], %(versions)s::bigint[]) AS asked (stream, version)
JOIN agentjournal.streams AS s ON s.stream = asked.stream AND s.version > asked.version
CROSS JOIN LATERAL (
    SELECT * FROM agentjournal.events AS stored
    WHERE stored.stream = asked.stream AND stored.version > asked.version
    ORDER BY stored.version
    LIMIT %(share)s
) AS e
LIMIT %(most)s;

-- name: parked
SELECT stream, projection, version FROM agentjournal.parked
WHERE projection = 'events' AND stream = ANY (%(streams)s);

-- name: appended
SELECT DISTINCT append_id FROM agentjournal.events
WHERE stream = %(stream)s AND append_id = ANY (%(append_ids)s);
