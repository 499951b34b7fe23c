-- Statements of the projection `environment`, by name: one array a column.
-- What an update does to a column is its policy in environment_tables.py.

-- name: file_changes
INSERT INTO agentjournal_internal.file_changes_1 (
    stream, version, tenant, session_id, task_id, path, reason, before_digest, after_digest,
    artifact, call_id, changed_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(version)b::bigint[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(path)b::text[], %(reason)b::text[], %(before_digest)b::text[],
    %(after_digest)b::text[], %(artifact)b::text[], %(call_id)b::text[],
    %(changed_at)s::timestamptz[]
);

-- name: files
INSERT INTO agentjournal_internal.files_1 AS t (
    stream, path_key, tenant, session_id, task_id, path, version, reason, digest, artifact,
    changes, changed_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(path_key)b::bytea[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(path)b::text[], %(version)b::bigint[], %(reason)b::text[],
    %(digest)b::text[], %(artifact)b::text[], %(changes)b::bigint[],
    %(changed_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, task_id, path_key) DO UPDATE SET
    path = coalesce(t.path, excluded.path),
    version = coalesce(excluded.version, t.version),
    reason = coalesce(excluded.reason, t.reason),
    digest = coalesce(excluded.digest, t.digest),
    artifact = coalesce(excluded.artifact, t.artifact),
    changes = CASE WHEN excluded.changes IS NULL THEN t.changes
        ELSE coalesce(t.changes, 0) + excluded.changes END,
    changed_at = coalesce(excluded.changed_at, t.changed_at);

-- name: artifacts
INSERT INTO agentjournal_internal.artifacts_1 (
    stream, version, tenant, session_id, task_id, artifact, name, media_type, size, digest,
    call_id, saved_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(version)b::bigint[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(artifact)b::text[], %(name)b::text[], %(media_type)b::text[],
    %(size)b::bigint[], %(digest)b::text[], %(call_id)b::text[], %(saved_at)s::timestamptz[]
);

-- name: processes
INSERT INTO agentjournal_internal.processes_1 AS t (
    stream, process_id, tenant, session_id, task_id, version, started_version, started_at,
    command, cwd, outcome, ended_version, ended_at, exit_status
)
SELECT * FROM unnest(
    %(stream)b::text[], %(process_id)b::text[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(started_version)b::bigint[],
    %(started_at)s::timestamptz[], %(command)b::text[], %(cwd)b::text[], %(outcome)b::text[],
    %(ended_version)b::bigint[], %(ended_at)s::timestamptz[], %(exit_status)b::bigint[]
)
ON CONFLICT (tenant, session_id, task_id, process_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    started_version = coalesce(t.started_version, excluded.started_version),
    started_at = coalesce(t.started_at, excluded.started_at),
    command = coalesce(t.command, excluded.command),
    cwd = coalesce(t.cwd, excluded.cwd),
    outcome = coalesce(t.outcome, excluded.outcome),
    ended_version = CASE WHEN t.outcome IS NULL THEN excluded.ended_version
        ELSE t.ended_version END,
    ended_at = CASE WHEN t.outcome IS NULL THEN excluded.ended_at ELSE t.ended_at END,
    exit_status = CASE WHEN t.outcome IS NULL THEN excluded.exit_status
        ELSE t.exit_status END;

-- name: snapshots
INSERT INTO agentjournal_internal.snapshots_1 AS t (
    stream, snapshot_id, tenant, session_id, task_id, version, taken_version, taken_at, kind,
    artifact, reference, size, restores, restored_version, restored_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(snapshot_id)b::text[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(taken_version)b::bigint[],
    %(taken_at)s::timestamptz[], %(kind)b::text[], %(artifact)b::text[], %(reference)b::text[],
    %(size)b::bigint[], %(restores)b::bigint[], %(restored_version)b::bigint[],
    %(restored_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, task_id, snapshot_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    taken_version = coalesce(t.taken_version, excluded.taken_version),
    taken_at = coalesce(t.taken_at, excluded.taken_at),
    kind = coalesce(t.kind, excluded.kind),
    artifact = coalesce(t.artifact, excluded.artifact),
    reference = coalesce(t.reference, excluded.reference),
    size = coalesce(t.size, excluded.size),
    restores = CASE WHEN excluded.restores IS NULL THEN t.restores
        ELSE coalesce(t.restores, 0) + excluded.restores END,
    restored_version = coalesce(excluded.restored_version, t.restored_version),
    restored_at = coalesce(excluded.restored_at, t.restored_at);

-- name: environment
INSERT INTO agentjournal_internal.environment_1 AS t (
    stream, kind, name_key, tenant, session_id, task_id, name, version, value, is_set,
    changed_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(kind)b::text[], %(name_key)b::bytea[], %(tenant)b::text[],
    %(session_id)b::text[], %(task_id)b::text[], %(name)b::text[], %(version)b::bigint[],
    %(value)b::text[], %(is_set)b::boolean[], %(changed_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, task_id, kind, name_key) DO UPDATE SET
    name = coalesce(t.name, excluded.name),
    version = coalesce(excluded.version, t.version),
    value = coalesce(excluded.value, t.value),
    is_set = coalesce(excluded.is_set, t.is_set),
    changed_at = coalesce(excluded.changed_at, t.changed_at);
