-- Statements of the projection `execution`, by name: one array a column.
-- What an update does to a column is its policy in execution_tables.py.

-- name: handoffs
INSERT INTO agentjournal_internal.handoffs_1 AS t (
    stream, handoff_id, tenant, session_id, task_id, version, requested_version, requested_at,
    mode, to_agent, child_session_id, task, accepted_version, accepted_at, outcome,
    ended_version, ended_at, summary, error_type, error_message
)
SELECT * FROM unnest(
    %(stream)b::text[], %(handoff_id)b::text[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(requested_version)b::bigint[],
    %(requested_at)s::timestamptz[], %(mode)b::text[], %(to_agent)b::text[],
    %(child_session_id)b::text[], %(task)b::text[], %(accepted_version)b::bigint[],
    %(accepted_at)s::timestamptz[], %(outcome)b::text[], %(ended_version)b::bigint[],
    %(ended_at)s::timestamptz[], %(summary)b::text[], %(error_type)b::text[],
    %(error_message)b::text[]
)
ON CONFLICT (tenant, session_id, task_id, handoff_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    requested_version = coalesce(t.requested_version, excluded.requested_version),
    requested_at = coalesce(t.requested_at, excluded.requested_at),
    mode = coalesce(t.mode, excluded.mode),
    to_agent = coalesce(t.to_agent, excluded.to_agent),
    child_session_id = coalesce(t.child_session_id, excluded.child_session_id),
    task = coalesce(t.task, excluded.task),
    accepted_version = coalesce(t.accepted_version, excluded.accepted_version),
    accepted_at = coalesce(t.accepted_at, excluded.accepted_at),
    outcome = coalesce(t.outcome, excluded.outcome),
    ended_version = CASE WHEN t.outcome IS NULL THEN excluded.ended_version
        ELSE t.ended_version END,
    ended_at = CASE WHEN t.outcome IS NULL THEN excluded.ended_at ELSE t.ended_at END,
    summary = CASE WHEN t.outcome IS NULL THEN excluded.summary ELSE t.summary END,
    error_type = CASE WHEN t.outcome IS NULL THEN excluded.error_type ELSE t.error_type END,
    error_message = CASE WHEN t.outcome IS NULL THEN excluded.error_message
        ELSE t.error_message END;

-- name: approvals
INSERT INTO agentjournal_internal.approvals_1 AS t (
    stream, approval_id, tenant, session_id, task_id, version, requested_version, requested_at,
    question, call_id, arguments_digest, requested_of, expires_at, outcome, answered_version,
    answered_at, answered_by, comment, edited_arguments_text
)
SELECT * FROM unnest(
    %(stream)b::text[], %(approval_id)b::text[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(requested_version)b::bigint[],
    %(requested_at)s::timestamptz[], %(question)b::text[], %(call_id)b::text[],
    %(arguments_digest)b::text[], %(requested_of)b::text[], %(expires_at)s::timestamptz[],
    %(outcome)b::text[], %(answered_version)b::bigint[], %(answered_at)s::timestamptz[],
    %(answered_by)b::text[], %(comment)b::text[], %(edited_arguments_text)b::text[]
)
ON CONFLICT (tenant, session_id, task_id, approval_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    requested_version = coalesce(t.requested_version, excluded.requested_version),
    requested_at = coalesce(t.requested_at, excluded.requested_at),
    question = coalesce(t.question, excluded.question),
    call_id = coalesce(t.call_id, excluded.call_id),
    arguments_digest = coalesce(t.arguments_digest, excluded.arguments_digest),
    requested_of = coalesce(t.requested_of, excluded.requested_of),
    expires_at = coalesce(t.expires_at, excluded.expires_at),
    outcome = coalesce(t.outcome, excluded.outcome),
    answered_version = CASE WHEN t.outcome IS NULL THEN excluded.answered_version
        ELSE t.answered_version END,
    answered_at = CASE WHEN t.outcome IS NULL THEN excluded.answered_at
        ELSE t.answered_at END,
    answered_by = CASE WHEN t.outcome IS NULL THEN excluded.answered_by
        ELSE t.answered_by END,
    comment = CASE WHEN t.outcome IS NULL THEN excluded.comment ELSE t.comment END,
    edited_arguments_text = CASE WHEN t.outcome IS NULL THEN excluded.edited_arguments_text
        ELSE t.edited_arguments_text END;

-- name: inputs
INSERT INTO agentjournal_internal.inputs_1 AS t (
    stream, input_id, tenant, session_id, task_id, version, requested_version, requested_at,
    question, answered_version, answered_at, answered_by
)
SELECT * FROM unnest(
    %(stream)b::text[], %(input_id)b::text[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(requested_version)b::bigint[],
    %(requested_at)s::timestamptz[], %(question)b::text[], %(answered_version)b::bigint[],
    %(answered_at)s::timestamptz[], %(answered_by)b::text[]
)
ON CONFLICT (tenant, session_id, task_id, input_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    requested_version = coalesce(t.requested_version, excluded.requested_version),
    requested_at = coalesce(t.requested_at, excluded.requested_at),
    question = coalesce(t.question, excluded.question),
    answered_version = coalesce(t.answered_version, excluded.answered_version),
    answered_at = coalesce(t.answered_at, excluded.answered_at),
    answered_by = coalesce(t.answered_by, excluded.answered_by);

-- name: leases
INSERT INTO agentjournal_internal.leases_1 AS t (
    stream, fence, tenant, session_id, task_id, version, holder, lease_s, acquired_at, renewals,
    renewed_at, extended_at, released_version, released_at
)
SELECT * FROM unnest(
    %(stream)b::text[], %(fence)b::bigint[], %(tenant)b::text[], %(session_id)b::text[],
    %(task_id)b::text[], %(version)b::bigint[], %(holder)b::text[], %(lease_s)b::float8[],
    %(acquired_at)s::timestamptz[], %(renewals)b::bigint[], %(renewed_at)s::timestamptz[],
    %(extended_at)s::timestamptz[], %(released_version)b::bigint[],
    %(released_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, task_id, fence) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    holder = coalesce(t.holder, excluded.holder),
    lease_s = coalesce(t.lease_s, excluded.lease_s),
    acquired_at = coalesce(t.acquired_at, excluded.acquired_at),
    renewals = CASE WHEN excluded.renewals IS NULL THEN t.renewals
        ELSE coalesce(t.renewals, 0) + excluded.renewals END,
    renewed_at = coalesce(excluded.renewed_at, t.renewed_at),
    extended_at = greatest(t.extended_at, excluded.extended_at),
    released_version = coalesce(t.released_version, excluded.released_version),
    released_at = coalesce(t.released_at, excluded.released_at);
