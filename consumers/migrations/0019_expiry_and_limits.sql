-- What the janitor needs: which sessions are idle, what they may come to, and what it has told.

ALTER TABLE agentjournal_internal.sessions_1 ADD COLUMN ttl_s float8;

-- An index on the last activity would be written with every event; on its hour, once an hour. Both
-- hours are of UTC. The second is that in which a session with a TTL of its own may expire.
ALTER TABLE agentjournal_internal.sessions_1
    ADD COLUMN is_open boolean GENERATED ALWAYS AS (coalesce(status, 'open') = 'open') STORED,
    ADD COLUMN active_hour timestamp GENERATED ALWAYS AS (
        date_trunc('hour', last_activity_at AT TIME ZONE 'UTC')) STORED,
    ADD COLUMN due_hour timestamp GENERATED ALWAYS AS (
        date_trunc('hour', (last_activity_at AT TIME ZONE 'UTC')
            + least(ttl_s, 1e10) * interval '1 second')) STORED;

CREATE INDEX sessions_1_active ON agentjournal_internal.sessions_1
    (partition, is_open, active_hour);
CREATE INDEX sessions_1_due ON agentjournal_internal.sessions_1 (partition, due_hour)
WHERE ttl_s IS NOT NULL AND is_open;
CREATE INDEX sessions_1_of_user ON agentjournal_internal.sessions_1 (tenant, user_id)
WHERE user_id IS NOT NULL AND is_open;

CREATE INDEX approvals_1_undecided ON agentjournal_internal.approvals_1 (requested_at)
WHERE outcome IS NULL AND requested_version IS NOT NULL;
CREATE INDEX inputs_1_undecided ON agentjournal_internal.inputs_1 (requested_at)
WHERE answered_version IS NULL AND requested_version IS NOT NULL;

CREATE INDEX refused_by_limit ON agentjournal_internal.refused (stream, path)
WHERE reason = 'limit';

CREATE TABLE agentjournal_internal.session_limits_1 (
    tenant     text NOT NULL,
    session_id text NOT NULL,
    name       text NOT NULL,
    version    bigint NOT NULL,
    maximum    float8 NOT NULL,
    policy     text NOT NULL,
    PRIMARY KEY (tenant, session_id, name)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.limits_exceeded_1 (
    tenant      text NOT NULL,
    session_id  text NOT NULL,
    name        text NOT NULL,
    stream      text NOT NULL,
    version     bigint NOT NULL,
    value       float8 NOT NULL,
    maximum     float8 NOT NULL,
    policy      text NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, session_id, name)
);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT 'limits', 1, p FROM generate_series(0, 7) AS p;

-- What the janitor was started with: the file of limits, and the defaults for what it does not say.
CREATE TABLE agentjournal_internal.configured_limits (
    tenant  text NOT NULL,    -- empty: of those that have none of their own
    name    text NOT NULL,
    maximum float8 NOT NULL,
    policy  text,             -- null for ttl_s
    PRIMARY KEY (tenant, name)
);

-- Sessions that were active before this were looked at, by the broker's clock.
CREATE TABLE agentjournal_internal.janitor_places (
    partition    int PRIMARY KEY,
    looked_until timestamptz NOT NULL
);

-- What there was an alert of: each once.
CREATE TABLE agentjournal_internal.alerted (
    kind       text NOT NULL,
    stream     text NOT NULL,
    what       text NOT NULL,
    alerted_at timestamptz NOT NULL,
    PRIMARY KEY (kind, stream, what)
);

-- 72 hours as in agentjournal.limits, until the janitor has run.
CREATE VIEW agentjournal_internal.open_sessions AS
SELECT s.tenant, s.session_id, s.stream, s.partition, s.version, s.user_id, s.agent,
       s.last_activity_at, s.active_hour, s.due_hour, s.ttl_s AS own_ttl_s, t.ttl_s,
       agentjournal_internal.later(s.last_activity_at, t.ttl_s) AS expires_at,
       CASE
           WHEN EXISTS (
               SELECT FROM agentjournal_internal.approvals_1 AS a
               WHERE a.tenant = s.tenant AND a.session_id = s.session_id AND a.task_id IS NULL
                   AND a.outcome IS NULL AND a.requested_version IS NOT NULL) THEN 'approval'
           WHEN EXISTS (
               SELECT FROM agentjournal_internal.inputs_1 AS i
               WHERE i.tenant = s.tenant AND i.session_id = s.session_id AND i.task_id IS NULL
                   AND i.answered_version IS NULL AND i.requested_version IS NOT NULL) THEN 'input'
           WHEN EXISTS (
               SELECT FROM agentjournal_internal.handoffs_1 AS h
               WHERE h.tenant = s.tenant AND h.session_id = s.session_id AND h.task_id IS NULL
                   AND h.outcome IS NULL AND h.requested_version IS NOT NULL
                   AND (h.mode = 'delegate' OR h.accepted_version IS NULL)) THEN 'handoff'
       END AS waits_for,
       l.lease_until
FROM agentjournal_internal.sessions_1 AS s
CROSS JOIN LATERAL (
    SELECT ceil(coalesce(
        s.ttl_s,
        (SELECT c.maximum FROM agentjournal_internal.configured_limits AS c
         WHERE c.tenant = s.tenant AND c.name = 'ttl_s'),
        (SELECT c.maximum FROM agentjournal_internal.configured_limits AS c
         WHERE c.tenant = '' AND c.name = 'ttl_s'),
        259200)) AS ttl_s
) AS t
LEFT JOIN LATERAL (
    SELECT o.lease_s, o.acquired_at, o.renewed_at, o.extended_at, o.released_at
    FROM agentjournal_internal.leases_1 AS o
    WHERE o.tenant = s.tenant AND o.session_id = s.session_id AND o.task_id IS NULL
        AND o.acquired_at IS NOT NULL
    ORDER BY o.task_id DESC, o.fence DESC LIMIT 1  -- as the index has them
) AS last ON last.released_at IS NULL
LEFT JOIN LATERAL (
    SELECT coalesce(agentjournal_internal.later(
        greatest(last.acquired_at, last.renewed_at, last.extended_at),
        round(last.lease_s * 1000) / 1000), '9999-12-31T00:00:00Z') AS lease_until
    WHERE last.acquired_at IS NOT NULL
) AS l ON true
WHERE s.is_open;

-- How large each note that is there, and each plan, was written: who asks need not read what they say.
CREATE VIEW agentjournal_internal.note_sizes AS
SELECT n.tenant, n.session_id, octet_length(e.data) AS bytes
FROM agentjournal_internal.notes_1 AS n
JOIN agentjournal_internal.events_1 AS e USING (stream, version)
WHERE n.task_id IS NULL AND NOT n.deleted AND NOT EXISTS (
    SELECT FROM agentjournal_internal.note_ends_1 AS x
    WHERE x.tenant = n.tenant AND x.session_id = n.session_id AND x.task_id IS NULL
        AND x.version > n.version
);

CREATE VIEW agentjournal_internal.plan_sizes AS
SELECT p.tenant, p.session_id, octet_length(e.data) AS bytes
FROM agentjournal_internal.plans_1 AS p
JOIN agentjournal_internal.events_1 AS e
    ON e.stream = p.stream AND e.version = p.planned_version
WHERE p.task_id IS NULL;

CREATE VIEW agentjournal.idle_sessions AS
SELECT tenant, session_id, version, user_id, agent, last_activity_at, ttl_s, expires_at, waits_for,
       lease_until
FROM agentjournal_internal.open_sessions;

CREATE FUNCTION agentjournal.expired_sessions(as_of timestamptz)
RETURNS SETOF agentjournal.idle_sessions LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM agentjournal.idle_sessions
    WHERE expires_at <= as_of AND waits_for IS NULL
        AND (lease_until IS NULL OR lease_until <= as_of)
$$;

CREATE VIEW agentjournal.limits AS
SELECT nullif(tenant, '') AS tenant, NULL::text AS session_id, NULL::bigint AS version, name,
       maximum, policy
FROM agentjournal_internal.configured_limits
UNION ALL
SELECT tenant, session_id, version, name, maximum, policy
FROM agentjournal_internal.session_limits_1
UNION ALL
SELECT tenant, session_id, NULL, 'ttl_s', ttl_s, NULL
FROM agentjournal_internal.sessions_1 WHERE ttl_s IS NOT NULL;

CREATE VIEW agentjournal.limits_exceeded AS
SELECT tenant, session_id, version, name, value, maximum, policy, recorded_at
FROM agentjournal_internal.limits_exceeded_1;

COMMENT ON VIEW agentjournal.idle_sessions IS
    'Open sessions, and what keeps each from expiring. Which have expired at a moment: '
    'expired_sessions.';
COMMENT ON COLUMN agentjournal.idle_sessions.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.idle_sessions.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.idle_sessions.version IS 'of its last event';
COMMENT ON COLUMN agentjournal.idle_sessions.user_id IS 'whom it belongs to';
COMMENT ON COLUMN agentjournal.idle_sessions.agent IS 'that began it';
COMMENT ON COLUMN agentjournal.idle_sessions.last_activity_at IS
    'broker''s time of its last event';
COMMENT ON COLUMN agentjournal.idle_sessions.ttl_s IS
    'whole seconds that it may be idle: its own, else its tenant''s, else the default';
COMMENT ON COLUMN agentjournal.idle_sessions.expires_at IS
    'when they have passed, unless something happens before; null for never';
COMMENT ON COLUMN agentjournal.idle_sessions.waits_for IS
    'approval, input or handoff: one is open, so it does not expire; null for none';
COMMENT ON COLUMN agentjournal.idle_sessions.lease_until IS
    'before that a worker has it, so it does not expire; null when there is no lease';
COMMENT ON FUNCTION agentjournal.expired_sessions(timestamptz) IS
    'Open sessions that were idle for longer than they may be at a moment, wait for nobody, and '
    'that no worker had a lease on: what the janitor sends session.expired for.';

COMMENT ON VIEW agentjournal.limits IS
    'How much there may be of something: what the janitor was started with, for all tenants or one, '
    'and what sessions say themselves, which comes first.';
COMMENT ON COLUMN agentjournal.limits.tenant IS
    'whose sessions it is for; null for those of every tenant that has no such limit of its own';
COMMENT ON COLUMN agentjournal.limits.session_id IS 'the session that says so; null for all';
COMMENT ON COLUMN agentjournal.limits.version IS
    'of the event that says so; null for a limit of all sessions, and for ttl_s';
COMMENT ON COLUMN agentjournal.limits.name IS
    'tokens, events, bytes, age_s, artifact_bytes, snapshot_bytes, packages, note_bytes, '
    'plan_bytes, fact_bytes, open_sessions; or ttl_s, the seconds that a session may be idle';
COMMENT ON COLUMN agentjournal.limits.maximum IS 'how much there may be';
COMMENT ON COLUMN agentjournal.limits.policy IS
    'warn or refuse: whether what goes beyond it is refused; null for ttl_s';

COMMENT ON VIEW agentjournal.limits_exceeded IS
    'Limits that sessions went over: the first event of each, which stays when there is less again.';
COMMENT ON COLUMN agentjournal.limits_exceeded.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.limits_exceeded.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.limits_exceeded.version IS 'of that event';
COMMENT ON COLUMN agentjournal.limits_exceeded.name IS 'of the limit';
COMMENT ON COLUMN agentjournal.limits_exceeded.value IS 'what the session had come to';
COMMENT ON COLUMN agentjournal.limits_exceeded.maximum IS 'how much there may be';
COMMENT ON COLUMN agentjournal.limits_exceeded.policy IS 'warn or refuse';
COMMENT ON COLUMN agentjournal.limits_exceeded.recorded_at IS 'broker''s time of that event';
