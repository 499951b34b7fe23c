-- What is unknown, and what needs a worker: leases that every write extends, work that is left.

-- Under which lease a call or a step was begun; 0: under none.
ALTER TABLE agentjournal_internal.tool_calls_1 ADD COLUMN fence bigint;
ALTER TABLE agentjournal_internal.steps_1 ADD COLUMN fence bigint;
ALTER TABLE agentjournal_internal.leases_1 ADD COLUMN extended_at timestamptz;

CREATE TABLE agentjournal_internal.work_1 (
    tenant          text NOT NULL,
    session_id      text NOT NULL,
    version         bigint NOT NULL,
    agent           text,         -- that began it
    to_agent        text,         -- to whom the conversation was transferred; empty: to none
    status          text,
    turn_id         text,         -- of the turn that is open; empty: none
    started_version bigint,       -- of the last turn
    ended_version   bigint,       -- of the last turn; 0: it is open
    turn_reason     text,         -- why it ended
    due_at          timestamptz,  -- its resume_at
    remaining       text,         -- messages that no turn has taken up, transfers: JSON
    unseen_version  bigint,       -- the first of these messages; 0: none
    rewound_version bigint,       -- of a rewind that no turn came after; 0: none
    answer_version  bigint,       -- of the last answer of a person or another agent
    handed_version  bigint,       -- of the last task that was handed to another agent
    settled_version bigint,       -- of the last call that was settled from elsewhere
    PRIMARY KEY (tenant, session_id)
) WITH (fillfactor = 70);

-- The few sessions that may have work. A row of this table changes a few times a turn.
CREATE INDEX work_1_left ON agentjournal_internal.work_1 (
    tenant, coalesce(nullif(to_agent, ''), agent)
) WHERE status = 'open' AND (turn_id <> '' OR unseen_version > 0 OR rewound_version > 0
    OR turn_reason = 'waiting' OR due_at < '9999-12-31T00:00:00Z' OR to_agent <> '');

CREATE INDEX approvals_1_expiring ON agentjournal_internal.approvals_1 (expires_at)
WHERE outcome IS NULL AND session_id IS NOT NULL AND expires_at < '9999-12-31T00:00:00Z';

CREATE INDEX steps_1_retried ON agentjournal_internal.steps_1 (retry_at)
WHERE outcome = 'failed' AND session_id IS NOT NULL AND retry_at IS NOT NULL;

CREATE OR REPLACE VIEW agentjournal.tool_calls AS
SELECT tenant, session_id, version, turn_id, call_id, tool,
       agentjournal_internal.as_jsonb(arguments_text) AS arguments, arguments_text, effect,
       coalesce(outcome, 'open') AS outcome, attempt, lease_until,
       coalesce(started_at, requested_at) AS started_at, ended_at, duration_ms, error_type,
       error_message, output, idempotency_key, requested_at, nullif(fence, 0) AS fence
FROM agentjournal_internal.tool_calls_1;

CREATE OR REPLACE VIEW agentjournal.steps AS
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
       s.rolled_back_version, s.rolled_back_at, nullif(s.rolled_back_by, '') AS rolled_back_by,
       nullif(s.fence, 0) AS fence
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

-- As the log counts: whole milliseconds, from the last write under the fence. Without an end is one
-- whose end no calendar has.
CREATE OR REPLACE VIEW agentjournal.leases AS
SELECT l.tenant, l.session_id, l.task_id, l.version, l.fence, l.holder, l.lease_s, l.acquired_at,
       coalesce(l.renewals, 0) AS renewals, l.renewed_at,
       coalesce(l.released_at, agentjournal_internal.later(
           greatest(l.acquired_at, l.renewed_at, l.extended_at),
           round(l.lease_s * 1000) / 1000)) AS lease_until,
       l.released_version, l.released_at, l.extended_at,
       coalesce(
           (SELECT n.fence FROM agentjournal_internal.leases_1 AS n
            WHERE n.tenant = l.tenant AND n.session_id = l.session_id AND n.task_id IS NULL
                AND n.fence > l.fence
            ORDER BY n.task_id, n.fence LIMIT 1),
           (SELECT n.fence FROM agentjournal_internal.leases_1 AS n
            WHERE n.tenant = l.tenant AND n.session_id IS NULL AND n.task_id = l.task_id
                AND n.fence > l.fence
            ORDER BY n.fence LIMIT 1)) AS replaced_version
FROM agentjournal_internal.leases_1 AS l;

-- A worker that was stopped may still fire: a call is unknown when nobody has the lease that it was
-- begun under, and not before its own time has passed.
CREATE OR REPLACE FUNCTION agentjournal.unknown_calls(as_of timestamptz)
RETURNS SETOF agentjournal.tool_calls LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM agentjournal.tool_calls AS c
    WHERE c.outcome = 'open' AND c.lease_until <= as_of
        AND (c.fence IS NULL OR EXISTS (
            SELECT FROM agentjournal.leases AS l
            WHERE l.tenant = c.tenant AND l.session_id = c.session_id AND l.task_id IS NULL
                AND l.fence = c.fence
                AND (l.lease_until <= as_of OR l.replaced_version IS NOT NULL)))
$$;

CREATE OR REPLACE FUNCTION agentjournal.unknown_steps(as_of timestamptz)
RETURNS SETOF agentjournal.steps LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM agentjournal.steps AS s
    WHERE s.status = 'open' AND s.lease_until <= as_of
        AND (s.fence IS NULL OR EXISTS (
            SELECT FROM agentjournal.leases AS l
            WHERE l.tenant = s.tenant AND l.session_id = s.session_id AND l.task_id IS NULL
                AND l.fence = s.fence
                AND (l.lease_until <= as_of OR l.replaced_version IS NOT NULL)
        ) OR EXISTS (
            SELECT FROM agentjournal.leases AS l
            WHERE l.tenant = s.tenant AND l.session_id IS NULL AND l.task_id = s.task_id
                AND l.fence = s.fence
                AND (l.lease_until <= as_of OR l.replaced_version IS NOT NULL)))
$$;

-- Whether what is left of a conversation at its last rewind ends with a message of the user.
CREATE VIEW agentjournal_internal.rewound_to_user AS
SELECT w.tenant, w.session_id, left_over.version
FROM agentjournal_internal.work_1 AS w
JOIN agentjournal_internal.sessions_1 AS s USING (tenant, session_id)
CROSS JOIN LATERAL (
    SELECT m.version, m.role FROM agentjournal_internal.messages_1 AS m
    WHERE m.tenant = w.tenant AND m.session_id = w.session_id AND m.version < w.rewound_version
        AND m.role IN ('user', 'assistant') AND m.status <> 'retracted'
        AND NOT EXISTS (
            SELECT FROM agentjournal_internal.events_1 AS e
            CROSS JOIN LATERAL (
                SELECT agentjournal_internal.field(e.data, 'to_version') AS to_version) AS f
            WHERE e.stream = s.stream AND e.type = 'conversation.rewound' AND e.version > m.version
                AND CASE WHEN jsonb_typeof(f.to_version) = 'number'
                    THEN f.to_version::numeric < m.version END)
    ORDER BY m.version DESC LIMIT 1
) AS left_over
WHERE w.rewound_version > 0 AND left_over.role = 'user';

-- One row for each reason. What a turn waits for counts when it came after the turn's end.
CREATE VIEW agentjournal.work AS
SELECT r.tenant, r.session_id, r.version, r.agent, r.reason,
       (SELECT e.recorded_at FROM agentjournal_internal.events_1 AS e
        WHERE e.stream = s.stream AND e.version = r.version) AS recorded_at,
       r.due_at, l.holder, l.lease_until
FROM (
    SELECT w.tenant, w.session_id, coalesce(nullif(w.to_agent, ''), w.agent) AS agent,
           found.reason, found.version, found.due_at
    FROM agentjournal_internal.work_1 AS w
    CROSS JOIN LATERAL (
        SELECT 'turn' AS reason, w.started_version AS version, NULL::timestamptz AS due_at
        WHERE w.turn_id <> ''
        UNION ALL
        SELECT 'message', w.unseen_version, NULL WHERE w.unseen_version > 0
        UNION ALL
        SELECT 'message', u.version, NULL FROM agentjournal_internal.rewound_to_user AS u
        WHERE w.rewound_version > 0 AND u.tenant = w.tenant AND u.session_id = w.session_id
        UNION ALL
        SELECT 'approval', max(a.answered_version), NULL
        FROM agentjournal_internal.approvals_1 AS a
        WHERE w.turn_reason = 'waiting' AND w.answer_version > w.ended_version
            AND a.tenant = w.tenant AND a.session_id = w.session_id AND a.task_id IS NULL
            AND a.answered_version > greatest(w.ended_version, a.requested_version)
            AND a.requested_version IS NOT NULL
        HAVING count(*) > 0
        UNION ALL
        SELECT 'input', max(i.answered_version), NULL
        FROM agentjournal_internal.inputs_1 AS i
        WHERE w.turn_reason = 'waiting' AND w.answer_version > w.ended_version
            AND i.tenant = w.tenant AND i.session_id = w.session_id AND i.task_id IS NULL
            AND i.answered_version > greatest(w.ended_version, i.requested_version)
            AND i.requested_version IS NOT NULL
        HAVING count(*) > 0
        UNION ALL
        SELECT 'handoff', max(h.ended_version), NULL
        FROM agentjournal_internal.handoffs_1 AS h
        WHERE w.turn_reason = 'waiting' AND w.answer_version > w.ended_version
            AND h.tenant = w.tenant AND h.session_id = w.session_id AND h.task_id IS NULL
            AND h.ended_version > greatest(w.ended_version, h.requested_version)
            AND h.requested_version IS NOT NULL
        HAVING count(*) > 0
        UNION ALL
        SELECT 'handoff', max(h.requested_version), NULL
        FROM agentjournal_internal.handoffs_1 AS h
        WHERE w.to_agent <> ''
            AND h.tenant = w.tenant AND h.session_id = w.session_id AND h.task_id IS NULL
            AND h.mode = 'transfer' AND h.accepted_version IS NULL AND h.outcome IS NULL
        HAVING count(*) > 0
        UNION ALL
        SELECT 'handoff', max(h.requested_version), NULL
        FROM agentjournal_internal.handoffs_1 AS h
        LEFT JOIN agentjournal_internal.work_1 AS c
            ON c.tenant = h.tenant AND c.session_id = h.child_session_id
        WHERE w.turn_reason = 'waiting' AND w.handed_version > 0
            AND h.tenant = w.tenant AND h.session_id = w.session_id AND h.task_id IS NULL
            AND h.mode = 'delegate' AND h.outcome IS NULL AND h.child_session_id <> ''
            AND (c.session_id IS NULL OR c.status <> 'open'
                OR (c.turn_id = '' AND c.turn_reason IN ('completed', 'failed', 'limit')
                    AND c.due_at = '9999-12-31T00:00:00Z'))
        HAVING count(*) > 0
        UNION ALL
        SELECT 'call', w.settled_version, NULL
        WHERE w.turn_reason = 'waiting' AND w.settled_version > w.ended_version
        UNION ALL
        SELECT 'resume', w.ended_version, w.due_at
        WHERE w.turn_id = '' AND w.due_at < '9999-12-31T00:00:00Z'
    ) AS found
    WHERE w.status = 'open' AND (w.turn_id <> '' OR w.unseen_version > 0 OR w.rewound_version > 0
        OR w.turn_reason = 'waiting' OR w.due_at < '9999-12-31T00:00:00Z' OR w.to_agent <> '')
    UNION ALL
    SELECT w.tenant, w.session_id, coalesce(nullif(w.to_agent, ''), w.agent), 'approval',
           a.requested_version, a.expires_at
    FROM agentjournal_internal.approvals_1 AS a
    JOIN agentjournal_internal.work_1 AS w USING (tenant, session_id)
    WHERE a.outcome IS NULL AND a.session_id IS NOT NULL AND a.task_id IS NULL
        AND a.expires_at < '9999-12-31T00:00:00Z' AND a.requested_version IS NOT NULL
        AND w.status = 'open' AND w.turn_reason = 'waiting'
    UNION ALL
    SELECT w.tenant, w.session_id, coalesce(nullif(w.to_agent, ''), w.agent), 'retry',
           s.ended_version, s.retry_at
    FROM agentjournal_internal.steps_1 AS s
    JOIN agentjournal_internal.plans_1 AS p
        ON p.tenant = s.tenant AND p.session_id = s.session_id AND p.task_id IS NULL
        AND p.plan_id = s.plan_id AND p.planned_version = s.planned_version
    JOIN agentjournal_internal.work_1 AS w
        ON w.tenant = s.tenant AND w.session_id = s.session_id
    WHERE s.outcome = 'failed' AND s.session_id IS NOT NULL AND s.task_id IS NULL
        AND s.retry_at IS NOT NULL AND p.status = 'open' AND w.status = 'open'
        AND coalesce(s.skipped_version < s.ended_version, true)
        AND coalesce(s.rolled_back_version < s.ended_version, true)
) AS r
LEFT JOIN agentjournal_internal.sessions_1 AS s USING (tenant, session_id)
LEFT JOIN LATERAL (
    SELECT o.holder, o.lease_s, o.acquired_at, o.renewed_at, o.extended_at, o.released_at
    FROM agentjournal_internal.leases_1 AS o
    WHERE o.tenant = r.tenant AND o.session_id = r.session_id AND o.task_id IS NULL
        AND o.acquired_at IS NOT NULL
    ORDER BY o.task_id DESC, o.fence DESC LIMIT 1  -- as the index has them
) AS last ON last.released_at IS NULL
LEFT JOIN LATERAL (
    SELECT last.holder, coalesce(agentjournal_internal.later(
        greatest(last.acquired_at, last.renewed_at, last.extended_at),
        round(last.lease_s * 1000) / 1000), '9999-12-31T00:00:00Z') AS lease_until
    WHERE last.acquired_at IS NOT NULL
) AS l ON true;

CREATE FUNCTION agentjournal.runnable_at(as_of timestamptz)
RETURNS TABLE (
    tenant text, session_id text, agent text, reason text, since timestamptz, version bigint
) LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT DISTINCT ON (w.tenant, w.agent, w.session_id)
           w.tenant, w.session_id, w.agent, w.reason, coalesce(w.due_at, w.recorded_at), w.version
    FROM agentjournal.work AS w
    WHERE (w.due_at IS NULL OR w.due_at <= as_of)
        AND (w.lease_until IS NULL OR w.lease_until <= as_of)
    ORDER BY w.tenant, w.agent, w.session_id, array_position(
        ARRAY['turn', 'message', 'approval', 'input', 'handoff', 'call', 'resume', 'retry'],
        w.reason), w.version
$$;

CREATE VIEW agentjournal.runnable AS
SELECT tenant, session_id, agent, reason, since, version FROM agentjournal.runnable_at(now());

COMMENT ON COLUMN agentjournal.tool_calls.fence IS
    'of the lease that the newest attempt was begun under; null for none';
COMMENT ON COLUMN agentjournal.steps.fence IS
    'of the lease that the newest attempt was begun under; null for none';
COMMENT ON COLUMN agentjournal.leases.renewed_at IS
    'broker''s time of the last renewal by an event of its own';
COMMENT ON COLUMN agentjournal.leases.lease_until IS
    'when it passes, unless a write under it comes before: so long after the last one, or when it '
    'was released; null for never';
COMMENT ON COLUMN agentjournal.leases.extended_at IS 'broker''s time of the last write under it';
COMMENT ON COLUMN agentjournal.leases.replaced_version IS
    'version at which the next lease was taken, after which this one is worth nothing';
COMMENT ON FUNCTION agentjournal.unknown_calls(timestamptz) IS
    'Tool calls that are open though their lease has passed, and that under which they were begun '
    'has passed too, was released or replaced: whether they happened must be found out.';
COMMENT ON FUNCTION agentjournal.unknown_steps(timestamptz) IS
    'Steps that are open though their lease has passed, and that under which they were begun has '
    'passed too, was released or replaced: whether they happened must be found out.';

COMMENT ON VIEW agentjournal.work IS
    'What there is to do in open sessions, also when somebody does it now, or it is not due yet: '
    'one row for each reason. A message of a user waits until a turn names it in input_versions; '
    'what an assistant says that writes under no lease, or in no turn, answers all that came '
    'before. So an imported session has work when its last message is the user''s.';
COMMENT ON COLUMN agentjournal.work.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.work.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.work.version IS 'version of the event that the work comes from';
COMMENT ON COLUMN agentjournal.work.agent IS
    'that works on the session: who began it, or to whom the conversation was transferred last';
COMMENT ON COLUMN agentjournal.work.reason IS
    'turn (it is open), message (of a user, not taken up yet), approval (answered, or expires), '
    'input (provided), handoff (ended, transferred to the agent, or to be begun or brought back: '
    'the other session is not there, or is done), call (settled from '
    'elsewhere), resume (the turn said when), retry (a step of an open plan failed); answers are '
    'those since a turn ended that waits';
COMMENT ON COLUMN agentjournal.work.recorded_at IS 'broker''s time of that event';
COMMENT ON COLUMN agentjournal.work.due_at IS 'from when on; null for at once';
COMMENT ON COLUMN agentjournal.work.holder IS
    'the worker that has the lease, or had it last; null when it was released or there was none';
COMMENT ON COLUMN agentjournal.work.lease_until IS
    'before that nobody else may take the session; null when there is no lease';

COMMENT ON VIEW agentjournal.runnable IS
    'Open sessions that need a worker now: those that have work that is due, and that nobody has '
    'a lease on.';
COMMENT ON COLUMN agentjournal.runnable.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.runnable.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.runnable.agent IS 'that works on it';
COMMENT ON COLUMN agentjournal.runnable.reason IS 'the first of those that the view work has';
COMMENT ON COLUMN agentjournal.runnable.since IS
    'when it became due, or broker''s time of the event that it comes from';
COMMENT ON COLUMN agentjournal.runnable.version IS 'version of that event';
COMMENT ON FUNCTION agentjournal.runnable_at(timestamptz) IS
    'Open sessions that need a worker at a moment, as the view runnable shows those of now.';
