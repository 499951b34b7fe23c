-- The notes of a session for the client, by name: views only, so that it needs no other right.

-- name: notes
-- With the place that they were read at: one moment of the database.
SELECT CASE WHEN m.next_position = p.next_position THEN m.next_position END AS next_position,
       coalesce(s.version, 0) AS through, x.projection AS parked, x.version AS parked_version,
       n.key, e.recorded_at, e.raw_data
FROM agentjournal.projection_status AS m
JOIN agentjournal.projection_status AS p ON p.projection = 'events' AND p.partition = m.partition
LEFT JOIN agentjournal.streams AS s ON s.stream = %(stream)s
LEFT JOIN LATERAL (
    SELECT projection, version FROM agentjournal.parked
    WHERE stream = %(stream)s AND projection IN ('events', 'memory') LIMIT 1) AS x ON true
LEFT JOIN agentjournal.notes AS n
    ON n.tenant = %(tenant)s AND n.session_id = %(session_id)s AND NOT n.deleted
LEFT JOIN agentjournal.events AS e ON e.stream = %(stream)s AND e.version = n.version
WHERE m.projection = 'memory' AND m.partition = %(partition)s;
