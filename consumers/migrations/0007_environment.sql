-- The read model `environment`, generation 1: files, artifacts, processes, snapshots.

CREATE TABLE agentjournal_internal.file_changes_1 (
    stream        text NOT NULL,
    version       bigint NOT NULL,
    tenant        text NOT NULL,
    session_id    text,
    task_id       text,
    path          text NOT NULL,
    reason        text NOT NULL,
    before_digest text,
    after_digest  text,
    artifact      text,
    call_id       text,
    changed_at    timestamptz NOT NULL,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, version)
);

CREATE TABLE agentjournal_internal.files_1 (
    stream     text NOT NULL,
    path_key   bytea NOT NULL,
    tenant     text NOT NULL,
    session_id text,
    task_id    text,
    path       text,
    version    bigint NOT NULL,
    reason     text,
    digest     text,
    artifact   text,
    changes    bigint,
    changed_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, path_key)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.artifacts_1 (
    stream     text NOT NULL,
    version    bigint NOT NULL,
    tenant     text NOT NULL,
    session_id text,
    task_id    text,
    artifact   text,
    name       text NOT NULL,
    media_type text NOT NULL,
    size       bigint NOT NULL,
    digest     text NOT NULL,
    call_id    text,
    saved_at   timestamptz NOT NULL,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, version)
);

CREATE TABLE agentjournal_internal.processes_1 (
    stream          text NOT NULL,
    process_id      text NOT NULL,
    tenant          text NOT NULL,
    session_id      text,
    task_id         text,
    version         bigint NOT NULL,
    started_version bigint,
    started_at      timestamptz,
    command         text,
    cwd             text,
    outcome         text,
    ended_version   bigint,
    ended_at        timestamptz,
    exit_status     bigint,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, process_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.snapshots_1 (
    stream           text NOT NULL,
    snapshot_id      text NOT NULL,
    tenant           text NOT NULL,
    session_id       text,
    task_id          text,
    version          bigint NOT NULL,
    taken_version    bigint,
    taken_at         timestamptz,
    kind             text,
    artifact         text,
    reference        text,
    size             bigint,
    restores         bigint,
    restored_version bigint,
    restored_at      timestamptz,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, snapshot_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.environment_1 (
    stream     text NOT NULL,
    kind       text NOT NULL,
    name_key   bytea NOT NULL,
    tenant     text NOT NULL,
    session_id text,
    task_id    text,
    name       text,
    version    bigint NOT NULL,
    value      text,
    is_set     boolean,
    changed_at timestamptz,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, kind, name_key)
) WITH (fillfactor = 70);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT 'environment', 1, p FROM generate_series(0, 7) AS p;

-- Text inside JSON as it can be shown: of text in its escape form each half of a surrogate pair is
-- U+FFFD.
CREATE FUNCTION agentjournal_internal.text_of(value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE
        WHEN jsonb_typeof(value -> '$text') = 'array' THEN (
            SELECT string_agg(CASE jsonb_typeof(piece) WHEN 'string' THEN piece #>> '{}'
                              ELSE U&'\FFFD' END, '' ORDER BY n)
            FROM jsonb_array_elements(value -> '$text') WITH ORDINALITY AS p (piece, n))
        ELSE value #>> '{}'
    END
$$;

CREATE VIEW agentjournal.file_changes AS
SELECT f.tenant, f.session_id, f.task_id, f.version, f.path, f.reason, f.before_digest,
       f.after_digest, f.artifact,
       agentjournal_internal.text_of(agentjournal_internal.field(e.data, 'diff')) AS diff,
       f.call_id, f.changed_at
FROM agentjournal_internal.file_changes_1 AS f
LEFT JOIN agentjournal_internal.events_1 AS e USING (stream, version);

CREATE VIEW agentjournal.files AS
SELECT tenant, session_id, task_id, version, path, reason, nullif(digest, '') AS digest,
       nullif(artifact, '') AS artifact, reason = 'delete' AS deleted, changes, changed_at
FROM agentjournal_internal.files_1;

CREATE VIEW agentjournal.artifacts AS
SELECT tenant, session_id, task_id, version, artifact, name, media_type, size, digest, call_id,
       saved_at
FROM agentjournal_internal.artifacts_1;

CREATE VIEW agentjournal.processes AS
SELECT p.tenant, p.session_id, p.task_id, p.version, p.process_id,
       coalesce(p.outcome, 'running') AS status, p.command, p.cwd,
       agentjournal_internal.field(e.data, 'ports') AS ports,
       agentjournal_internal.field(e.data, 'environment_names') AS environment_names,
       p.started_version, p.started_at, p.ended_version, p.ended_at, p.exit_status
FROM agentjournal_internal.processes_1 AS p
LEFT JOIN agentjournal_internal.events_1 AS e
    ON e.stream = p.stream AND e.version = p.started_version;

CREATE VIEW agentjournal.snapshots AS
SELECT tenant, session_id, task_id, version, snapshot_id, kind, nullif(artifact, '') AS artifact,
       nullif(reference, '') AS reference, size, taken_version, taken_at,
       coalesce(restores, 0) AS restores, restored_version, restored_at
FROM agentjournal_internal.snapshots_1;

CREATE VIEW agentjournal.environment AS
SELECT tenant, session_id, task_id, version, kind, nullif(name, '') AS name,
       CASE WHEN is_set THEN value END AS value, is_set, changed_at
FROM agentjournal_internal.environment_1;
