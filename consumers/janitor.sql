-- Statements of the janitor, by name.

-- name: lock_limits
LOCK TABLE agentjournal_internal.configured_limits IN SHARE ROW EXCLUSIVE MODE;

-- name: forget_limits
DELETE FROM agentjournal_internal.configured_limits;

-- name: put_limits
INSERT INTO agentjournal_internal.configured_limits (tenant, name, maximum, policy)
SELECT * FROM unnest(
    %(tenant)b::text[], %(name)b::text[], %(maximum)b::float8[], %(policy)b::text[]);

-- name: in_order
-- For the statement `idle`: the first in the order of an index are few, but the planner, which takes
-- what the rest asks for to be rare, would rather look at all and sort them (8 s for 200,000).
SELECT set_config(name, 'off', true)
FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit']) AS name;

-- name: idle
-- Only where all that is asked is as of one place of the log, and of streams that none stopped at.
-- How long nothing has happened is asked first: it takes no look at another table.
WITH bounds AS (
    SELECT now() - make_interval(secs => %(margin_s)s) AS as_of,
           coalesce(min(maximum), 259200) AS least_ttl_s
    FROM agentjournal_internal.configured_limits WHERE name = 'ttl_s'
), hours AS (
    SELECT as_of, date_trunc('hour', as_of AT TIME ZONE 'UTC') AS due,
           date_trunc('hour', (as_of - make_interval(secs => least(least_ttl_s, 1e9)))
               AT TIME ZONE 'UTC') AS active
    FROM bounds
), even AS (
    SELECT partition FROM agentjournal.projection_status
    WHERE projection IN ('conversation', 'execution', 'plan')
    GROUP BY partition HAVING min(next_position) = max(next_position)
)
SELECT found.stream, found.partition, found.version, found.ttl_s
FROM even CROSS JOIN LATERAL (
    (SELECT o.stream, o.partition, o.version, o.ttl_s
     FROM agentjournal_internal.open_sessions AS o
     WHERE o.partition = even.partition AND o.own_ttl_s IS NULL
         AND o.active_hour <= (SELECT active FROM hours)
         AND agentjournal_internal.later(o.last_activity_at, o.ttl_s) <= (SELECT as_of FROM hours)
         AND o.expires_at <= (SELECT as_of FROM hours)
         AND o.waits_for IS NULL
         AND (o.lease_until IS NULL OR o.lease_until <= (SELECT as_of FROM hours))
         AND o.stream <> ALL (%(without)s)
         AND NOT EXISTS (
             SELECT FROM agentjournal.parked AS p
             WHERE p.stream = o.stream AND p.projection IN ('conversation', 'execution', 'plan'))
     ORDER BY o.active_hour LIMIT %(most)s)
    UNION ALL
    (SELECT o.stream, o.partition, o.version, o.ttl_s
     FROM agentjournal_internal.open_sessions AS o
     WHERE o.partition = even.partition AND o.own_ttl_s IS NOT NULL
         AND o.due_hour <= (SELECT due FROM hours)
         AND agentjournal_internal.later(o.last_activity_at, o.ttl_s) <= (SELECT as_of FROM hours)
         AND o.expires_at <= (SELECT as_of FROM hours)
         AND o.waits_for IS NULL
         AND (o.lease_until IS NULL OR o.lease_until <= (SELECT as_of FROM hours))
         AND o.stream <> ALL (%(without)s)
         AND NOT EXISTS (
             SELECT FROM agentjournal.parked AS p
             WHERE p.stream = o.stream AND p.projection IN ('conversation', 'execution', 'plan'))
     ORDER BY o.due_hour LIMIT %(most)s)
) AS found;

-- name: progress
-- What was decided and saved, and what of it the sessions show.
SELECT s.partition, s.next_input, s.next_output, p.input_position, p.next_position
FROM agentjournal_internal.sequencer_checkpoints AS s
JOIN agentjournal.projection_status AS p USING (partition)
WHERE p.projection = %(projection)s;

-- name: states
SELECT stream, version, coalesce(status, 'open')
FROM agentjournal_internal.sessions_1 WHERE stream = ANY (%(streams)s);

-- name: places
-- Up to where the log was read by all that limits are measured on, where they are at one place.
-- Heads are saved a little later than that shows, so then the last of it is looked at once more.
SELECT p.partition,
       CASE WHEN min(s.next_output) >= max(p.next_position) THEN min(c.read_until)
            ELSE min(c.read_until) - interval '10 s' END,
       min(j.looked_until)
FROM agentjournal.projection_status AS p
JOIN agentjournal_internal.projection_checkpoints AS c USING (projection, generation, partition)
JOIN agentjournal_internal.sequencer_checkpoints AS s USING (partition)
LEFT JOIN agentjournal_internal.janitor_places AS j USING (partition)
WHERE p.projection IN ('conversation', 'environment', 'events', 'limits', 'memory', 'plan')
GROUP BY p.partition
HAVING min(p.next_position) = max(p.next_position) AND min(c.read_until) IS NOT NULL
    AND (min(j.looked_until) IS NULL OR min(j.looked_until) < min(c.read_until))
ORDER BY p.partition;

-- name: looked
INSERT INTO agentjournal_internal.janitor_places AS j (partition, looked_until)
VALUES (%(partition)s, %(until)s)
ON CONFLICT (partition) DO UPDATE
SET looked_until = greatest(j.looked_until, excluded.looked_until);

-- name: active
SELECT stream, tenant, session_id, user_id
FROM agentjournal_internal.sessions_1
WHERE partition = %(partition)s AND is_open
    AND active_hour >= date_trunc('hour', %(since)s::timestamptz AT TIME ZONE 'UTC')
    AND last_activity_at >= %(since)s;

-- name: over
-- What sessions have come to, where that is more than they may, and was not told before.
WITH asked AS MATERIALIZED (
    SELECT * FROM unnest(
        %(stream)s::text[], %(tenant)s::text[], %(session_id)s::text[], %(user_id)s::text[],
        %(user_stream)s::text[]
    ) AS a (stream, tenant, session_id, user_id, user_stream)
), measured (stream, tenant, session_id, name, value) AS (
    SELECT a.stream, a.tenant, a.session_id, v.name, v.value
    FROM asked AS a JOIN agentjournal_internal.heads AS h USING (stream)
    CROSS JOIN LATERAL (
        VALUES ('tokens', h.tokens), ('events', h.version), ('bytes', h.bytes)) AS v (name, value)
    UNION ALL
    SELECT a.stream, a.tenant, a.session_id, 'age_s',
           floor(extract(epoch FROM now() - s.started_at))
    FROM asked AS a JOIN agentjournal_internal.sessions_1 AS s USING (stream)
    UNION ALL
    SELECT a.stream, a.tenant, a.session_id, 'artifact_bytes', sum(f.size)
    FROM asked AS a JOIN agentjournal_internal.artifacts_1 AS f USING (tenant, session_id)
    WHERE f.task_id IS NULL GROUP BY a.stream, a.tenant, a.session_id
    UNION ALL
    SELECT a.stream, a.tenant, a.session_id, 'snapshot_bytes', max(p.size)
    FROM asked AS a JOIN agentjournal_internal.snapshots_1 AS p USING (tenant, session_id)
    WHERE p.task_id IS NULL GROUP BY a.stream, a.tenant, a.session_id
    UNION ALL
    SELECT a.stream, a.tenant, a.session_id, 'packages', count(*)
    FROM asked AS a JOIN agentjournal_internal.environment_1 AS p USING (tenant, session_id)
    WHERE p.task_id IS NULL AND p.kind = 'package' AND p.is_set
    GROUP BY a.stream, a.tenant, a.session_id
    UNION ALL
    SELECT a.stream, a.tenant, a.session_id, 'note_bytes', sum(n.bytes)
    FROM asked AS a JOIN agentjournal_internal.note_sizes AS n USING (tenant, session_id)
    GROUP BY a.stream, a.tenant, a.session_id
    UNION ALL
    SELECT a.stream, a.tenant, a.session_id, 'plan_bytes', max(p.bytes)
    FROM asked AS a JOIN agentjournal_internal.plan_sizes AS p USING (tenant, session_id)
    GROUP BY a.stream, a.tenant, a.session_id
    UNION ALL
    SELECT a.stream, a.tenant, a.session_id, 'fact_bytes', h.bytes
    FROM asked AS a JOIN agentjournal_internal.heads AS h ON h.stream = a.user_stream
    UNION ALL
    SELECT a.stream, a.tenant, a.session_id, 'open_sessions', r.number
    FROM asked AS a JOIN (
        -- The first of a user's open sessions is 1: those beyond the limit are the last begun.
        SELECT s.stream, row_number() OVER (
            PARTITION BY s.tenant, s.user_id ORDER BY s.started_at, s.stream) AS number
        FROM (SELECT DISTINCT tenant, user_id FROM asked WHERE user_id IS NOT NULL) AS u
        JOIN agentjournal_internal.sessions_1 AS s USING (tenant, user_id)
        WHERE s.is_open
    ) AS r USING (stream)
)
SELECT m.stream, m.name, m.value::float8, l.maximum
FROM measured AS m
CROSS JOIN LATERAL (
    SELECT each.maximum, each.policy FROM (
        SELECT 1 AS place, maximum, policy FROM agentjournal_internal.session_limits_1
        WHERE tenant = m.tenant AND session_id = m.session_id AND name = m.name
        UNION ALL
        SELECT CASE WHEN tenant = '' THEN 3 ELSE 2 END, maximum, policy
        FROM agentjournal_internal.configured_limits
        WHERE tenant IN (m.tenant, '') AND name = m.name
    ) AS each ORDER BY each.place LIMIT 1
) AS l
WHERE m.value > l.maximum AND l.policy = 'warn' AND NOT EXISTS (
    SELECT FROM agentjournal_internal.limits_exceeded_1 AS x
    WHERE x.tenant = m.tenant AND x.session_id = m.session_id AND x.name = m.name);

-- name: untold
-- What there should be an alert of, and was none yet.
SELECT f.kind, f.stream, f.what, f.value, f.threshold, f.began_at
FROM (
    SELECT 'limit_exceeded' AS kind, stream, name AS what, value, maximum AS threshold,
           recorded_at AS began_at
    FROM agentjournal_internal.limits_exceeded_1
    UNION ALL
    SELECT 'limit_refused', stream, coalesce(path, ''), NULL,
           CASE WHEN min(said) ~ '^[0-9]{1,19}$' THEN min(said)::float8 END, min(recorded_at)
    FROM agentjournal_internal.refused WHERE reason = 'limit' GROUP BY stream, coalesce(path, '')
    UNION ALL
    SELECT 'decision_overdue', stream, 'approval ' || approval_id,
           extract(epoch FROM now() - requested_at), %(overdue_s)s, requested_at
    FROM agentjournal_internal.approvals_1 AS a
    WHERE outcome IS NULL AND requested_version IS NOT NULL
        AND requested_at <= now() - make_interval(secs => %(overdue_s)s)
    UNION ALL
    SELECT 'decision_overdue', stream, 'input ' || input_id,
           extract(epoch FROM now() - requested_at), %(overdue_s)s, requested_at
    FROM agentjournal_internal.inputs_1
    WHERE answered_version IS NULL AND requested_version IS NOT NULL
        AND requested_at <= now() - make_interval(secs => %(overdue_s)s)
) AS f
WHERE NOT EXISTS (
    SELECT FROM agentjournal_internal.alerted AS d
    WHERE d.kind = f.kind AND d.stream = f.stream AND d.what = f.what)
    AND NOT EXISTS (
        SELECT FROM agentjournal_internal.sessions_1 AS s
        WHERE s.stream = f.stream AND s.status = 'deleted')
LIMIT %(most)s;

-- name: told
INSERT INTO agentjournal_internal.alerted (kind, stream, what, alerted_at)
SELECT *, now() FROM unnest(%(kind)s::text[], %(stream)s::text[], %(what)s::text[])
ON CONFLICT DO NOTHING;
