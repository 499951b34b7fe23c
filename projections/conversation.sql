-- Statements of the projection `conversation`, by name: one array a column.
-- What an update does to a column is its policy in conversation_tables.py.

-- name: contexts
SELECT s.stream, s.version, encode(s.head_hash, 'hex') AS hash, nullif(s.turn_id, '') AS turn_id,
       coalesce(w.remaining, '') AS remaining,
       coalesce(w.status = 'expired', false) AS is_expired
FROM agentjournal_internal.sessions_1 AS s
LEFT JOIN agentjournal_internal.work_1 AS w USING (tenant, session_id)
WHERE s.stream = ANY (%(streams)s);

-- name: sessions
INSERT INTO agentjournal_internal.sessions_1 AS t (
    stream, tenant, session_id, partition, user_id, agent, title, task_id, parent_session_id,
    status, started_at, last_activity_at, version, head_hash, turn_id, messages, input_tokens,
    output_tokens, cost, ttl_s
)
SELECT * FROM unnest(
    %(stream)b::text[], %(tenant)b::text[], %(session_id)b::text[], %(partition)b::int[],
    %(user_id)b::text[], %(agent)b::text[], %(title)b::text[], %(task_id)b::text[],
    %(parent_session_id)b::text[], %(status)b::text[], %(started_at)s::timestamptz[],
    %(last_activity_at)s::timestamptz[], %(version)b::bigint[], %(head_hash)b::bytea[],
    %(turn_id)b::text[], %(messages)b::bigint[], %(input_tokens)b::bigint[],
    %(output_tokens)b::bigint[], %(cost)b::numeric[], %(ttl_s)b::float8[]
)
ON CONFLICT (stream) DO UPDATE SET
    tenant = coalesce(t.tenant, excluded.tenant),
    session_id = coalesce(t.session_id, excluded.session_id),
    partition = coalesce(t.partition, excluded.partition),
    user_id = coalesce(t.user_id, excluded.user_id),
    agent = coalesce(t.agent, excluded.agent),
    title = coalesce(excluded.title, t.title),
    task_id = coalesce(t.task_id, excluded.task_id),
    parent_session_id = coalesce(t.parent_session_id, excluded.parent_session_id),
    status = coalesce(excluded.status, t.status),
    started_at = coalesce(t.started_at, excluded.started_at),
    last_activity_at = coalesce(excluded.last_activity_at, t.last_activity_at),
    version = coalesce(excluded.version, t.version),
    head_hash = coalesce(excluded.head_hash, t.head_hash),
    turn_id = coalesce(excluded.turn_id, t.turn_id),
    messages = CASE WHEN excluded.messages IS NULL THEN t.messages
        ELSE coalesce(t.messages, 0) + excluded.messages END,
    input_tokens = CASE WHEN excluded.input_tokens IS NULL THEN t.input_tokens
        ELSE coalesce(t.input_tokens, 0) + excluded.input_tokens END,
    output_tokens = CASE WHEN excluded.output_tokens IS NULL THEN t.output_tokens
        ELSE coalesce(t.output_tokens, 0) + excluded.output_tokens END,
    cost = CASE WHEN excluded.cost IS NULL THEN t.cost
        ELSE coalesce(t.cost, 0) + excluded.cost END,
    ttl_s = coalesce(excluded.ttl_s, t.ttl_s);

-- name: turns
INSERT INTO agentjournal_internal.turns_1 AS t (
    tenant, session_id, turn_id, version, trigger, reason, started_at, ended_at, resume_at
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(turn_id)b::text[], %(version)b::bigint[],
    %(trigger)b::text[], %(reason)b::text[], %(started_at)s::timestamptz[],
    %(ended_at)s::timestamptz[], %(resume_at)b::text[]
)
ON CONFLICT (tenant, session_id, turn_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    trigger = coalesce(t.trigger, excluded.trigger),
    reason = coalesce(t.reason, excluded.reason),
    started_at = coalesce(t.started_at, excluded.started_at),
    ended_at = coalesce(t.ended_at, excluded.ended_at),
    resume_at = coalesce(t.resume_at, excluded.resume_at);

-- name: messages
INSERT INTO agentjournal_internal.messages_1 AS t (
    tenant, session_id, message_id, version, turn_id, role, content, tokens, status,
    model_call_id, recorded_at
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(message_id)b::text[], %(version)b::bigint[],
    %(turn_id)b::text[], %(role)b::text[], %(content)b::text[], %(tokens)b::bigint[],
    %(status)b::text[], %(model_call_id)b::text[], %(recorded_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, message_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    turn_id = coalesce(t.turn_id, excluded.turn_id),
    role = coalesce(t.role, excluded.role),
    content = coalesce(t.content, excluded.content),
    tokens = coalesce(t.tokens, excluded.tokens),
    status = coalesce(excluded.status, t.status),
    model_call_id = coalesce(t.model_call_id, excluded.model_call_id),
    recorded_at = coalesce(t.recorded_at, excluded.recorded_at);

-- name: tool_calls
-- A higher attempt brings its own values; within one the first outcome stands, whole as it came.
-- What is completed stands for ever: no attempt comes after it.
INSERT INTO agentjournal_internal.tool_calls_1 AS t (
    tenant, session_id, call_id, version, turn_id, tool, arguments_text, requested_at, attempt,
    effect, idempotency_key, started_at, lease_until, fence, outcome, ended_at, duration_ms,
    error_type, error_message, output
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(call_id)b::text[], %(version)b::bigint[],
    %(turn_id)b::text[], %(tool)b::text[], %(arguments_text)b::text[],
    %(requested_at)s::timestamptz[], %(attempt)b::bigint[], %(effect)b::text[],
    %(idempotency_key)b::text[], %(started_at)s::timestamptz[], %(lease_until)s::timestamptz[],
    %(fence)b::bigint[], %(outcome)b::text[], %(ended_at)s::timestamptz[], %(duration_ms)b::float8[],
    %(error_type)b::text[], %(error_message)b::text[], %(output)b::text[]
)
ON CONFLICT (tenant, session_id, call_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    turn_id = coalesce(t.turn_id, excluded.turn_id),
    tool = coalesce(t.tool, excluded.tool),
    arguments_text = coalesce(t.arguments_text, excluded.arguments_text),
    requested_at = coalesce(t.requested_at, excluded.requested_at),
    attempt = CASE WHEN excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed'
        THEN t.attempt ELSE greatest(t.attempt, excluded.attempt) END,
    effect = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.effect
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.effect
        ELSE coalesce(t.effect, excluded.effect) END,
    idempotency_key = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.idempotency_key
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.idempotency_key
        ELSE coalesce(t.idempotency_key, excluded.idempotency_key) END,
    started_at = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.started_at
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.started_at
        ELSE coalesce(t.started_at, excluded.started_at) END,
    lease_until = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.lease_until
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.lease_until
        ELSE coalesce(t.lease_until, excluded.lease_until) END,
    fence = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.fence
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.fence
        ELSE coalesce(t.fence, excluded.fence) END,
    outcome = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.outcome
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.outcome
        ELSE coalesce(t.outcome, excluded.outcome) END,
    ended_at = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.ended_at
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.ended_at
        WHEN t.outcome IS NULL THEN excluded.ended_at ELSE t.ended_at END,
    duration_ms = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.duration_ms
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.duration_ms
        WHEN t.outcome IS NULL THEN excluded.duration_ms ELSE t.duration_ms END,
    error_type = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.error_type
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.error_type
        WHEN t.outcome IS NULL THEN excluded.error_type ELSE t.error_type END,
    error_message = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.error_message
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.error_message
        WHEN t.outcome IS NULL THEN excluded.error_message ELSE t.error_message END,
    output = CASE WHEN excluded.attempt < t.attempt
            OR excluded.attempt > coalesce(t.attempt, 0) AND t.outcome = 'completed' THEN t.output
        WHEN excluded.attempt > coalesce(t.attempt, 0) THEN excluded.output
        WHEN t.outcome IS NULL THEN excluded.output ELSE t.output END;

-- name: model_calls
INSERT INTO agentjournal_internal.model_calls_1 AS t (
    tenant, session_id, model_call_id, version, turn_id, provider, request_model,
    response_model, input_tokens, output_tokens, cost, currency, duration_ms, finish_reason,
    status, recorded_at
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(model_call_id)b::text[],
    %(version)b::bigint[], %(turn_id)b::text[], %(provider)b::text[],
    %(request_model)b::text[], %(response_model)b::text[], %(input_tokens)b::bigint[],
    %(output_tokens)b::bigint[], %(cost)b::numeric[], %(currency)b::text[],
    %(duration_ms)b::float8[], %(finish_reason)b::text[], %(status)b::text[],
    %(recorded_at)s::timestamptz[]
)
ON CONFLICT (tenant, session_id, model_call_id) DO UPDATE SET
    version = coalesce(t.version, excluded.version),
    turn_id = coalesce(t.turn_id, excluded.turn_id),
    provider = coalesce(t.provider, excluded.provider),
    request_model = coalesce(t.request_model, excluded.request_model),
    response_model = coalesce(t.response_model, excluded.response_model),
    input_tokens = coalesce(t.input_tokens, excluded.input_tokens),
    output_tokens = coalesce(t.output_tokens, excluded.output_tokens),
    cost = coalesce(t.cost, excluded.cost),
    currency = coalesce(t.currency, excluded.currency),
    duration_ms = coalesce(t.duration_ms, excluded.duration_ms),
    finish_reason = coalesce(t.finish_reason, excluded.finish_reason),
    status = coalesce(t.status, excluded.status),
    recorded_at = coalesce(t.recorded_at, excluded.recorded_at);

-- name: work
INSERT INTO agentjournal_internal.work_1 AS t (
    tenant, session_id, version, agent, status, turn_id, started_version, ended_version,
    turn_reason, due_at, remaining, unseen_version, rewound_version, answer_version,
    handed_version, settled_version, to_agent
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(version)b::bigint[], %(agent)b::text[],
    %(status)b::text[], %(turn_id)b::text[], %(started_version)b::bigint[],
    %(ended_version)b::bigint[], %(turn_reason)b::text[], %(due_at)s::timestamptz[],
    %(remaining)b::text[], %(unseen_version)b::bigint[], %(rewound_version)b::bigint[],
    %(answer_version)b::bigint[], %(handed_version)b::bigint[], %(settled_version)b::bigint[],
    %(to_agent)b::text[]
)
ON CONFLICT (tenant, session_id) DO UPDATE SET
    version = coalesce(excluded.version, t.version),
    agent = coalesce(t.agent, excluded.agent),
    status = coalesce(excluded.status, t.status),
    turn_id = coalesce(excluded.turn_id, t.turn_id),
    started_version = coalesce(excluded.started_version, t.started_version),
    ended_version = coalesce(excluded.ended_version, t.ended_version),
    turn_reason = coalesce(excluded.turn_reason, t.turn_reason),
    due_at = coalesce(excluded.due_at, t.due_at),
    remaining = coalesce(excluded.remaining, t.remaining),
    unseen_version = coalesce(excluded.unseen_version, t.unseen_version),
    rewound_version = coalesce(excluded.rewound_version, t.rewound_version),
    answer_version = coalesce(excluded.answer_version, t.answer_version),
    handed_version = coalesce(excluded.handed_version, t.handed_version),
    settled_version = coalesce(excluded.settled_version, t.settled_version),
    to_agent = coalesce(excluded.to_agent, t.to_agent);
