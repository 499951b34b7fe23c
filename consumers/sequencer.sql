-- Statements of the sequencer, by name. Every one but `seen` and `take` holds only under the epoch.

-- name: owners
SELECT partition, owner FROM agentjournal_internal.sequencer_checkpoints;

-- name: seen
SELECT epoch FROM agentjournal_internal.sequencer_checkpoints WHERE partition = %(partition)s;

-- name: take
UPDATE agentjournal_internal.sequencer_checkpoints
SET epoch = epoch + 1, owner = %(owner)s
WHERE partition = %(partition)s AND epoch = %(epoch)s
RETURNING epoch, rules, next_input, input_digest, next_output, output_digest;

-- name: release
UPDATE agentjournal_internal.sequencer_checkpoints
SET owner = '' WHERE partition = %(partition)s AND epoch = %(epoch)s;

-- name: load
-- One row per wanted stream; no row at all means that the epoch has passed.
SELECT wanted.stream, h.version, h.hash, h.status, h.user_digest, h.last_activity_ms, h.bytes,
       h.tokens, h.lease_fence, h.lease_until_ms, h.lease_ms, h.lease_holder,
       h.started_ms, h.ttl_ms, h.limits, h.appends
FROM agentjournal_internal.sequencer_checkpoints AS c
CROSS JOIN unnest(%(streams)b::text[]) AS wanted (stream)
LEFT JOIN agentjournal_internal.heads AS h ON h.stream = wanted.stream
WHERE c.partition = %(partition)s AND c.epoch = %(epoch)s;

-- name: save_checkpoints
-- Locked in the order of partitions, so that two owners of some of them never wait in a circle.
WITH given AS (
    SELECT * FROM unnest(
        %(partitions)b::int[], %(epochs)b::bigint[],
        %(next_inputs)b::bigint[], %(input_digests)b::bytea[],
        %(next_outputs)b::bigint[], %(output_digests)b::bytea[]
    ) AS g (partition, epoch, next_input, input_digest, next_output, output_digest)
), locked AS (
    SELECT c.partition
    FROM agentjournal_internal.sequencer_checkpoints AS c
    JOIN given USING (partition, epoch)
    ORDER BY c.partition
    FOR UPDATE OF c
)
UPDATE agentjournal_internal.sequencer_checkpoints AS c
SET next_input = g.next_input, input_digest = g.input_digest,
    next_output = g.next_output, output_digest = g.output_digest
FROM given AS g JOIN locked USING (partition)
WHERE c.partition = g.partition AND c.epoch = g.epoch
RETURNING c.partition;

-- name: save_heads
INSERT INTO agentjournal_internal.heads AS h (
    stream, partition, version, hash, status, user_digest, last_activity_ms, bytes, tokens,
    lease_fence, lease_until_ms, lease_ms, lease_holder, started_ms, ttl_ms, limits, appends
)
SELECT * FROM unnest(
    %(stream)b::text[], %(partition)b::int[], %(version)b::bigint[], %(hash)b::text[],
    %(status)b::text[], %(user)b::bytea[], %(last_activity_ms)b::bigint[], %(data_bytes)b::bigint[],
    %(tokens)b::bigint[], %(lease_fence)b::bigint[], %(lease_until_ms)b::bigint[],
    %(lease_ms)b::bigint[], %(lease_holder)b::text[], %(started_ms)b::bigint[],
    %(ttl_ms)b::bigint[], %(limits)b::bytea[], %(appends)b::bytea[]
)
ON CONFLICT (stream) DO UPDATE SET
    version = excluded.version, hash = excluded.hash, status = excluded.status,
    user_digest = excluded.user_digest, last_activity_ms = excluded.last_activity_ms,
    bytes = excluded.bytes, tokens = excluded.tokens, lease_fence = excluded.lease_fence,
    lease_until_ms = excluded.lease_until_ms, lease_ms = excluded.lease_ms,
    lease_holder = excluded.lease_holder, started_ms = excluded.started_ms,
    ttl_ms = excluded.ttl_ms, limits = excluded.limits, appends = excluded.appends;

-- name: drop_heads
DELETE FROM agentjournal_internal.heads AS h
USING agentjournal_internal.sequencer_checkpoints AS c
WHERE h.partition = c.partition AND c.partition = %(partition)s AND c.epoch = %(epoch)s;

-- name: rewind
UPDATE agentjournal_internal.sequencer_checkpoints
SET next_output = 0, output_digest = %(mark)s
WHERE partition = %(partition)s AND epoch = %(epoch)s
RETURNING partition;
