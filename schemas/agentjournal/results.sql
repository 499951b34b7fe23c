-- The results of tools for the client, by name: views only, so that it needs no other right.

-- name: latest
SELECT session_id, call_id, version
FROM agentjournal.results
WHERE tenant = %(tenant)s AND arguments_digest = %(digest)s AND tool = %(tool)s
    AND recorded_at >= now() - make_interval(secs => %(max_age_s)s)
    AND (%(session_id)s::text IS NULL
         OR (session_id = %(session_id)s AND environment_unchanged))
ORDER BY recorded_at DESC, session_id, version DESC
LIMIT 1;
