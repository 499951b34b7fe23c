-- Statements of the projection `results`, by name: one array a column.
-- What an update does to a column is its policy in results_tables.py.

-- name: results
-- A higher attempt brings its own values; within one the first outcome stands, whole as it came.
INSERT INTO agentjournal_internal.results_1 AS t (
    tenant, session_id, call_id, stream, tool, arguments_digest, attempt, attempt_tool,
    attempt_digest, effect, started_version, outcome, ended_version, ended_at, is_cached
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(call_id)b::text[], %(stream)b::text[],
    %(tool)b::text[], %(arguments_digest)b::text[], %(attempt)b::bigint[],
    %(attempt_tool)b::text[], %(attempt_digest)b::text[], %(effect)b::text[],
    %(started_version)b::bigint[], %(outcome)b::text[], %(ended_version)b::bigint[],
    %(ended_at)s::timestamptz[], %(is_cached)b::boolean[]
)
ON CONFLICT (tenant, session_id, call_id) DO UPDATE SET
    tool = coalesce(t.tool, excluded.tool),
    arguments_digest = coalesce(t.arguments_digest, excluded.arguments_digest),
    attempt = greatest(t.attempt, excluded.attempt),
    attempt_tool = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.attempt_tool
        WHEN excluded.attempt < t.attempt THEN t.attempt_tool
        ELSE coalesce(t.attempt_tool, excluded.attempt_tool) END,
    attempt_digest = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.attempt_digest
        WHEN excluded.attempt < t.attempt THEN t.attempt_digest
        ELSE coalesce(t.attempt_digest, excluded.attempt_digest) END,
    effect = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.effect
        WHEN excluded.attempt < t.attempt THEN t.effect
        ELSE coalesce(t.effect, excluded.effect) END,
    started_version = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.started_version
        WHEN excluded.attempt < t.attempt THEN t.started_version
        ELSE coalesce(t.started_version, excluded.started_version) END,
    outcome = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.outcome
        WHEN excluded.attempt < t.attempt THEN t.outcome
        ELSE coalesce(t.outcome, excluded.outcome) END,
    ended_version = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.ended_version
        WHEN excluded.attempt < t.attempt THEN t.ended_version
        WHEN t.outcome IS NULL THEN excluded.ended_version ELSE t.ended_version END,
    ended_at = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.ended_at
        WHEN excluded.attempt < t.attempt THEN t.ended_at
        WHEN t.outcome IS NULL THEN excluded.ended_at ELSE t.ended_at END,
    is_cached = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.is_cached
        WHEN excluded.attempt < t.attempt THEN t.is_cached
        WHEN t.outcome IS NULL THEN excluded.is_cached ELSE t.is_cached END;

-- name: result_marks
INSERT INTO agentjournal_internal.result_marks_1 AS t (
    tenant, session_id, changed_version, deleted_version
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(changed_version)b::bigint[],
    %(deleted_version)b::bigint[]
)
ON CONFLICT (tenant, session_id) DO UPDATE SET
    changed_version = coalesce(excluded.changed_version, t.changed_version),
    deleted_version = coalesce(t.deleted_version, excluded.deleted_version);

-- name: result_rewinds
INSERT INTO agentjournal_internal.result_rewinds_1 AS t (
    tenant, session_id, version, to_version
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(version)b::bigint[], %(to_version)b::bigint[]
)
ON CONFLICT (tenant, session_id, version) DO NOTHING;
