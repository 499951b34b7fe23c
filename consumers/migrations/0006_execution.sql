-- The read model `execution`, generation 1: handoffs, approvals, questions, leases.

CREATE TABLE agentjournal_internal.handoffs_1 (
    stream            text NOT NULL,
    handoff_id        text NOT NULL,
    tenant            text NOT NULL,
    session_id        text,
    task_id           text,
    version           bigint NOT NULL,
    requested_version bigint,
    requested_at      timestamptz,
    mode              text,
    to_agent          text,
    child_session_id  text,
    task              text,
    accepted_version  bigint,
    accepted_at       timestamptz,
    outcome           text,
    ended_version     bigint,
    ended_at          timestamptz,
    summary           text,
    error_type        text,
    error_message     text,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, handoff_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.approvals_1 (
    stream                text NOT NULL,
    approval_id           text NOT NULL,
    tenant                text NOT NULL,
    session_id            text,
    task_id               text,
    version               bigint NOT NULL,
    requested_version     bigint,
    requested_at          timestamptz,
    question              text,
    call_id               text,
    arguments_digest      text,
    requested_of          text,
    expires_at            timestamptz,
    outcome               text,
    answered_version      bigint,
    answered_at           timestamptz,
    answered_by           text,
    comment               text,
    edited_arguments_text text,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, approval_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.inputs_1 (
    stream            text NOT NULL,
    input_id          text NOT NULL,
    tenant            text NOT NULL,
    session_id        text,
    task_id           text,
    version           bigint NOT NULL,
    requested_version bigint,
    requested_at      timestamptz,
    question          text,
    answered_version  bigint,
    answered_at       timestamptz,
    answered_by       text,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, input_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.leases_1 (
    stream           text NOT NULL,
    fence            bigint NOT NULL,
    tenant           text NOT NULL,
    session_id       text,
    task_id          text,
    version          bigint NOT NULL,
    holder           text,
    lease_s          float8,
    acquired_at      timestamptz,
    renewals         bigint,
    renewed_at       timestamptz,
    released_version bigint,
    released_at      timestamptz,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, fence)
) WITH (fillfactor = 70);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT 'execution', 1, p FROM generate_series(0, 7) AS p;

CREATE VIEW agentjournal.handoffs AS
SELECT h.tenant, h.session_id, h.task_id, h.version, h.handoff_id,
       coalesce(h.outcome, CASE WHEN h.accepted_version IS NULL THEN 'open' ELSE 'accepted' END)
           AS status,
       h.mode, h.to_agent, nullif(h.child_session_id, '') AS child_session_id, h.task,
       agentjournal_internal.field(q.data, 'context') AS context,
       agentjournal_internal.field(q.data, 'constraints') AS constraints,
       h.requested_version, h.requested_at, h.accepted_version, h.accepted_at,
       h.ended_version, h.ended_at, h.summary,
       agentjournal_internal.field(a.data, 'data') AS result,
       agentjournal_internal.field(a.data, 'usage') AS usage,
       h.error_type, h.error_message
FROM agentjournal_internal.handoffs_1 AS h
LEFT JOIN agentjournal_internal.events_1 AS q
    ON q.stream = h.stream AND q.version = h.requested_version
LEFT JOIN agentjournal_internal.events_1 AS a
    ON a.stream = h.stream AND a.version = h.ended_version;

CREATE VIEW agentjournal.approvals AS
SELECT p.tenant, p.session_id, p.task_id, p.version, p.approval_id,
       coalesce(p.outcome, 'open') AS status, p.question, nullif(p.call_id, '') AS call_id,
       nullif(p.arguments_digest, '') AS arguments_digest,
       agentjournal_internal.field(q.data, 'choices') AS choices,
       nullif(p.requested_of, '') AS requested_of, p.requested_version, p.requested_at,
       nullif(p.expires_at, '9999-12-31T00:00:00Z') AS expires_at,
       p.answered_version, p.answered_at, p.answered_by, p.comment, p.edited_arguments_text
FROM agentjournal_internal.approvals_1 AS p
LEFT JOIN agentjournal_internal.events_1 AS q
    ON q.stream = p.stream AND q.version = p.requested_version;

CREATE VIEW agentjournal.inputs AS
SELECT i.tenant, i.session_id, i.task_id, i.version, i.input_id,
       CASE WHEN i.answered_version IS NULL THEN 'open' ELSE 'provided' END AS status,
       i.question, agentjournal_internal.field(q.data, 'schema') AS schema,
       i.requested_version, i.requested_at, i.answered_version, i.answered_at, i.answered_by,
       agentjournal_internal.field(a.data, 'value') AS value
FROM agentjournal_internal.inputs_1 AS i
LEFT JOIN agentjournal_internal.events_1 AS q
    ON q.stream = i.stream AND q.version = i.requested_version
LEFT JOIN agentjournal_internal.events_1 AS a
    ON a.stream = i.stream AND a.version = i.answered_version;

-- The fence decides who may write, so a lease that lapsed is over when another one is taken.
CREATE VIEW agentjournal.leases AS
SELECT tenant, session_id, task_id, version, fence, holder, lease_s, acquired_at,
       coalesce(renewals, 0) AS renewals, renewed_at,
       agentjournal_internal.later(coalesce(renewed_at, acquired_at), lease_s) AS lease_until,
       released_version, released_at
FROM agentjournal_internal.leases_1;

-- Calls that were begun and whose lease has passed: whether they happened must be found out.
CREATE FUNCTION agentjournal.unknown_calls(as_of timestamptz)
RETURNS SETOF agentjournal.tool_calls LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM agentjournal.tool_calls WHERE outcome = 'open' AND lease_until <= as_of
$$;
