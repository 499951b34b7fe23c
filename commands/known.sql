-- What `memory` shows beside facts: statements by name, on views alone.

-- name: summaries
-- Of the latest sessions that an entity's memory goes by.
SELECT s.session_id, s.version, s.summary, s.recorded_at
FROM agentjournal.session_summaries AS s
JOIN agentjournal.session_entities AS e USING (tenant, session_id)
WHERE e.tenant = %(tenant)s AND e.entity_kind = %(kind)s AND e.entity_id = %(name)s
    AND (%(known_at)s::timestamptz IS NULL OR s.recorded_at <= %(known_at)s)
ORDER BY s.recorded_at DESC, s.session_id
LIMIT %(most)s;
