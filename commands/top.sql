-- What `top` counts: statements by name, on views alone, each stopped when it takes too long.

-- name: projections
SELECT projection, coalesce(sum(events_behind), 0)::bigint AS events_behind,
       max(seconds_behind)::float8 AS seconds_behind, sum(parked)::bigint AS parked
FROM agentjournal.projection_status
GROUP BY projection
ORDER BY projection;

-- name: dead_letters
SELECT count(*) AS letters,
       count(*) FILTER (WHERE recorded_at > now() - interval '1 hour') AS last_hour
FROM agentjournal.dead_letters;

-- name: approvals
SELECT count(*) FROM agentjournal.approvals
WHERE status = 'open' AND requested_version IS NOT NULL
    AND (expires_at IS NULL OR expires_at > now());

-- name: runnable
SELECT count(*) FROM agentjournal.runnable;

-- name: leases
SELECT count(*) FROM agentjournal.leases
WHERE released_at IS NULL AND coalesce(lease_until > now(), true) AND acquired_at IS NOT NULL
    AND replaced_version IS NULL;

-- name: sessions
SELECT status, count(*) AS sessions,
       count(*) FILTER (
           WHERE last_activity_at > now() - make_interval(secs => %(active_s)s)) AS active
FROM agentjournal.sessions
GROUP BY status
ORDER BY status;

-- name: sessions_about
EXPLAIN (FORMAT JSON) SELECT FROM agentjournal.sessions;

-- name: unknown
SELECT (SELECT count(*) FROM agentjournal.unknown_calls(now()))
     + (SELECT count(*) FROM agentjournal.unknown_steps(now()));
