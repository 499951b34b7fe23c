-- What the client reads, by name: views only, so that it needs no other right.

-- name: load
-- The head and the events in one statement: one moment of the database.
SELECT s.version AS last_version, s.head_hash, e.version, e.type, e.raw_data, e.event_id, e.source,
       e.schema_version, e.append_id, e.batch_index, e.batch_size, e.input_position,
       e.recorded_at, e.hash, e.time, e.tokens, e.agent, e.worker, e.correlation_id,
       e.causation_id, e.traceparent, e.fence, e.partition, e.position
FROM agentjournal.streams AS s
JOIN agentjournal.events AS e USING (stream)
WHERE stream = %(stream)s AND e.version > %(after)s
ORDER BY e.version
LIMIT %(most)s;

-- name: page
-- What a state is folded from, and no more of the envelope than that.
SELECT version, type, schema_version, raw_data, recorded_at, tokens, hash
FROM agentjournal.events
WHERE stream = %(stream)s AND version > %(after)s
ORDER BY version
LIMIT %(most)s;

-- name: page_head
-- Where the stream ends, and the last event that is stored of it, in one moment of the database.
SELECT s.version, s.head_hash, p.projection, p.version AS parked_version,
       (SELECT max(e.version) FROM agentjournal.events AS e
        WHERE e.stream = %(stream)s) AS last_stored
FROM (VALUES (%(stream)s::text)) AS asked (stream)
LEFT JOIN agentjournal.streams AS s USING (stream)
LEFT JOIN agentjournal.parked AS p ON p.stream = asked.stream AND p.projection = 'events';

-- name: head
SELECT version, head_hash FROM agentjournal.streams WHERE stream = %(stream)s;

-- name: parked
SELECT projection, version FROM agentjournal.parked
WHERE stream = %(stream)s
    AND CASE WHEN %(projections)s::text[] IS NULL THEN projection NOT IN ('recall', 'embeddings')
        ELSE projection = ANY (%(projections)s) END
LIMIT 1;

-- name: input_reached
-- What recall searches comes a little later, and its vectors later still: nobody waits for that.
SELECT coalesce(bool_and(input_position >= %(position)s), false)
FROM agentjournal.projection_status
WHERE partition = %(partition)s
    AND CASE WHEN %(projections)s::text[] IS NULL THEN projection NOT IN ('recall', 'embeddings')
        ELSE projection = ANY (%(projections)s) END;

-- name: output_reached
SELECT coalesce(bool_and(next_position >= %(position)s), false)
FROM agentjournal.projection_status
WHERE partition = %(partition)s
    AND CASE WHEN %(projections)s::text[] IS NULL THEN projection NOT IN ('recall', 'embeddings')
        ELSE projection = ANY (%(projections)s) END;

-- name: sessions
SELECT tenant, session_id, user_id, agent, title, status, started_at, last_activity_at, version,
       messages, input_tokens, output_tokens, open_calls
FROM agentjournal.sessions
WHERE tenant = %(tenant)s
    AND (%(user)s::text IS NULL OR user_id = %(user)s)
    AND (%(status)s::text IS NULL OR status = %(status)s)
    AND (%(after)s::text IS NULL OR (last_activity_at, session_id) < (
        SELECT a.last_activity_at, a.session_id FROM agentjournal.sessions AS a
        WHERE a.tenant = %(tenant)s AND a.session_id = %(after)s))
ORDER BY last_activity_at DESC, session_id DESC
LIMIT %(limit)s;
