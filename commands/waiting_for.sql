-- What agents wait for, and what nobody knows the outcome of: statements by name, on views alone.

-- name: approvals
SELECT a.session_id, a.approval_id,
       CASE WHEN a.status = 'open' AND a.expires_at <= now() THEN 'expired' ELSE a.status END
           AS status,
       a.question, a.call_id, c.tool, c.arguments_text, a.choices, a.requested_of,
       a.requested_at, a.expires_at, a.answered_by, a.answered_at, a.comment,
       a.edited_arguments_text
FROM agentjournal.approvals AS a
LEFT JOIN agentjournal.tool_calls AS c
    ON c.tenant = a.tenant AND c.session_id = a.session_id AND c.call_id = a.call_id
WHERE a.tenant = %(tenant)s AND a.session_id IS NOT NULL AND a.requested_version IS NOT NULL
    AND (%(session)s::text IS NULL OR a.session_id = %(session)s)
    AND (%(all)s OR (a.status = 'open' AND (a.expires_at IS NULL OR a.expires_at > now())))
ORDER BY a.requested_at, a.session_id, a.approval_id;

-- name: unknown
SELECT c.session_id, NULL AS task_id, 'call' AS kind, c.call_id AS id, c.tool AS what,
       c.arguments_text AS arguments, c.effect, c.attempt, c.started_at, c.idempotency_key
FROM agentjournal.unknown_calls(now()) AS c
WHERE c.tenant = %(tenant)s AND (%(session)s::text IS NULL OR c.session_id = %(session)s)
UNION ALL
SELECT s.session_id, s.task_id, 'step', s.plan_id || ' ' || s.step_id, coalesce(s.tool, s.title),
       s.arguments::text, s.effect, s.attempt, s.started_at, s.idempotency_key
FROM agentjournal.unknown_steps(now()) AS s
WHERE s.tenant = %(tenant)s AND (%(session)s::text IS NULL OR s.session_id = %(session)s)
ORDER BY started_at, session_id, task_id, id;

-- name: tree
WITH RECURSIVE below (session_id, parent_id, path, place) AS (
    SELECT t.root_session_id, NULL, ARRAY[t.root_session_id], ARRAY[]::text[]
    FROM agentjournal.session_tree AS t
    WHERE t.tenant = %(tenant)s AND t.session_id = %(session)s
    UNION ALL
    SELECT c.session_id, b.session_id, b.path || c.session_id,
           b.place || (to_char(c.version, 'FM0000000000000000000') || ' ' || c.session_id)
    FROM below AS b
    CROSS JOIN LATERAL (
        SELECT t.session_id, t.parent_version AS version FROM agentjournal.session_tree AS t
        WHERE t.tenant = %(tenant)s AND t.parent_session_id = b.session_id
        UNION
        SELECT h.child_session_id, h.requested_version FROM agentjournal.handoffs AS h
        WHERE h.tenant = %(tenant)s AND h.session_id = b.session_id
            AND h.child_session_id IS NOT NULL AND h.requested_version IS NOT NULL
    ) AS c
    WHERE c.session_id <> ALL (b.path) AND cardinality(b.path) <= 101
)
SELECT b.session_id, b.parent_id AS parent_session_id, cardinality(b.path) - 1 AS depth,
       coalesce(t.agent, h.to_agent) AS agent, t.status,
       CASE WHEN h.handoff_id IS NULL THEN t.relation ELSE 'handoff' END AS relation,
       h.handoff_id, h.status AS handoff, h.task, h.summary, h.error_type, h.error_message, t.title
FROM below AS b
LEFT JOIN agentjournal.session_tree AS t
    ON t.tenant = %(tenant)s AND t.session_id = b.session_id
LEFT JOIN agentjournal.handoffs AS h
    ON h.tenant = %(tenant)s AND h.session_id = b.parent_id AND h.child_session_id = b.session_id
ORDER BY b.place, h.requested_version;
