-- Which facts hold, in less time: most slots have one statement, and need no look at others.

-- The facts of slots: what is said ends what was said before it, unless it ranks lower; what ranks
-- lower counts for nothing while something higher holds; the same value again is evidence. Every
-- window is of one entity, so that nothing else is read for an entity. What alone was said of its
-- slot is a fact as it was said, unless it was taken back.
CREATE OR REPLACE FUNCTION agentjournal.facts_known_at(known_at timestamptz)
RETURNS SETOF agentjournal.fact LANGUAGE sql STABLE PARALLEL SAFE AS $$
    (
    WITH counting AS (
        SELECT DISTINCT ON (l.tenant, l.entity_kind, l.entity_id, l.fact_key) l.*
        FROM agentjournal.fact_statements AS l
        WHERE l.recorded_at <= known_at AND EXISTS (
            SELECT FROM agentjournal.fact_statements AS o
            WHERE o.tenant = l.tenant AND o.entity_kind = l.entity_kind
                AND o.entity_id = l.entity_id AND o.slot = l.slot AND o.version <> l.version)
            AND NOT EXISTS (
            SELECT FROM agentjournal.promoted_through AS p
            WHERE p.tenant = l.tenant AND p.session_id = l.session_id
                AND p.extractor = l.extractor
                AND p.extractor_order COLLATE "C" > l.extractor_order
                AND p.through_version >= l.said_version AND p.recorded_at <= known_at)
        ORDER BY l.tenant, l.entity_kind, l.entity_id, l.fact_key, l.extractor, l.extractor_order,
            l.version
    ), taken_back AS (
        SELECT tenant, entity_kind, entity_id, fact_key, min(said_at) AS retracted_at
        FROM (
            SELECT tenant, entity_kind, entity_id, fact_key, said_at
            FROM agentjournal.fact_retractions WHERE recorded_at <= known_at
            UNION ALL
            SELECT l.tenant, l.entity_kind, l.entity_id, l.fact_key, r.said_at
            FROM agentjournal.fact_retractions AS r
            JOIN agentjournal.fact_statements AS l
                USING (tenant, entity_kind, entity_id, attribute_key)
            WHERE r.recorded_at <= known_at AND l.said_at <= r.said_at
                AND l.value_key = coalesce(r.value_key, l.value_key)
            UNION ALL
            SELECT l.tenant, l.entity_kind, l.entity_id, l.fact_key, r.said_at
            FROM agentjournal.fact_retractions AS r
            JOIN agentjournal.fact_statements AS n
                USING (tenant, entity_kind, entity_id, fact_key)
            JOIN agentjournal.fact_statements AS l
                ON l.tenant = n.tenant AND l.entity_kind = n.entity_kind
                AND l.entity_id = n.entity_id AND l.attribute_key = n.attribute_key
                AND l.value_key = n.value_key
            WHERE r.attribute IS NULL AND r.recorded_at <= known_at
                AND n.recorded_at <= known_at AND l.said_at <= r.said_at
        ) AS each
        GROUP BY tenant, entity_kind, entity_id, fact_key
    ), followed AS (
        SELECT c.*, r.retracted_at, w.author_rank,
               CASE WHEN c.cardinality = 'single' THEN CASE w.author_rank
                   WHEN 3 THEN min(c.valid_from) FILTER (WHERE w.author_rank = 3) OVER later
                   WHEN 2 THEN min(c.valid_from) FILTER (WHERE w.author_rank > 1) OVER later
                   ELSE min(c.valid_from) OVER later END END AS next_from
        FROM counting AS c
        LEFT JOIN taken_back AS r USING (tenant, entity_kind, entity_id, fact_key)
        CROSS JOIN LATERAL (SELECT CASE c.author_role WHEN 'user' THEN 3 WHEN 'developer' THEN 3
            WHEN 'tool' THEN 2 ELSE 1 END AS author_rank) AS w
        WINDOW later AS (PARTITION BY c.tenant, c.entity_kind, c.entity_id, c.slot
            ORDER BY c.said_at DESC, c.session_id COLLATE "C" DESC, c.said_version DESC,
                c.fact_id COLLATE "C" DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    ), ended AS (
        SELECT *, least(valid_to, next_from, retracted_at) AS ends_at FROM followed
    ), ranked AS (
        SELECT *, row_number() OVER earlier AS place,
               cardinality = 'single' AND coalesce(CASE author_rank
                   WHEN 1 THEN max(coalesce(ends_at, 'infinity'))
                       FILTER (WHERE author_rank > 1) OVER earlier > valid_from
                   WHEN 2 THEN max(coalesce(ends_at, 'infinity'))
                       FILTER (WHERE author_rank > 2) OVER earlier > valid_from
                   END, false) AS is_outranked
        FROM ended
        WINDOW earlier AS (PARTITION BY tenant, entity_kind, entity_id, slot
            ORDER BY said_at, session_id COLLATE "C", said_version, fact_id COLLATE "C"
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    ), parted AS (
        SELECT *, is_outranked OR coalesce(lag(value_key) OVER said <> value_key, true)
                   OR lag(retracted_at) OVER said IS DISTINCT FROM retracted_at
                   OR coalesce(lag(valid_to) OVER said < valid_from, false) AS begins
        FROM ranked
        WINDOW said AS (PARTITION BY tenant, entity_kind, entity_id, slot, is_outranked
            ORDER BY place)
    ), numbered AS (
        SELECT *, count(*) FILTER (WHERE begins) OVER (
                   PARTITION BY tenant, entity_kind, entity_id, slot, is_outranked
                   ORDER BY place ROWS UNBOUNDED PRECEDING) AS run
        FROM parted
    ), merged AS (
        SELECT *, min(valid_from) OVER same AS begins_at,
               last_value(ends_at) OVER same AS last_ends_at,
               last_value(next_from) OVER same AS last_next_from,
               max(confidence) OVER same AS most_confidence,
               array_agg(evidence) OVER same AS all_evidence,
               array_agg(fact_id) OVER same AS fact_ids,
               min(recorded_at) OVER same AS first_recorded_at,
               max(recorded_at) OVER same AS last_recorded_at
        FROM numbered
        WINDOW same AS (PARTITION BY tenant, entity_kind, entity_id, slot, is_outranked, run
            ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    )
    SELECT tenant, entity_kind, entity_id, fact_id, version, kind, attribute, value, cardinality,
           quote, author_role, most_confidence, begins_at,
           CASE WHEN is_outranked THEN begins_at
                WHEN last_ends_at IS NOT NULL THEN greatest(last_ends_at, begins_at) END,
           CASE WHEN is_outranked THEN 'outranked'
                WHEN retracted_at IS NOT NULL THEN 'retracted'
                WHEN last_ends_at = last_next_from THEN 'superseded'
                WHEN last_ends_at IS NOT NULL THEN 'said' END,
           retracted_at,
           CASE WHEN cardinality(fact_ids) = 1 THEN evidence
                ELSE jsonb_path_query_array(to_jsonb(all_evidence), '$[*][*]') END,
           fact_ids, extractor, extractor_release, first_recorded_at, last_recorded_at
    FROM merged
    WHERE begins
    )
    UNION ALL
    SELECT l.tenant, l.entity_kind, l.entity_id, l.fact_id, l.version, l.kind, l.attribute, l.value,
           l.cardinality, l.quote, l.author_role, l.confidence, l.valid_from,
           CASE WHEN e.ends_at IS NOT NULL THEN greatest(e.ends_at, l.valid_from) END,
           CASE WHEN r.retracted_at IS NOT NULL THEN 'retracted'
                WHEN e.ends_at IS NOT NULL THEN 'said' END,
           r.retracted_at, l.evidence, ARRAY[l.fact_id], l.extractor, l.extractor_release,
           l.recorded_at, l.recorded_at
    FROM agentjournal.fact_statements AS l
    CROSS JOIN LATERAL (
        SELECT min(b.said_at) AS retracted_at
        FROM agentjournal.fact_retractions AS b
        WHERE b.tenant = l.tenant AND b.entity_kind = l.entity_kind AND b.entity_id = l.entity_id
            AND b.recorded_at <= known_at
            AND (b.fact_key = l.fact_key OR b.said_at >= l.said_at AND (
                b.attribute_key = l.attribute_key
                    AND coalesce(b.value_key, l.value_key) = l.value_key
                OR b.attribute IS NULL AND EXISTS (
                    SELECT FROM agentjournal.fact_statements AS n
                    WHERE n.tenant = b.tenant AND n.entity_kind = b.entity_kind
                        AND n.entity_id = b.entity_id AND n.fact_key = b.fact_key
                        AND n.attribute_key = l.attribute_key AND n.value_key = l.value_key
                        AND n.recorded_at <= known_at)))
    ) AS r
    CROSS JOIN LATERAL (SELECT least(l.valid_to, r.retracted_at) AS ends_at) AS e
    WHERE l.recorded_at <= known_at AND NOT EXISTS (
            SELECT FROM agentjournal.fact_statements AS o
            WHERE o.tenant = l.tenant AND o.entity_kind = l.entity_kind
                AND o.entity_id = l.entity_id AND o.slot = l.slot AND o.version <> l.version)
        AND NOT EXISTS (
            SELECT FROM agentjournal.promoted_through AS p
            WHERE p.tenant = l.tenant AND p.session_id = l.session_id
                AND p.extractor = l.extractor
                AND p.extractor_order COLLATE "C" > l.extractor_order
                AND p.through_version >= l.said_version AND p.recorded_at <= known_at)
$$;
