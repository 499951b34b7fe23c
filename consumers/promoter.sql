-- Statements of the promoter, by name.

-- name: places
-- Up to where sessions are shown, and since when they are not all dealt with.
SELECT p.partition, c.read_until, j.looked_until
FROM agentjournal.projection_status AS p
JOIN agentjournal_internal.projection_checkpoints AS c USING (projection, generation, partition)
LEFT JOIN agentjournal_internal.promoter_places AS j
    ON j.partition = p.partition AND j.extractor = %(extractor)s
    AND j.extractor_version = %(extractor_version)s
WHERE p.projection = 'conversation' AND p.partition = ANY (%(partitions)s)
    AND c.read_until IS NOT NULL
ORDER BY p.partition;

-- name: due
-- Sessions that have ended or are idle, and said something since they were dealt with, and those
-- that were deleted since. The hours are of UTC, as the index has them, those longest ago first.
WITH asked AS (
    SELECT * FROM unnest(%(partition)s::int[], %(since)s::timestamptz[]) AS a (partition, since)
)
SELECT found.stream, found.version, asked.partition, found.active_hour AT TIME ZONE 'UTC'
FROM asked CROSS JOIN LATERAL (
    SELECT s.stream, s.version, s.active_hour
    FROM agentjournal_internal.sessions_1 AS s
    LEFT JOIN agentjournal_internal.promoter_sessions AS d
        ON d.stream = s.stream AND d.extractor = %(extractor)s
    LEFT JOIN unnest(%(tenant)s::text[], %(idle_s)s::float8[]) AS t (tenant, idle_s)
        ON t.tenant = s.tenant
    WHERE s.partition = asked.partition AND s.is_open IN (true, false)
        AND s.active_hour >= date_trunc('hour', asked.since AT TIME ZONE 'UTC')
        AND s.last_activity_at >= asked.since
        AND (NOT s.is_open OR s.last_activity_at <= now() - make_interval(
            secs => coalesce(t.idle_s, %(default_idle_s)s)))
        AND (d.stream IS NULL OR d.version < s.version
            OR d.extractor_version <> %(extractor_version)s)
    ORDER BY s.active_hour LIMIT %(most)s
) AS found;

-- name: looked
INSERT INTO agentjournal_internal.promoter_places AS p (
    partition, extractor, extractor_version, looked_until)
VALUES (%(partition)s, %(extractor)s, %(extractor_version)s, %(until)s)
ON CONFLICT (partition, extractor, extractor_version) DO UPDATE
SET looked_until = greatest(p.looked_until, excluded.looked_until);

-- name: done
INSERT INTO agentjournal_internal.promoter_sessions AS p (
    stream, extractor, extractor_version, version, error, attempts, noted_at)
VALUES (%(stream)s, %(extractor)s, %(extractor_version)s, %(version)s, NULL, 0, now())
ON CONFLICT (stream, extractor) DO UPDATE
SET extractor_version = excluded.extractor_version, error = NULL, attempts = 0,
    noted_at = excluded.noted_at,
    version = CASE WHEN p.extractor_version = excluded.extractor_version
        THEN greatest(p.version, excluded.version) ELSE excluded.version END;

-- name: failed
INSERT INTO agentjournal_internal.promoter_sessions AS p (
    stream, extractor, extractor_version, version, error, attempts, noted_at)
VALUES (%(stream)s, %(extractor)s, %(extractor_version)s, %(version)s, %(error)s, 1, now())
ON CONFLICT (stream, extractor) DO UPDATE
SET extractor_version = excluded.extractor_version, version = excluded.version,
    error = excluded.error, attempts = p.attempts + 1, noted_at = excluded.noted_at;

-- name: failures
SELECT stream, version, error, attempts
FROM agentjournal_internal.promoter_sessions
WHERE extractor = %(extractor)s AND error IS NOT NULL
ORDER BY stream;
