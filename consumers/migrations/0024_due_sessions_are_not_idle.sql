-- A session that is to go on by itself at some time is not idle before: else it expires, no worker
-- finds it, and what it was to do is not done.

CREATE OR REPLACE VIEW agentjournal_internal.open_sessions AS
SELECT s.tenant, s.session_id, s.stream, s.partition, s.version, s.user_id, s.agent,
       s.last_activity_at, s.active_hour, s.due_hour, s.ttl_s AS own_ttl_s, t.ttl_s,
       agentjournal_internal.later(
           greatest(s.last_activity_at, w.due_at, r.retry_at), t.ttl_s) AS expires_at,
       CASE
           WHEN EXISTS (
               SELECT FROM agentjournal_internal.approvals_1 AS a
               WHERE a.tenant = s.tenant AND a.session_id = s.session_id AND a.task_id IS NULL
                   AND a.outcome IS NULL AND a.requested_version IS NOT NULL) THEN 'approval'
           WHEN EXISTS (
               SELECT FROM agentjournal_internal.inputs_1 AS i
               WHERE i.tenant = s.tenant AND i.session_id = s.session_id AND i.task_id IS NULL
                   AND i.answered_version IS NULL AND i.requested_version IS NOT NULL) THEN 'input'
           WHEN EXISTS (
               SELECT FROM agentjournal_internal.handoffs_1 AS h
               WHERE h.tenant = s.tenant AND h.session_id = s.session_id AND h.task_id IS NULL
                   AND h.outcome IS NULL AND h.requested_version IS NOT NULL
                   AND (h.mode = 'delegate' OR h.accepted_version IS NULL)) THEN 'handoff'
       END AS waits_for,
       l.lease_until
FROM agentjournal_internal.sessions_1 AS s
CROSS JOIN LATERAL (
    SELECT ceil(coalesce(
        s.ttl_s,
        (SELECT c.maximum FROM agentjournal_internal.configured_limits AS c
         WHERE c.tenant = s.tenant AND c.name = 'ttl_s'),
        (SELECT c.maximum FROM agentjournal_internal.configured_limits AS c
         WHERE c.tenant = '' AND c.name = 'ttl_s'),
        259200)) AS ttl_s
) AS t
LEFT JOIN agentjournal_internal.work_1 AS w
    ON w.tenant = s.tenant AND w.session_id = s.session_id AND w.turn_id = ''
        AND w.due_at < '9999-12-31T00:00:00Z'
LEFT JOIN LATERAL (
    SELECT max(f.retry_at) AS retry_at
    FROM agentjournal_internal.steps_1 AS f
    JOIN agentjournal_internal.plans_1 AS p
        ON p.tenant = f.tenant AND p.session_id = f.session_id AND p.task_id IS NULL
        AND p.plan_id = f.plan_id AND p.planned_version = f.planned_version
    WHERE f.tenant = s.tenant AND f.session_id = s.session_id AND f.task_id IS NULL
        AND f.outcome = 'failed' AND p.status = 'open'
        AND coalesce(f.skipped_version < f.ended_version, true)
        AND coalesce(f.rolled_back_version < f.ended_version, true)
) AS r ON true
LEFT JOIN LATERAL (
    SELECT o.lease_s, o.acquired_at, o.renewed_at, o.extended_at, o.released_at
    FROM agentjournal_internal.leases_1 AS o
    WHERE o.tenant = s.tenant AND o.session_id = s.session_id AND o.task_id IS NULL
        AND o.acquired_at IS NOT NULL
    ORDER BY o.task_id DESC, o.fence DESC LIMIT 1  -- as the index has them
) AS last ON last.released_at IS NULL
LEFT JOIN LATERAL (
    SELECT coalesce(agentjournal_internal.later(
        greatest(last.acquired_at, last.renewed_at, last.extended_at),
        round(last.lease_s * 1000) / 1000), '9999-12-31T00:00:00Z') AS lease_until
    WHERE last.acquired_at IS NOT NULL
) AS l ON true
WHERE s.is_open;

COMMENT ON COLUMN agentjournal.idle_sessions.expires_at IS
    'when they have passed since its last event, or since it was due to go on by itself, unless '
    'something happens before; null for never';
