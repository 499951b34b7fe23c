-- Where sessions left their parents.

CREATE OR REPLACE VIEW agentjournal.session_tree AS
SELECT s.tenant, s.session_id, s.version, s.parent_session_id, up.path[1] AS root_session_id,
       cardinality(up.path) - 1 AS depth, up.path, s.user_id, s.agent, s.title,
       coalesce(s.status, 'open') AS status, s.task_id,
       (began.parent ->> 'version')::bigint AS parent_version,
       began.parent ->> 'relation' AS relation
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
) AS up
LEFT JOIN LATERAL (
    SELECT agentjournal_internal.as_jsonb(convert_from(e.data, 'UTF8')) -> 'parent' AS parent
    FROM agentjournal_internal.events_1 AS e
    WHERE s.parent_session_id IS NOT NULL AND e.stream = s.stream AND e.version = 1
        AND e.type = 'session.started'
) AS began ON true;

COMMENT ON COLUMN agentjournal.session_tree.parent_version IS
    'of the parent, at which this session left it';
COMMENT ON COLUMN agentjournal.session_tree.relation IS 'handoff, fork or continuation';
