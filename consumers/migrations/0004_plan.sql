-- The read model `plan`, generation 1: plans, their steps, decisions, saved checkpoints.

CREATE TABLE agentjournal_internal.plans_1 (
    stream          text NOT NULL,
    plan_id         text NOT NULL,
    tenant          text NOT NULL,
    session_id      text,
    task_id         text,
    version         bigint NOT NULL,
    goal            text,
    planned_version bigint,
    revisions       bigint,
    status          text,
    reason          text,
    created_at      timestamptz,
    revised_at      timestamptz,
    ended_version   bigint,
    ended_at        timestamptz,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, plan_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.steps_1 (
    stream              text NOT NULL,
    plan_id             text NOT NULL,
    step_key            bytea NOT NULL,
    tenant              text NOT NULL,
    session_id          text,
    task_id             text,
    step_id             text,
    version             bigint NOT NULL,
    planned_version     bigint,
    planned_index       int,
    title               text,
    tool                text,
    effect              text,
    attempt             numeric,
    idempotency_key     text,
    started_version     bigint,
    started_at          timestamptz,
    lease_until         timestamptz,
    outcome             text,
    ended_version       bigint,
    ended_at            timestamptz,
    error_type          text,
    error_message       text,
    retry_at            timestamptz,
    settled_by          text,
    skipped_version     bigint,
    skipped_at          timestamptz,
    skip_reason         text,
    rolled_back_version bigint,
    rolled_back_at      timestamptz,
    rolled_back_by      text,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, plan_id, step_key)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.decisions_1 (
    stream     text NOT NULL,
    version    bigint NOT NULL,
    tenant     text NOT NULL,
    session_id text,
    task_id    text,
    question   text NOT NULL,
    reason     text NOT NULL,
    decided_by text NOT NULL,
    decided_at timestamptz NOT NULL,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, version)
);

CREATE TABLE agentjournal_internal.checkpoints_1 (
    stream               text NOT NULL,
    checkpoint_id        text NOT NULL,
    tenant               text NOT NULL,
    session_id           text,
    task_id              text,
    version              bigint NOT NULL,
    saved_version        bigint,
    saved_at             timestamptz,
    label                text,
    state_schema_version bigint,
    artifact             text,
    restores             bigint,
    restored_version     bigint,
    restored_at          timestamptz,
    UNIQUE NULLS NOT DISTINCT (tenant, session_id, task_id, checkpoint_id)
) WITH (fillfactor = 70);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT 'plan', 1, p FROM generate_series(0, 7) AS p;

-- A value inside an event's data. Where Postgres cannot hold the data the mark for it is shown, so
-- that it is not taken for a field that is absent.
CREATE FUNCTION agentjournal_internal.field(raw bytea, VARIADIC path text[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN d = '{"$unreadable": true}' THEN d ELSE d #> path END
    FROM agentjournal_internal.as_jsonb(convert_from(raw, 'UTF8')) AS d
$$;

CREATE VIEW agentjournal.plans AS
SELECT tenant, session_id, task_id, version, plan_id, goal, status,
       CASE WHEN status <> 'open' THEN nullif(reason, '') END AS reason,
       planned_version, coalesce(revisions, 0) AS revisions, created_at, revised_at,
       CASE WHEN status <> 'open' THEN ended_version END AS ended_version,
       CASE WHEN status <> 'open' THEN ended_at END AS ended_at
FROM agentjournal_internal.plans_1;

-- A revision takes away what was not begun; the rest stays, though the plan no longer names it.
CREATE VIEW agentjournal.steps AS
SELECT s.tenant, s.session_id, s.task_id, s.version, s.plan_id, s.step_id, s.title,
       CASE
           WHEN s.rolled_back_version > greatest(
               s.started_version, s.ended_version, s.skipped_version, 0) THEN 'rolled_back'
           WHEN s.outcome = 'completed' THEN 'completed'
           WHEN s.skipped_version > greatest(s.started_version, s.ended_version, 0) THEN 'skipped'
           ELSE coalesce(s.outcome, 'open')
       END AS status,
       (s.attempt % 18446744073709551616)::bigint AS attempt,
       div(s.attempt, 18446744073709551616)::bigint AS attempt_group,
       nullif(s.tool, '') AS tool, s.effect,
       agentjournal_internal.field(p.data, 'steps', s.planned_index::text, 'arguments')
           AS arguments,
       agentjournal_internal.field(p.data, 'steps', s.planned_index::text, 'depends_on')
           AS depends_on,
       agentjournal_internal.field(p.data, 'steps', s.planned_index::text, 'retry') AS retry,
       agentjournal_internal.field(p.data, 'steps', s.planned_index::text, 'compensation')
           AS compensation,
       s.planned_version, s.planned_index,
       coalesce(s.planned_version = o.planned_version, false) AS in_plan,
       s.idempotency_key, s.started_version, s.started_at, s.lease_until,
       s.ended_version, s.ended_at,
       coalesce(agentjournal_internal.field(e.data, 'result'),
                agentjournal_internal.field(e.data, 'output')) AS result,
       agentjournal_internal.field(e.data, 'error') AS error,
       s.error_type, s.error_message, s.retry_at, s.settled_by,
       s.skipped_version, s.skipped_at, s.skip_reason,
       s.rolled_back_version, s.rolled_back_at, nullif(s.rolled_back_by, '') AS rolled_back_by
FROM agentjournal_internal.steps_1 AS s
LEFT JOIN LATERAL (
    SELECT planned_version FROM agentjournal_internal.plans_1
    WHERE tenant = s.tenant AND session_id = s.session_id AND task_id IS NULL
        AND plan_id = s.plan_id
    UNION ALL
    SELECT planned_version FROM agentjournal_internal.plans_1
    WHERE tenant = s.tenant AND session_id IS NULL AND task_id = s.task_id
        AND plan_id = s.plan_id
) AS o ON true
LEFT JOIN agentjournal_internal.events_1 AS p
    ON p.stream = s.stream AND p.version = s.planned_version
LEFT JOIN agentjournal_internal.events_1 AS e
    ON e.stream = s.stream AND e.version = s.ended_version
WHERE s.planned_version = o.planned_version
   OR coalesce(s.started_version, s.ended_version, s.skipped_version, s.rolled_back_version)
      IS NOT NULL;

CREATE VIEW agentjournal.decisions AS
SELECT d.tenant, d.session_id, d.task_id, d.version, d.question,
       agentjournal_internal.field(e.data, 'choice') AS choice,
       agentjournal_internal.field(e.data, 'alternatives') AS alternatives,
       d.reason, d.decided_by, d.decided_at
FROM agentjournal_internal.decisions_1 AS d
LEFT JOIN agentjournal_internal.events_1 AS e USING (stream, version);

CREATE VIEW agentjournal.checkpoints AS
SELECT c.tenant, c.session_id, c.task_id, c.version, c.checkpoint_id, nullif(c.label, '') AS label,
       c.state_schema_version, agentjournal_internal.field(e.data, 'state') AS state,
       nullif(c.artifact, '') AS artifact, c.saved_version, c.saved_at,
       coalesce(c.restores, 0) AS restores, c.restored_version, c.restored_at
FROM agentjournal_internal.checkpoints_1 AS c
LEFT JOIN agentjournal_internal.events_1 AS e
    ON e.stream = c.stream AND e.version = c.saved_version;

-- Steps that were begun and whose lease has passed: whether they happened must be found out.
CREATE FUNCTION agentjournal.unknown_steps(as_of timestamptz)
RETURNS SETOF agentjournal.steps LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM agentjournal.steps WHERE status = 'open' AND lease_until <= as_of
$$;
