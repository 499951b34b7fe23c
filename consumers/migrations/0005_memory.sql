-- The read model `memory`, generation 1: notes.

CREATE TABLE agentjournal_internal.notes_1 (
    stream      text NOT NULL,
    key         text NOT NULL,
    tenant      text NOT NULL,
    session_id  text,
    task_id     text,
    version     bigint NOT NULL,
    deleted     boolean,
    ttl_s       float8,
    recorded_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, key)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.note_ends_1 (
    stream     text NOT NULL,
    tenant     text NOT NULL,
    session_id text,
    task_id    text,
    version    bigint NOT NULL,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id)
) WITH (fillfactor = 70);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT 'memory', 1, p FROM generate_series(0, 7) AS p;

-- So many seconds later; null when that is beyond all calendars.
CREATE FUNCTION agentjournal_internal.later(begun timestamptz, seconds float8) RETURNS timestamptz
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN seconds < 2e11 THEN begun + make_interval(secs => seconds) END
$$;

-- What was noted before a session ended is gone, also when the session is resumed.
CREATE VIEW agentjournal.notes AS
SELECT n.tenant, n.session_id, n.task_id, n.version, n.key,
       CASE WHEN NOT n.deleted THEN agentjournal_internal.field(e.data, 'value') END AS value,
       nullif(n.ttl_s, -1) AS ttl_s,
       agentjournal_internal.later(n.recorded_at, nullif(n.ttl_s, -1)) AS expires_at,
       n.deleted, n.recorded_at
FROM agentjournal_internal.notes_1 AS n
LEFT JOIN agentjournal_internal.events_1 AS e USING (stream, version)
WHERE NOT EXISTS (
    SELECT FROM agentjournal_internal.note_ends_1 AS x
    WHERE x.tenant = n.tenant AND x.session_id = n.session_id AND x.task_id IS NULL
        AND x.version > n.version
);

-- Notes that hold at a moment.
CREATE FUNCTION agentjournal.live_notes(as_of timestamptz)
RETURNS SETOF agentjournal.notes LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM agentjournal.notes
    WHERE NOT deleted AND (expires_at IS NULL OR expires_at > as_of)
$$;
