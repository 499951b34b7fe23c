-- name: sample
-- As many sessions as asked for, spread evenly from the one that rests longest to the newest.
SELECT session_id, total
FROM (
    SELECT session_id, count(*) OVER () AS total,
           row_number() OVER (ORDER BY last_activity_at, session_id) AS rank
    FROM agentjournal.sessions WHERE tenant = %(tenant)s
) AS ranked
WHERE total - rank = 0
    OR (total - rank) * %(sample)s / total <> (total - rank - 1) * %(sample)s / total
ORDER BY rank;
