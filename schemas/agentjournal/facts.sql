-- What the client reads of facts, by name: views only, so that it needs no other right.

-- name: state
-- How far the entity's stream is, and whether a projection stopped at it.
SELECT coalesce((SELECT version FROM agentjournal.streams WHERE stream = %(stream)s), 0) AS version,
       p.projection, p.version AS parked_version
FROM (VALUES (%(stream)s::text)) AS asked (stream)
LEFT JOIN agentjournal.parked AS p
    ON p.stream = asked.stream AND p.projection IN ('events', 'facts')
LIMIT 1;

-- name: known
-- With the exact bytes of the event that has the value.
SELECT f.fact_id, f.kind, f.attribute, f.cardinality, f.quote, f.author_role, f.confidence,
       f.valid_from, f.valid_to, f.ended_by, f.retracted_at, f.evidence, f.fact_ids,
       f.extractor || ' ' || f.extractor_release AS extractor, f.version, f.recorded_at,
       f.confirmed_at, e.raw_data
FROM agentjournal.facts_known_at(coalesce(%(known_at)s::timestamptz, 'infinity')) AS f
JOIN agentjournal.events AS e ON e.stream = %(stream)s AND e.version = f.version
WHERE f.tenant = %(tenant)s AND f.entity_kind = %(kind)s AND f.entity_id = %(name)s;
