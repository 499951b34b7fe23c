-- Sessions as trees: where each stands under the sessions that it comes from.

-- A loop of parents ends where it would begin anew, and nothing is deeper than 101.
CREATE VIEW agentjournal.session_tree AS
SELECT s.tenant, s.session_id, s.version, s.parent_session_id, up.path[1] AS root_session_id,
       cardinality(up.path) - 1 AS depth, up.path, s.user_id, s.agent, s.title,
       coalesce(s.status, 'open') AS status, s.task_id
FROM agentjournal_internal.sessions_1 AS s
CROSS JOIN LATERAL (
    WITH RECURSIVE up (path, parent_id) AS (
        SELECT ARRAY[s.session_id], s.parent_session_id
        UNION ALL
        SELECT up.parent_id || up.path, (
            SELECT p.parent_session_id FROM agentjournal_internal.sessions_1 AS p
            WHERE p.tenant = s.tenant AND p.session_id = up.parent_id)
        FROM up
        WHERE up.parent_id <> ALL (up.path) AND cardinality(up.path) <= 101
    )
    SELECT path FROM up ORDER BY cardinality(path) DESC LIMIT 1
) AS up;
