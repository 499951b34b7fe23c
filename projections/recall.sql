-- Statements of the projection `recall`, by name: one array a column.
-- What an update does to a column is its policy in recall_tables.py.

-- name: recall_streams
-- Where it changes whom a session is about, so do the passages that are there.
WITH given AS (
    SELECT * FROM unnest(
        %(stream)b::text[], %(tenant)b::text[], %(session_id)b::text[], %(own_scope)b::text[],
        %(entity_scopes)b::text[], %(passages)b::bigint[], %(terms)b::bigint[]
    ) AS g (stream, tenant, session_id, own_scope, entity_scopes, passages, terms)
), stored AS (
    INSERT INTO agentjournal_internal.recall_streams_1 AS t (
        stream, tenant, session_id, own_scope, entity_scopes, passages, terms
    )
    SELECT * FROM given
    ON CONFLICT (stream) DO UPDATE SET
        own_scope = coalesce(t.own_scope, excluded.own_scope),
        entity_scopes = coalesce(excluded.entity_scopes, t.entity_scopes),
        passages = coalesce(t.passages + excluded.passages, t.passages, excluded.passages),
        terms = coalesce(t.terms + excluded.terms, t.terms, excluded.terms)
    RETURNING stream, scopes
)
UPDATE agentjournal_internal.passages_1 AS p SET scopes = s.scopes
FROM stored AS s JOIN given AS g USING (stream)
WHERE p.stream = s.stream AND p.scopes <> s.scopes
    AND (g.own_scope IS NOT NULL OR g.entity_scopes IS NOT NULL);

-- name: passages
INSERT INTO agentjournal_internal.passages_1 (
    stream, version, number, tenant, session_id, scopes, tier, role, ref, event_id, text, terms,
    length, said_at
)
SELECT g.stream, g.version, g.number, g.tenant, g.session_id, s.scopes, g.tier, g.role, g.ref,
       g.event_id, g.text, g.terms::tsvector, g.length, g.said_at
FROM unnest(
    %(stream)b::text[], %(version)b::bigint[], %(number)b::int[], %(tenant)b::text[],
    %(session_id)b::text[], %(tier)b::text[], %(role)b::text[], %(ref)b::text[],
    %(event_id)b::text[], %(text)b::text[], %(terms)b::text[], %(length)b::int[],
    %(said_at)s::timestamptz[]
) AS g (
    stream, version, number, tenant, session_id, tier, role, ref, event_id, text, terms, length,
    said_at
)
JOIN agentjournal_internal.recall_streams_1 AS s ON s.stream = g.stream
ON CONFLICT (stream, version, number) DO NOTHING;

-- name: recall_cuts
-- What was said before it is gone, of all that stands there by now.
WITH given AS (
    SELECT * FROM unnest(
        %(stream)b::text[], %(version)b::bigint[], %(tier)b::text[], %(message_id)b::text[],
        %(to_version)b::bigint[]
    ) AS g (stream, version, tier, message_id, to_version)
), gone AS (
    DELETE FROM agentjournal_internal.passages_1 AS p USING given AS g
    WHERE p.stream = g.stream AND p.version > g.to_version AND p.version < g.version
        AND (g.tier IS NULL OR p.tier = g.tier)
        AND (g.message_id IS NULL OR p.ref = g.message_id)
)
INSERT INTO agentjournal_internal.recall_cuts_1 (stream, version, tier, message_id, to_version)
SELECT * FROM given
ON CONFLICT (stream, version) DO NOTHING;
