-- Statements of the projection `embeddings`, by name: one array a column.

-- name: embeddings
INSERT INTO agentjournal_internal.embeddings_1 (
    stream, version, number, tenant, session_id, model, vector
)
SELECT g.stream, g.version, g.number, g.tenant, g.session_id, g.model, g.vector::halfvec
FROM unnest(
    %(stream)b::text[], %(version)b::bigint[], %(number)b::int[], %(tenant)b::text[],
    %(session_id)b::text[], %(model)b::text[], %(vector)b::text[]
) AS g (stream, version, number, tenant, session_id, model, vector)
ON CONFLICT (stream, version, number) DO NOTHING;
