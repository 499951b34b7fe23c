-- What recall asks, by name: views only, so that the client needs no other right.

-- name: lexical
SELECT f.score AS lexical, NULL::float8 AS likeness, p.stream, p.version, p.number, p.tier, p.role,
       p.ref, p.event_id, p.text, p.said_at
FROM agentjournal_internal.found_passages(%(entity)s, %(terms)s, %(most)s) AS f
JOIN agentjournal.passages AS p USING (stream, version, number);

-- name: near
WITH near AS MATERIALIZED (
    SELECT v.stream, v.version, v.number, v.vector <#> %(vector)s::halfvec AS distance
    FROM agentjournal.embeddings AS v
    WHERE v.model = %(model)s AND v.stream = ANY (ARRAY(
        SELECT s.stream FROM agentjournal.searched_streams AS s
        WHERE s.scopes @> ARRAY[%(entity)s::text]))
    ORDER BY distance
    LIMIT %(most)s
)
SELECT 0::float8 AS lexical, -n.distance AS likeness, p.stream, p.version, p.number, p.tier, p.role,
       p.ref, p.event_id, p.text, p.said_at
FROM near AS n
JOIN agentjournal.passages AS p USING (stream, version, number)
WHERE p.scopes @> ARRAY[%(entity)s::text];

-- name: likeness
SELECT v.stream, v.version, v.number, -(v.vector <#> %(vector)s::halfvec) AS likeness
FROM unnest(%(streams)s::text[], %(versions)s::bigint[], %(numbers)s::int[])
    AS e (stream, version, number)
JOIN agentjournal.embeddings AS v USING (stream, version, number)
WHERE v.model = %(model)s;

-- name: texts
SELECT p.stream, p.version, array_agg(p.text ORDER BY p.number) AS texts
FROM unnest(%(streams)s::text[], %(versions)s::bigint[]) AS e (stream, version)
JOIN agentjournal.passages AS p USING (stream, version)
WHERE p.scopes && %(entities)s::text[]
GROUP BY p.stream, p.version;

-- name: said
-- Whether some facts hold follows from all that was said of their slots and of what was taken back
-- by its id (learned), what was taken back, and how far those sessions were promoted.
WITH taken_back AS MATERIALIZED (
    SELECT r.fact_id, r.fact_key, r.attribute, r.value_key, r.said_at, r.recorded_at
    FROM agentjournal.fact_retractions AS r
    WHERE r.tenant = %(tenant)s AND r.entity_kind = %(kind)s AND r.entity_id = %(name)s
), learned AS MATERIALIZED (
    SELECT s.fact_id, s.version, s.attribute, s.value_key, s.cardinality, s.author_role,
           s.confidence, s.said_at, coalesce(s.session_id, '') AS session_id, s.said_version,
           s.valid_from, s.valid_to, s.extractor, s.extractor_order, s.recorded_at
    FROM agentjournal.fact_statements AS s
    WHERE s.tenant = %(tenant)s AND s.entity_kind = %(kind)s AND s.entity_id = %(name)s
        AND (s.slot = ANY (ARRAY(
                SELECT f.slot FROM agentjournal.fact_statements AS f
                WHERE f.tenant = %(tenant)s AND f.entity_kind = %(kind)s
                    AND f.entity_id = %(name)s AND f.fact_id = ANY (%(fact_ids)s)))
            OR s.fact_key = ANY (ARRAY(
                SELECT r.fact_key FROM taken_back AS r WHERE r.attribute IS NULL)))
)
SELECT 'learned' AS what, * FROM learned
UNION ALL
SELECT 'retracted', fact_id, NULL, attribute, value_key, NULL, NULL, NULL, said_at, NULL, NULL,
       NULL, NULL, NULL, NULL, recorded_at
FROM taken_back
UNION ALL
SELECT 'promoted', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, p.session_id,
       p.through_version, NULL, NULL, p.extractor, p.extractor_order, p.recorded_at
FROM agentjournal.promoted_through AS p
WHERE p.tenant = %(tenant)s
    AND p.session_id = ANY (ARRAY(SELECT l.session_id FROM learned AS l WHERE l.session_id <> ''));

-- name: has_vectors
SELECT to_regclass('agentjournal.embeddings') IS NOT NULL AS has_vectors;
