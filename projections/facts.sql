-- Statements of the projection `facts`, by name: one array a column.
-- What an update does to a column is its policy in facts_tables.py. Normal forms of values: 1.

-- name: facts
INSERT INTO agentjournal_internal.facts_1 AS t (
    tenant, entity_kind, entity_id, fact_key, extractor_key, attribute_key, fact_id, version,
    kind, attribute, slot, value, value_key, cardinality, quote, author_role, confidence,
    said_at, session_id, said_version, valid_from, valid_to, evidence, extractor,
    extractor_version, extractor_order, recorded_at
)
SELECT tenant, entity_kind, entity_id, fact_key, extractor_key, attribute_key, fact_id, version,
       kind, attribute, slot, agentjournal_internal.as_jsonb(value), value_key, cardinality,
       quote, author_role, confidence, said_at, session_id, said_version, valid_from, valid_to,
       evidence::jsonb, extractor, extractor_version, extractor_order, recorded_at
FROM unnest(
    %(tenant)b::text[], %(entity_kind)b::text[], %(entity_id)b::text[], %(fact_key)b::bytea[],
    %(extractor_key)b::bytea[], %(attribute_key)b::bytea[], %(fact_id)b::text[],
    %(version)b::bigint[], %(kind)b::text[], %(attribute)b::text[], %(slot)b::bytea[],
    %(value)b::text[], %(value_key)b::bytea[], %(cardinality)b::text[], %(quote)b::text[],
    %(author_role)b::text[], %(confidence)b::float8[], %(said_at)s::timestamptz[],
    %(session_id)b::text[], %(said_version)b::bigint[], %(valid_from)s::timestamptz[],
    %(valid_to)s::timestamptz[], %(evidence)b::text[], %(extractor)b::text[],
    %(extractor_version)b::text[], %(extractor_order)b::text[], %(recorded_at)s::timestamptz[]
) AS u (
    tenant, entity_kind, entity_id, fact_key, extractor_key, attribute_key, fact_id, version,
    kind, attribute, slot, value, value_key, cardinality, quote, author_role, confidence,
    said_at, session_id, said_version, valid_from, valid_to, evidence, extractor,
    extractor_version, extractor_order, recorded_at
)
ON CONFLICT (tenant, entity_kind, entity_id, fact_key, extractor_key) DO NOTHING;

-- name: fact_retractions
INSERT INTO agentjournal_internal.fact_retractions_1 AS t (
    tenant, entity_kind, entity_id, version, fact_id, fact_key, attribute, attribute_key,
    value_key, said_at, reason, said_by, recorded_at
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(entity_kind)b::text[], %(entity_id)b::text[], %(version)b::bigint[],
    %(fact_id)b::text[], %(fact_key)b::bytea[], %(attribute)b::text[],
    %(attribute_key)b::bytea[], %(value_key)b::bytea[], %(said_at)s::timestamptz[],
    %(reason)b::text[], %(said_by)b::text[], %(recorded_at)s::timestamptz[]
)
ON CONFLICT (tenant, entity_kind, entity_id, version) DO NOTHING;

-- name: promotions
INSERT INTO agentjournal_internal.promotions_1 AS t (
    tenant, session_id, version, through_version, extractor, extractor_version, extractor_order,
    learned, confirmed, superseded, refused, summary, recorded_at
)
SELECT tenant, session_id, version, through_version, extractor, extractor_version,
       extractor_order, learned, confirmed, superseded, agentjournal_internal.as_jsonb(refused),
       summary, recorded_at
FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(version)b::bigint[],
    %(through_version)b::bigint[], %(extractor)b::text[], %(extractor_version)b::text[],
    %(extractor_order)b::text[], %(learned)b::bigint[], %(confirmed)b::bigint[],
    %(superseded)b::bigint[], %(refused)b::text[], %(summary)b::text[],
    %(recorded_at)s::timestamptz[]
) AS u (
    tenant, session_id, version, through_version, extractor, extractor_version, extractor_order,
    learned, confirmed, superseded, refused, summary, recorded_at
)
ON CONFLICT (tenant, session_id, version) DO NOTHING;

-- name: session_entities
INSERT INTO agentjournal_internal.session_entities_1 AS t (
    tenant, session_id, entity_kind, entity_id, version, is_user
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(entity_kind)b::text[], %(entity_id)b::text[],
    %(version)b::bigint[], %(is_user)b::boolean[]
)
ON CONFLICT (tenant, session_id, entity_kind, entity_id) DO UPDATE SET
    version = coalesce(excluded.version, t.version),
    is_user = greatest(t.is_user, excluded.is_user);

-- name: session_marks
INSERT INTO agentjournal_internal.session_marks_1 AS t (
    tenant, session_id, replaced_version, deleted_version
)
SELECT * FROM unnest(
    %(tenant)b::text[], %(session_id)b::text[], %(replaced_version)b::bigint[],
    %(deleted_version)b::bigint[]
)
ON CONFLICT (tenant, session_id) DO UPDATE SET
    replaced_version = coalesce(excluded.replaced_version, t.replaced_version),
    deleted_version = coalesce(excluded.deleted_version, t.deleted_version);
