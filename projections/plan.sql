-- Statements of the projection `plan`, by name: one array a column.
-- What an update does to a column is its policy in plan_tables.py.

-- name: plans
INSERT INTO agentjournal_internal.plans_1 AS t (
    stream, plan_id, tenant, session_id, task_id, version, goal, planned_version, revisions,
    status, reason, created_at, revised_at, ended_version, ended_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(plan_id)b::text[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(goal)b::text[], %(planned_version)b::bigint[],
    %(revisions)b::bigint[], %(status)b::text[], %(reason)b::text[],
    %(created_at)s::timestamptz[], %(revised_at)s::timestamptz[], %(ended_version)b::bigint[],
    %(ended_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, task_id, plan_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    goal = coalesce(t.goal, excluded.goal),
    planned_version = coalesce(excluded.planned_version, t.planned_version),
    revisions = CASE WHEN excluded.revisions IS NULL THEN t.revisions
        ELSE coalesce(t.revisions, 0) + excluded.revisions END,
    status = coalesce(excluded.status, t.status),
    reason = coalesce(excluded.reason, t.reason),
    created_at = coalesce(t.created_at, excluded.created_at),
    revised_at = coalesce(excluded.revised_at, t.revised_at),
    ended_version = coalesce(excluded.ended_version, t.ended_version),
    ended_at = coalesce(excluded.ended_at, t.ended_at);

-- name: steps
INSERT INTO agentjournal_internal.steps_1 AS t (
    stream, plan_id, step_key, tenant, session_id, task_id, step_id, version, planned_version,
    planned_index, title, tool, effect, attempt, idempotency_key, started_version, started_at,
    lease_until, fence, outcome, ended_version, ended_at, error_type, error_message, retry_at,
    settled_by, skipped_version, skipped_at, skip_reason, rolled_back_version, rolled_back_at,
    rolled_back_by
)
SELECT * FROM unnest(
    %(stream)b::text[], %(plan_id)b::text[], %(step_key)b::bytea[], %(tenant)b::text[],
    %(session_id)b::text[], %(task_id)b::text[], %(step_id)b::text[], %(version)b::bigint[],
    %(planned_version)b::bigint[], %(planned_index)b::int[], %(title)b::text[],
    %(tool)b::text[], %(effect)b::text[], %(attempt)b::numeric[], %(idempotency_key)b::text[],
    %(started_version)b::bigint[], %(started_at)s::timestamptz[],
    %(lease_until)s::timestamptz[], %(fence)b::bigint[], %(outcome)b::text[],
    %(ended_version)b::bigint[], %(ended_at)s::timestamptz[], %(error_type)b::text[], %(error_message)b::text[],
    %(retry_at)s::timestamptz[], %(settled_by)b::text[], %(skipped_version)b::bigint[],
    %(skipped_at)s::timestamptz[], %(skip_reason)b::text[], %(rolled_back_version)b::bigint[],
    %(rolled_back_at)s::timestamptz[], %(rolled_back_by)b::text[]
)
ON CONFLICT (tenant, session_id, task_id, plan_id, step_key) DO UPDATE SET
    step_id = coalesce(t.step_id, excluded.step_id),
    version = coalesce(t.version, excluded.version),
    planned_version = coalesce(excluded.planned_version, t.planned_version),
    planned_index = coalesce(excluded.planned_index, t.planned_index),
    title = coalesce(excluded.title, t.title),
    tool = coalesce(excluded.tool, t.tool),
    effect = coalesce(excluded.effect, t.effect),
    attempt = greatest(t.attempt, excluded.attempt),
    idempotency_key = CASE
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.idempotency_key
        WHEN excluded.attempt < t.attempt THEN t.idempotency_key
        ELSE coalesce(t.idempotency_key, excluded.idempotency_key) END,
    started_version = CASE
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.started_version
        WHEN excluded.attempt < t.attempt THEN t.started_version
        ELSE coalesce(t.started_version, excluded.started_version) END,
    started_at = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.started_at
        WHEN excluded.attempt < t.attempt THEN t.started_at
        ELSE coalesce(t.started_at, excluded.started_at) END,
    lease_until = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.lease_until
        WHEN excluded.attempt < t.attempt THEN t.lease_until
        ELSE coalesce(t.lease_until, excluded.lease_until) END,
    fence = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.fence
        WHEN excluded.attempt < t.attempt THEN t.fence
        ELSE coalesce(t.fence, excluded.fence) END,
    outcome = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.outcome
        WHEN excluded.attempt < t.attempt THEN t.outcome
        ELSE coalesce(t.outcome, excluded.outcome) END,
    ended_version = CASE
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.ended_version
        WHEN excluded.attempt < t.attempt THEN t.ended_version
        WHEN t.outcome IS NULL THEN excluded.ended_version ELSE t.ended_version END,
    ended_at = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.ended_at
        WHEN excluded.attempt < t.attempt THEN t.ended_at
        WHEN t.outcome IS NULL THEN excluded.ended_at ELSE t.ended_at END,
    error_type = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.error_type
        WHEN excluded.attempt < t.attempt THEN t.error_type
        WHEN t.outcome IS NULL THEN excluded.error_type ELSE t.error_type END,
    error_message = CASE
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.error_message
        WHEN excluded.attempt < t.attempt THEN t.error_message
        WHEN t.outcome IS NULL THEN excluded.error_message ELSE t.error_message END,
    retry_at = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.retry_at
        WHEN excluded.attempt < t.attempt THEN t.retry_at
        WHEN t.outcome IS NULL THEN excluded.retry_at ELSE t.retry_at END,
    settled_by = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.settled_by
        WHEN excluded.attempt < t.attempt THEN t.settled_by
        WHEN t.outcome IS NULL THEN excluded.settled_by ELSE t.settled_by END,
    skipped_version = coalesce(excluded.skipped_version, t.skipped_version),
    skipped_at = coalesce(excluded.skipped_at, t.skipped_at),
    skip_reason = coalesce(excluded.skip_reason, t.skip_reason),
    rolled_back_version = coalesce(excluded.rolled_back_version, t.rolled_back_version),
    rolled_back_at = coalesce(excluded.rolled_back_at, t.rolled_back_at),
    rolled_back_by = coalesce(excluded.rolled_back_by, t.rolled_back_by);

-- name: decisions
INSERT INTO agentjournal_internal.decisions_1 (
    stream, version, tenant, session_id, task_id, question, reason, decided_by, decided_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(version)b::bigint[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(question)b::text[], %(reason)b::text[], %(decided_by)b::text[],
    %(decided_at)s::timestamptz[]
);

-- name: checkpoints
INSERT INTO agentjournal_internal.checkpoints_1 AS t (
    stream, checkpoint_id, tenant, session_id, task_id, version, saved_version, saved_at, label,
    state_schema_version, artifact, restores, restored_version, restored_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(checkpoint_id)b::text[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(saved_version)b::bigint[],
    %(saved_at)s::timestamptz[], %(label)b::text[], %(state_schema_version)b::bigint[],
    %(artifact)b::text[], %(restores)b::bigint[], %(restored_version)b::bigint[],
    %(restored_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, task_id, checkpoint_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    saved_version = coalesce(t.saved_version, excluded.saved_version),
    saved_at = coalesce(t.saved_at, excluded.saved_at),
    label = coalesce(t.label, excluded.label),
    state_schema_version = coalesce(t.state_schema_version, excluded.state_schema_version),
    artifact = coalesce(t.artifact, excluded.artifact),
    restores = CASE WHEN excluded.restores IS NULL THEN t.restores
        ELSE coalesce(t.restores, 0) + excluded.restores END,
    restored_version = coalesce(excluded.restored_version, t.restored_version),
    restored_at = coalesce(excluded.restored_at, t.restored_at);
