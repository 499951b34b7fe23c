-- Statements that every projection's bookkeeping is made of, by name.

-- name: register
INSERT INTO agentjournal_internal.projections (projection, generation, digest)
VALUES (%(projection)s, %(generation)s, %(digest)s) ON CONFLICT DO NOTHING;

-- name: live
-- No row: it is the one that the migrations made.
SELECT generation FROM agentjournal_internal.live_generations WHERE projection = %(projection)s;

-- name: registered
SELECT digest FROM agentjournal_internal.projections
WHERE projection = %(projection)s AND generation = %(generation)s;

-- name: places
SELECT partition, next_position, input_position, batch_index, record_hash, read_until
FROM agentjournal_internal.projection_checkpoints
WHERE projection = %(projection)s AND generation = %(generation)s
    AND partition = ANY (%(partitions)s);

-- name: positions
SELECT projection, partition, next_position
FROM agentjournal_internal.projection_checkpoints
JOIN unnest(%(projection)s::text[], %(generation)s::int[]) AS g (projection, generation)
    USING (projection, generation);

-- name: lock_places
-- In one order, so that two owners of some of them never wait in a circle.
SELECT partition, next_position
FROM agentjournal_internal.projection_checkpoints
WHERE projection = %(projection)s AND generation = %(generation)s
    AND partition = ANY (%(partitions)s)
ORDER BY partition
FOR UPDATE;

-- name: parked
SELECT stream FROM agentjournal_internal.parked
WHERE projection = %(projection)s AND generation = %(generation)s
    AND partition = ANY (%(partitions)s);

-- name: advance
-- By compare-and-set: a row whose place is not the one that was read is another's now.
-- Locked in one order first, so that two owners of some of them never wait in a circle.
WITH given AS (
    SELECT * FROM unnest(
        %(projection)b::text[], %(generation)b::int[], %(partition)b::int[],
        %(from_position)b::bigint[], %(next_position)b::bigint[], %(input_position)b::bigint[],
        %(batch_index)b::int[], %(record_hash)b::text[], %(read_until)s::timestamptz[]
    ) WITH ORDINALITY AS g (
        projection, generation, partition, from_position, next_position, input_position,
        batch_index, record_hash, read_until, number
    )
), locked AS (
    SELECT g.number
    FROM agentjournal_internal.projection_checkpoints AS c
    JOIN given AS g USING (projection, generation, partition)
    WHERE c.next_position = g.from_position
    ORDER BY g.number
    FOR UPDATE OF c
)
UPDATE agentjournal_internal.projection_checkpoints AS c
SET next_position = g.next_position, input_position = g.input_position,
    batch_index = g.batch_index, record_hash = g.record_hash,
    read_until = coalesce(g.read_until, c.read_until)
FROM given AS g JOIN locked USING (number)
WHERE c.projection = g.projection AND c.generation = g.generation
    AND c.partition = g.partition AND c.next_position = g.from_position
RETURNING c.projection, c.partition;

-- name: park
INSERT INTO agentjournal_internal.parked (
    projection, generation, stream, partition, version, error
)
VALUES (
    %(projection)s, %(generation)s, %(stream)s, %(partition)s, %(version)s, %(error)s
)
ON CONFLICT DO NOTHING;

-- name: unpark
DELETE FROM agentjournal_internal.parked
WHERE projection = %(projection)s AND generation = %(generation)s AND stream = %(stream)s;

-- name: types
SELECT t.typname FROM unnest(%(columns)s::text[]) WITH ORDINALITY AS c (name, number)
JOIN pg_attribute AS a ON a.attrelid = %(table)s::regclass AND a.attname = c.name
JOIN pg_type AS t ON t.oid = a.atttypid
ORDER BY c.number;

-- name: is_parked
SELECT FROM agentjournal_internal.parked
WHERE projection = %(projection)s AND generation = %(generation)s AND stream = %(stream)s;

-- name: all_parked
SELECT stream, partition, version, error FROM agentjournal_internal.parked
WHERE projection = %(projection)s AND generation = %(generation)s
ORDER BY partition, stream;
