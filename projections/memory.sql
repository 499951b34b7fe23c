-- Statements of the projection `memory`, by name: one array a column.
-- What an update does to a column is its policy in memory_tables.py.

-- name: notes
INSERT INTO agentjournal_internal.notes_1 AS t (
    stream, key, tenant, session_id, task_id, version, deleted, ttl_s, recorded_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(key)b::text[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(deleted)b::boolean[], %(ttl_s)b::float8[],
    %(recorded_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, task_id, key) DO UPDATE SET
    version = coalesce(excluded.version, t.version),
    deleted = coalesce(excluded.deleted, t.deleted),
    ttl_s = coalesce(excluded.ttl_s, t.ttl_s),
    recorded_at = coalesce(excluded.recorded_at, t.recorded_at);

-- name: note_ends
INSERT INTO agentjournal_internal.note_ends_1 AS t (
    stream, tenant, session_id, task_id, version, expired_version
)
SELECT * FROM unnest(
    %(stream)b::text[], %(tenant)b::text[], %(session_id)b::text[], %(task_id)b::text[],
    %(version)b::bigint[], %(expired_version)b::bigint[]
)
ON CONFLICT (tenant, session_id, task_id) DO UPDATE SET
    version = coalesce(excluded.version, t.version),
    expired_version = coalesce(excluded.expired_version, t.expired_version);
