-- Statements of the projection `limits`, by name: one array a column.
-- What an update does to a column is its policy in limits_tables.py.

-- name: session_limits
INSERT INTO agentjournal_internal.session_limits_1 AS t (
    tenant, session_id, name, version, maximum, policy
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(name)b::text[], %(version)b::bigint[],
    %(maximum)b::float8[], %(policy)b::text[]
)
ON CONFLICT (tenant, session_id, name) DO UPDATE SET
    version = excluded.version, maximum = excluded.maximum, policy = excluded.policy;

-- name: limits_exceeded
INSERT INTO agentjournal_internal.limits_exceeded_1 AS t (
    tenant, session_id, name, stream, version, value, maximum, policy, recorded_at
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(name)b::text[], %(stream)b::text[],
    %(version)b::bigint[], %(value)b::float8[], %(maximum)b::float8[], %(policy)b::text[],
    %(recorded_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, name) DO NOTHING;
