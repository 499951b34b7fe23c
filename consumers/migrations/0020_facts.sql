-- The read model `facts`, generation 1: what was learned of users, accounts and projects.
--
-- Tables say what was said, each statement by itself; the functions compute which facts hold, by
-- the rules of agentjournal.memory.facts. Ids are in the order of their bytes.

CREATE TABLE agentjournal_internal.facts_1 (
    tenant            text COLLATE "C" NOT NULL,
    entity_kind       text COLLATE "C" NOT NULL,
    entity_id         text COLLATE "C" NOT NULL,
    fact_key          bytea NOT NULL,  -- digests of ids: together these may be too long
    extractor_key     bytea NOT NULL,
    attribute_key     bytea NOT NULL,
    fact_id           text COLLATE "C" NOT NULL,
    version           bigint NOT NULL,
    kind              text NOT NULL,
    attribute         text COLLATE "C" NOT NULL,
    slot              bytea NOT NULL,  -- of the attribute, and where it holds several, of the value
    value             jsonb NOT NULL,
    value_key         bytea NOT NULL,  -- what equal values have in common
    cardinality       text COLLATE "C" NOT NULL,
    quote             text NOT NULL,
    author_role       text COLLATE "C" NOT NULL,
    confidence        float8 NOT NULL,
    said_at           timestamptz NOT NULL,
    session_id        text COLLATE "C" NOT NULL,  -- empty: no session said it
    said_version      bigint NOT NULL,            -- of the event in that session
    valid_from        timestamptz NOT NULL,
    valid_to          timestamptz NOT NULL,       -- year 9999: none was said
    evidence          jsonb NOT NULL,
    extractor         text COLLATE "C" NOT NULL,
    extractor_version text COLLATE "C" NOT NULL,
    extractor_order   text COLLATE "C" NOT NULL,
    recorded_at       timestamptz NOT NULL,
    PRIMARY KEY (tenant, entity_kind, entity_id, fact_key, extractor_key)
);
CREATE INDEX facts_1_by_attribute
    ON agentjournal_internal.facts_1 (tenant, entity_kind, entity_id, attribute_key);
CREATE INDEX facts_1_by_session ON agentjournal_internal.facts_1 (tenant, session_id);

CREATE TABLE agentjournal_internal.fact_retractions_1 (
    tenant      text COLLATE "C" NOT NULL,
    entity_kind text COLLATE "C" NOT NULL,
    entity_id   text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    fact_id     text COLLATE "C" NOT NULL,
    fact_key    bytea NOT NULL,
    attribute   text COLLATE "C",  -- null: that of the fact
    attribute_key bytea,
    value_key   bytea,  -- null with an attribute: any value
    said_at     timestamptz NOT NULL,
    reason      text NOT NULL,
    said_by     text NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, entity_kind, entity_id, version)
);

CREATE TABLE agentjournal_internal.promotions_1 (
    tenant            text COLLATE "C" NOT NULL,
    session_id        text COLLATE "C" NOT NULL,
    version           bigint NOT NULL,
    through_version   bigint NOT NULL,
    extractor         text COLLATE "C" NOT NULL,
    extractor_version text COLLATE "C" NOT NULL,
    extractor_order   text COLLATE "C" NOT NULL,
    learned           bigint NOT NULL,
    confirmed         bigint NOT NULL,
    superseded        bigint NOT NULL,
    refused           jsonb NOT NULL,
    summary           text NOT NULL,  -- empty: none
    recorded_at       timestamptz NOT NULL,
    PRIMARY KEY (tenant, session_id, version)
);

CREATE TABLE agentjournal_internal.session_entities_1 (
    tenant      text COLLATE "C" NOT NULL,
    session_id  text COLLATE "C" NOT NULL,
    entity_kind text COLLATE "C" NOT NULL,
    entity_id   text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    is_user     boolean NOT NULL,  -- the one that the session belongs to
    PRIMARY KEY (tenant, session_id, entity_kind, entity_id)
) WITH (fillfactor = 70);
CREATE INDEX session_entities_1_by_entity
    ON agentjournal_internal.session_entities_1 (tenant, entity_kind, entity_id);

CREATE TABLE agentjournal_internal.session_marks_1 (
    tenant           text COLLATE "C" NOT NULL,
    session_id       text COLLATE "C" NOT NULL,
    replaced_version bigint,  -- of the event that named all its entities anew
    deleted_version  bigint,
    PRIMARY KEY (tenant, session_id)
) WITH (fillfactor = 70);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT 'facts', 1, p FROM generate_series(0, 7) AS p;

CREATE VIEW agentjournal.fact_statements AS
SELECT tenant, session_id, entity_kind, entity_id, version, fact_id, fact_key, kind, attribute,
       attribute_key, slot, value, value_key, cardinality, quote, author_role, confidence, said_at,
       said_version, valid_from, nullif(valid_to, '9999-12-31T00:00:00Z') AS valid_to, evidence,
       extractor, extractor_version AS extractor_release, extractor_order, recorded_at
FROM agentjournal_internal.facts_1;

CREATE VIEW agentjournal.fact_retractions AS
SELECT tenant, entity_kind, entity_id, version, fact_id, fact_key, attribute, attribute_key,
       value_key, said_at, reason, said_by, recorded_at
FROM agentjournal_internal.fact_retractions_1;

CREATE VIEW agentjournal.promotions AS
SELECT tenant, session_id, version, through_version, extractor,
       extractor_version AS extractor_release, extractor_order, learned, confirmed, superseded,
       refused, nullif(summary, '') AS summary, recorded_at
FROM agentjournal_internal.promotions_1;

CREATE VIEW agentjournal.promoted_through AS
SELECT tenant, session_id, version, extractor, extractor_order, through_version, recorded_at
FROM agentjournal_internal.promotions_1;

-- Collations are those of the tables, so that an index leads to what is asked of a function.
CREATE TYPE agentjournal.fact AS (
    tenant            text COLLATE "C",
    entity_kind       text COLLATE "C",
    entity_id         text COLLATE "C",
    fact_id           text COLLATE "C",
    version           bigint,
    kind              text,
    attribute         text COLLATE "C",
    value             jsonb,
    cardinality       text COLLATE "C",
    quote             text,
    author_role       text COLLATE "C",
    confidence        float8,
    valid_from        timestamptz,
    valid_to          timestamptz,
    ended_by          text,
    retracted_at      timestamptz,
    evidence          jsonb,
    fact_ids          text[],
    extractor         text COLLATE "C",
    extractor_release text COLLATE "C",
    recorded_at       timestamptz,
    confirmed_at      timestamptz
);

-- The facts of slots: what is said ends what was said before it, unless it ranks lower; what ranks
-- lower counts for nothing while something higher holds; the same value again is evidence. Every
-- window is of one entity, so that nothing else is read for an entity.
CREATE FUNCTION agentjournal.facts_known_at(known_at timestamptz)
RETURNS SETOF agentjournal.fact LANGUAGE sql STABLE PARALLEL SAFE AS $$
    WITH counting AS (
        SELECT DISTINCT ON (l.tenant, l.entity_kind, l.entity_id, l.fact_key) l.*
        FROM agentjournal.fact_statements AS l
        WHERE l.recorded_at <= known_at AND NOT EXISTS (
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
$$;

CREATE FUNCTION agentjournal.facts_at(as_of timestamptz, known_at timestamptz)
RETURNS SETOF agentjournal.fact LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT f.*
    FROM agentjournal.facts_known_at(known_at) AS f
    WHERE coalesce(f.ended_by, '') NOT IN ('retracted', 'outranked')
        AND f.valid_from <= as_of AND (f.valid_to IS NULL OR as_of < f.valid_to)
$$;

CREATE VIEW agentjournal.facts AS
SELECT tenant, entity_kind, entity_id, fact_id, version, kind, attribute, value, cardinality,
       quote, author_role, confidence, valid_from, valid_to, ended_by, retracted_at, evidence,
       fact_ids, extractor, extractor_release, recorded_at, confirmed_at
FROM agentjournal.facts_known_at('infinity');

-- Its clock may be behind the broker's: now is never before what was recorded of an entity.
CREATE VIEW agentjournal.current_facts AS
SELECT tenant, entity_kind, entity_id, fact_id, version, kind, attribute, value, cardinality,
       quote, author_role, confidence, valid_from, valid_to, evidence, fact_ids,
       extractor, extractor_release, recorded_at, confirmed_at
FROM (
    SELECT *, greatest(now(), max(confirmed_at) OVER (
               PARTITION BY tenant, entity_kind, entity_id)) AS as_of
    FROM agentjournal.facts
) AS f
WHERE coalesce(ended_by, '') NOT IN ('retracted', 'outranked')
    AND valid_from <= as_of AND (valid_to IS NULL OR as_of < valid_to);

CREATE VIEW agentjournal.session_summaries AS
SELECT p.tenant, p.session_id, p.version, p.through_version, p.summary, p.recorded_at
FROM agentjournal_internal.promotions_1 AS p
LEFT JOIN agentjournal_internal.session_marks_1 AS m USING (tenant, session_id)
WHERE p.summary <> '' AND m.deleted_version IS NULL AND NOT EXISTS (
    SELECT FROM agentjournal_internal.promotions_1 AS n
    WHERE n.tenant = p.tenant AND n.session_id = p.session_id AND n.version > p.version
        AND n.summary <> '');

CREATE VIEW agentjournal.session_entities AS
SELECT e.tenant, e.session_id, e.version, e.entity_kind, e.entity_id, e.is_user
FROM agentjournal_internal.session_entities_1 AS e
LEFT JOIN agentjournal_internal.session_marks_1 AS m USING (tenant, session_id)
WHERE m.deleted_version IS NULL
    AND (e.is_user OR e.version >= coalesce(m.replaced_version, 0));

COMMENT ON VIEW agentjournal.facts IS
    'What is and was known of users, accounts and projects: all facts, with those that ended or '
    'were taken back. Statements of one value are one fact.';
COMMENT ON COLUMN agentjournal.facts.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.facts.entity_kind IS 'user, account or project';
COMMENT ON COLUMN agentjournal.facts.entity_id IS 'whom or what it is about';
COMMENT ON COLUMN agentjournal.facts.fact_id IS 'of the first statement that says it';
COMMENT ON COLUMN agentjournal.facts.version IS
    'of that statement''s event, in the stream of the entity';
COMMENT ON COLUMN agentjournal.facts.kind IS
    'identifier, preference, decision, correction, profile, constraint, outcome, relation or text';
COMMENT ON COLUMN agentjournal.facts.attribute IS 'the slot that the value is for';
COMMENT ON COLUMN agentjournal.facts.value IS 'JSON: the value';
COMMENT ON COLUMN agentjournal.facts.cardinality IS
    'how many values the slot holds at once: single or multiple';
COMMENT ON COLUMN agentjournal.facts.quote IS 'what was said, word for word';
COMMENT ON COLUMN agentjournal.facts.author_role IS
    'who said it: user, developer, tool, assistant or system';
COMMENT ON COLUMN agentjournal.facts.confidence IS
    'the most that a statement of it has, between 0 and 1';
COMMENT ON COLUMN agentjournal.facts.valid_from IS 'since when it is true, as far as was said';
COMMENT ON COLUMN agentjournal.facts.valid_to IS
    'until when it was true; null for no end that is known';
COMMENT ON COLUMN agentjournal.facts.ended_by IS
    'said (the end was said), superseded (by a newer value), retracted, or outranked (something '
    'that ranks higher held); null while it has no end';
COMMENT ON COLUMN agentjournal.facts.retracted_at IS
    'when it was taken back: such a fact is not to be believed of any time';
COMMENT ON COLUMN agentjournal.facts.evidence IS
    'JSON: the events that say so: session_id, event_id and version of each';
COMMENT ON COLUMN agentjournal.facts.fact_ids IS
    'ids of all statements that say it, the first in front';
COMMENT ON COLUMN agentjournal.facts.extractor IS 'what read the session';
COMMENT ON COLUMN agentjournal.facts.extractor_release IS 'its version';
COMMENT ON COLUMN agentjournal.facts.recorded_at IS 'broker''s time at which it was first known';
COMMENT ON COLUMN agentjournal.facts.confirmed_at IS
    'broker''s time at which it was last learned again';

COMMENT ON VIEW agentjournal.current_facts IS 'The facts that hold now.';
COMMENT ON COLUMN agentjournal.current_facts.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.current_facts.entity_kind IS 'user, account or project';
COMMENT ON COLUMN agentjournal.current_facts.entity_id IS 'whom or what it is about';
COMMENT ON COLUMN agentjournal.current_facts.fact_id IS 'of the first statement that says it';
COMMENT ON COLUMN agentjournal.current_facts.version IS
    'of that statement''s event, in the stream of the entity';
COMMENT ON COLUMN agentjournal.current_facts.kind IS
    'identifier, preference, decision, correction, profile, constraint, outcome, relation or text';
COMMENT ON COLUMN agentjournal.current_facts.attribute IS 'the slot that the value is for';
COMMENT ON COLUMN agentjournal.current_facts.value IS 'JSON: the value';
COMMENT ON COLUMN agentjournal.current_facts.cardinality IS
    'how many values the slot holds at once: single or multiple';
COMMENT ON COLUMN agentjournal.current_facts.quote IS 'what was said, word for word';
COMMENT ON COLUMN agentjournal.current_facts.author_role IS
    'who said it: user, developer, tool, assistant or system';
COMMENT ON COLUMN agentjournal.current_facts.confidence IS
    'the most that a statement of it has, between 0 and 1';
COMMENT ON COLUMN agentjournal.current_facts.valid_from IS
    'since when it is true, as far as was said';
COMMENT ON COLUMN agentjournal.current_facts.valid_to IS
    'until when it was true; null for no end that is known';
COMMENT ON COLUMN agentjournal.current_facts.evidence IS
    'JSON: the events that say so: session_id, event_id and version of each';
COMMENT ON COLUMN agentjournal.current_facts.fact_ids IS
    'ids of all statements that say it, the first in front';
COMMENT ON COLUMN agentjournal.current_facts.extractor IS 'what read the session';
COMMENT ON COLUMN agentjournal.current_facts.extractor_release IS 'its version';
COMMENT ON COLUMN agentjournal.current_facts.recorded_at IS
    'broker''s time at which it was first known';
COMMENT ON COLUMN agentjournal.current_facts.confirmed_at IS
    'broker''s time at which it was last learned again';

COMMENT ON VIEW agentjournal.fact_statements IS
    'What was learned, each statement by itself, whether it still counts or not: see facts.';
COMMENT ON COLUMN agentjournal.fact_statements.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.fact_statements.session_id IS
    'in which it was said; empty where it was in none';
COMMENT ON COLUMN agentjournal.fact_statements.entity_kind IS 'user, account or project';
COMMENT ON COLUMN agentjournal.fact_statements.entity_id IS 'whom or what it is about';
COMMENT ON COLUMN agentjournal.fact_statements.version IS
    'of the event, in the stream of the entity';
COMMENT ON COLUMN agentjournal.fact_statements.fact_id IS
    'of the fact; of statements with one id the first counts';
COMMENT ON COLUMN agentjournal.fact_statements.kind IS 'of fact';
COMMENT ON COLUMN agentjournal.fact_statements.attribute IS 'the slot that the value is for';
COMMENT ON COLUMN agentjournal.fact_statements.fact_key IS 'digest of fact_id';
COMMENT ON COLUMN agentjournal.fact_statements.attribute_key IS 'digest of the attribute';
COMMENT ON COLUMN agentjournal.fact_statements.slot IS
    'digest of the attribute, and where it holds several values, of this one: within a slot what is '
    'said ends what was said before it';
COMMENT ON COLUMN agentjournal.fact_statements.value IS 'JSON: the value';
COMMENT ON COLUMN agentjournal.fact_statements.value_key IS 'what equal values have in common';
COMMENT ON COLUMN agentjournal.fact_statements.cardinality IS
    'how many values the slot holds at once: single or multiple';
COMMENT ON COLUMN agentjournal.fact_statements.quote IS 'what was said, word for word';
COMMENT ON COLUMN agentjournal.fact_statements.author_role IS
    'who said it: user, developer, tool, assistant or system';
COMMENT ON COLUMN agentjournal.fact_statements.confidence IS 'between 0 and 1';
COMMENT ON COLUMN agentjournal.fact_statements.said_at IS 'when it was said';
COMMENT ON COLUMN agentjournal.fact_statements.said_version IS
    'of the event that says so, in the session';
COMMENT ON COLUMN agentjournal.fact_statements.valid_from IS
    'since when it is true, as it was said';
COMMENT ON COLUMN agentjournal.fact_statements.valid_to IS
    'until when it is true, as it was said; null where it was not';
COMMENT ON COLUMN agentjournal.fact_statements.evidence IS
    'JSON: the events that say so: session_id, event_id and version of each';
COMMENT ON COLUMN agentjournal.fact_statements.extractor IS 'what read the session';
COMMENT ON COLUMN agentjournal.fact_statements.extractor_release IS 'its version';
COMMENT ON COLUMN agentjournal.fact_statements.extractor_order IS
    'its version as text that stands in the order of versions';
COMMENT ON COLUMN agentjournal.fact_statements.recorded_at IS
    'broker''s time at which it was learned';

COMMENT ON VIEW agentjournal.fact_retractions IS
    'What was taken back: facts, and what had been said of slots until then.';
COMMENT ON COLUMN agentjournal.fact_retractions.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.fact_retractions.entity_kind IS 'user, account or project';
COMMENT ON COLUMN agentjournal.fact_retractions.entity_id IS 'whom or what it is about';
COMMENT ON COLUMN agentjournal.fact_retractions.version IS
    'of the event, in the stream of the entity';
COMMENT ON COLUMN agentjournal.fact_retractions.fact_id IS
    'that is taken back, where it is that of a fact';
COMMENT ON COLUMN agentjournal.fact_retractions.fact_key IS 'digest of fact_id';
COMMENT ON COLUMN agentjournal.fact_retractions.attribute IS
    'the slot, null where it is that of the fact';
COMMENT ON COLUMN agentjournal.fact_retractions.attribute_key IS 'digest of the attribute';
COMMENT ON COLUMN agentjournal.fact_retractions.value_key IS
    'of the value that is taken back; null where it is that of the fact, or with an attribute '
    'for every value';
COMMENT ON COLUMN agentjournal.fact_retractions.said_at IS 'until when what was said is taken back';
COMMENT ON COLUMN agentjournal.fact_retractions.reason IS 'why';
COMMENT ON COLUMN agentjournal.fact_retractions.said_by IS 'who said so';
COMMENT ON COLUMN agentjournal.fact_retractions.recorded_at IS 'broker''s time';

COMMENT ON VIEW agentjournal.promotions IS
    'What was made of sessions: one row each time that one was read to its end.';
COMMENT ON COLUMN agentjournal.promotions.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.promotions.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.promotions.version IS 'of the event that says so';
COMMENT ON COLUMN agentjournal.promotions.through_version IS
    'version of the session up to which it was read';
COMMENT ON COLUMN agentjournal.promotions.extractor IS 'what read the session';
COMMENT ON COLUMN agentjournal.promotions.extractor_release IS 'its version';
COMMENT ON COLUMN agentjournal.promotions.extractor_order IS
    'its version as text that stands in the order of versions';
COMMENT ON COLUMN agentjournal.promotions.learned IS 'new facts';
COMMENT ON COLUMN agentjournal.promotions.confirmed IS 'facts that were known';
COMMENT ON COLUMN agentjournal.promotions.superseded IS 'facts that no longer hold';
COMMENT ON COLUMN agentjournal.promotions.refused IS
    'JSON: how many facts were not kept: reason and count of each';
COMMENT ON COLUMN agentjournal.promotions.summary IS 'what the session was about';
COMMENT ON COLUMN agentjournal.promotions.recorded_at IS 'broker''s time';

COMMENT ON VIEW agentjournal.promoted_through IS
    'How far extractors have read sessions: what an older version of one learned until there counts '
    'no more.';
COMMENT ON COLUMN agentjournal.promoted_through.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.promoted_through.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.promoted_through.version IS 'of the event that says so';
COMMENT ON COLUMN agentjournal.promoted_through.extractor IS 'what read it';
COMMENT ON COLUMN agentjournal.promoted_through.extractor_order IS
    'its version as text that stands in the order of versions';
COMMENT ON COLUMN agentjournal.promoted_through.through_version IS
    'version of the session up to which it was read';
COMMENT ON COLUMN agentjournal.promoted_through.recorded_at IS 'broker''s time';

COMMENT ON VIEW agentjournal.session_summaries IS
    'What sessions were about, as they were last read; those that were deleted have none.';
COMMENT ON COLUMN agentjournal.session_summaries.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.session_summaries.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.session_summaries.version IS 'of the event that says so';
COMMENT ON COLUMN agentjournal.session_summaries.through_version IS
    'version of the session up to which it was read';
COMMENT ON COLUMN agentjournal.session_summaries.summary IS 'what it was about';
COMMENT ON COLUMN agentjournal.session_summaries.recorded_at IS 'broker''s time';

COMMENT ON VIEW agentjournal.session_entities IS
    'Whom and what sessions are about, and whose memory they add to: their user, and what they '
    'named last.';
COMMENT ON COLUMN agentjournal.session_entities.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.session_entities.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.session_entities.version IS 'of the last event that names it';
COMMENT ON COLUMN agentjournal.session_entities.entity_kind IS 'user, account or project';
COMMENT ON COLUMN agentjournal.session_entities.entity_id IS 'its id';
COMMENT ON COLUMN agentjournal.session_entities.is_user IS
    'whether the session belongs to this user';

COMMENT ON FUNCTION agentjournal.facts_known_at(timestamptz) IS
    'All facts as they were known at a moment, by the broker''s time of what was recorded, in '
    'the columns of the view facts.';
COMMENT ON FUNCTION agentjournal.facts_at(timestamptz, timestamptz) IS
    'The facts that held at a moment, as_of, as far as was known at another, known_at, in the '
    'columns of the view facts.';
