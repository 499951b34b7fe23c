-- What workers look for, by name: views only, so that they need no other right.

-- name: runnable
-- The longest waiting first. The session's own version is of the same moment as the rest.
SELECT r.session_id, r.reason, r.version, s.version AS head_version
FROM agentjournal.runnable_at(%(as_of)s) AS r
JOIN agentjournal.sessions AS s USING (tenant, session_id)
WHERE r.tenant = %(tenant)s AND r.agent = %(agent)s
    AND r.session_id <> ALL (%(without)s::text[])
ORDER BY r.since, r.session_id
LIMIT %(most)s;
