-- Statements of the projection `embeddings`, by name: one array a column.

-- name: embeddings
INSERT INTO agentjournal_internal.embeddings_1 (stream, version, number, model, vector)
SELECT g.stream, g.version, g.number, g.model, g.vector::halfvec
FROM unnest(
    %(stream)b::text[], %(version)b::bigint[], %(number)b::int[], %(model)b::text[],
    %(vector)b::text[]
) AS g (stream, version, number, model, vector)
ON CONFLICT (stream, version, number) DO NOTHING;
