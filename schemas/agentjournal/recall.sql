-- What recall asks, by name: views only, so that the client needs no other right.

-- name: lexical
SELECT f.score AS lexical, NULL::float8 AS likeness, NULL::float8 AS lowest, p.stream, p.version,
       p.number, p.tier, p.role, p.ref, p.event_id, p.session_id, p.text, p.said_at
FROM agentjournal.found_passages(%(entity)s, %(terms)s, %(most)s) AS f
JOIN agentjournal.passages AS p USING (stream, version, number);

-- name: fused
-- Each measure finds its own; of what one of them found, both are told.
WITH found AS MATERIALIZED (
    SELECT * FROM agentjournal.found_passages(%(entity)s, %(terms)s, %(most)s)
), likened AS MATERIALIZED (
    -- Stream by stream: the table as a whole is never read.
    SELECT e.stream, e.version, e.number, -(e.vector <#> %(vector)s::halfvec) AS likeness
    FROM agentjournal.searched_streams AS s
    CROSS JOIN LATERAL (
        SELECT v.stream, v.version, v.number, v.vector
        FROM agentjournal.embeddings AS v
        WHERE v.stream = s.stream AND v.model = %(model)s OFFSET 0
    ) AS e
    WHERE s.scopes @> ARRAY[%(entity)s::text]
), chosen AS (
    SELECT stream, version, number FROM found
    UNION
    (SELECT stream, version, number FROM likened ORDER BY likeness DESC LIMIT %(most)s)
)
SELECT coalesce(f.score, 0) AS lexical, l.likeness, (SELECT min(likeness) FROM likened) AS lowest,
       p.stream, p.version, p.number, p.tier, p.role, p.ref, p.event_id, p.session_id, p.text,
       p.said_at
FROM chosen
JOIN agentjournal.passages AS p USING (stream, version, number)
LEFT JOIN found AS f USING (stream, version, number)
LEFT JOIN likened AS l USING (stream, version, number)
WHERE p.scopes @> ARRAY[%(entity)s::text];

-- name: holding
-- Of facts those that hold now, each under the first of the ids that say it.
SELECT fact_id, fact_ids
FROM agentjournal.current_facts
WHERE tenant = %(tenant)s AND entity_kind = %(kind)s AND entity_id = %(id)s;

-- name: has_vectors
SELECT to_regclass('agentjournal.embeddings') IS NOT NULL AS has_vectors;
