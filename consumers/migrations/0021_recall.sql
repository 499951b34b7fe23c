-- The read models `recall` and `embeddings`, generation 1: what is searched, word by word and alike.

-- Sessions that something was said in, and streams of entities: whom their passages are about.
CREATE TABLE agentjournal_internal.recall_streams_1 (
    stream        text PRIMARY KEY,
    tenant        text NOT NULL,
    session_id    text,
    own_scope     text,            -- the stream of its user, or of the entity that it is
    entity_scopes text,            -- of the other entities of a session, a line each
    passages      bigint,          -- how many there were, also of messages that are gone
    terms         bigint,          -- in all of them
    scopes        text[] GENERATED ALWAYS AS (
        array_remove(string_to_array(nullif(entity_scopes, ''), E'\n'), NULL)
        || CASE WHEN own_scope IS NULL THEN '{}'::text[] ELSE ARRAY[own_scope] END
    ) STORED
) WITH (fillfactor = 70);

CREATE INDEX recall_streams_1_session
    ON agentjournal_internal.recall_streams_1 (tenant, session_id);

-- Whose streams these are changes hardly ever.
CREATE INDEX recall_streams_1_scopes ON agentjournal_internal.recall_streams_1 USING gin (scopes)
WITH (gin_pending_list_limit = 256);

CREATE TABLE agentjournal_internal.passages_1 (
    stream   text NOT NULL,
    version  bigint NOT NULL,
    number   int NOT NULL,
    tenant   text NOT NULL,
    session_id text,               -- null: of an entity's stream
    scopes   text[] NOT NULL,      -- the streams of the entities that it is about
    tier     text NOT NULL,        -- message, fact or summary
    role     text NOT NULL,
    ref      text NOT NULL,        -- the id of the message or fact
    event_id text NOT NULL,
    text     text NOT NULL,
    terms    tsvector NOT NULL,    -- how often: D once, C twice, B three times, A more often
    length   int NOT NULL,         -- in terms
    said_at  timestamptz NOT NULL,
    PRIMARY KEY (stream, version, number)
);

CREATE INDEX passages_1_session ON agentjournal_internal.passages_1 (tenant, session_id);

-- An entity is one more thing that a passage must have, found with its words in one index. The
-- list of what is new is kept short: it is read in every search.
CREATE INDEX passages_1_found ON agentjournal_internal.passages_1 USING gin (scopes, terms)
WITH (gin_pending_list_limit = 256);

-- What took passages away again.
CREATE TABLE agentjournal_internal.recall_cuts_1 (
    stream     text NOT NULL,
    version    bigint NOT NULL,
    tier       text,               -- null: all
    message_id text,               -- null: of every message
    to_version bigint NOT NULL,    -- that and what was before it stays
    PRIMARY KEY (stream, version)
);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT 'recall', 1, p FROM generate_series(0, 7) AS p;

CREATE VIEW agentjournal.passages AS
SELECT tenant, session_id, stream, version, number, tier, role, ref, event_id, text, said_at,
       scopes, terms, length
FROM agentjournal_internal.passages_1;

CREATE VIEW agentjournal.searched_streams AS
SELECT tenant, session_id, stream, scopes, coalesce(passages, 0) AS passages,
       coalesce(terms, 0) AS terms
FROM agentjournal_internal.recall_streams_1;

-- A term is data: whatever is in it, it is a word to look for.
CREATE FUNCTION agentjournal_internal.term_query(term text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT ('''' || replace(replace(term, '\', '\\'), '''', '''''') || '''')::tsquery
$$;

-- BM25 over what is about one entity: k1 1.2, b 0.4. The rank of one word under these weights is a
-- tenth of how often it stands there.
CREATE FUNCTION agentjournal_internal.found_passages(entity text, terms text[], most int)
RETURNS TABLE (stream text, version bigint, number int, score float8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    WITH asked AS (
        SELECT DISTINCT term, agentjournal_internal.term_query(term) AS query
        FROM unnest(found_passages.terms) AS term WHERE term <> ''
    ), held AS MATERIALIZED (
        SELECT sum(s.passages) AS passages,
               greatest(sum(s.terms) / nullif(sum(s.passages), 0), 1)::float8 AS average
        FROM agentjournal.searched_streams AS s
        WHERE s.scopes @> ARRAY[entity]
    ), matched AS MATERIALIZED (
        SELECT p.stream, p.version, p.number, p.length, p.terms
        FROM agentjournal.passages AS p
        WHERE p.scopes @> ARRAY[entity]
            AND p.terms @@ (SELECT string_agg(query::text, ' | ')::tsquery FROM asked)
    ), counted AS (
        SELECT m.stream, m.version, m.number, m.length,
               count(*) OVER (PARTITION BY a.term) AS holding,
               10 * ts_rank('{0.1644934, 0.3289868, 0.4934802, 0.6579736}', m.terms, a.query) AS often
        FROM matched AS m JOIN asked AS a ON m.terms @@ a.query
    )
    SELECT c.stream, c.version, c.number, sum(
        ln(1 + (greatest(h.passages, c.holding) - c.holding + 0.5) / (c.holding + 0.5))
        * c.often * 2.2 / (c.often + 1.2 * (0.6 + 0.4 * c.length / h.average)))::float8 AS score
    FROM counted AS c CROSS JOIN held AS h
    GROUP BY c.stream, c.version, c.number
    ORDER BY score DESC, c.stream, c.version, c.number
    LIMIT most
$$;

-- Vectors are there where Postgres has the extension. Where it comes later, this makes them then.
CREATE FUNCTION agentjournal_internal.make_embeddings() RETURNS boolean
LANGUAGE plpgsql AS $make$
BEGIN
    IF to_regclass('agentjournal_internal.embeddings_1') IS NOT NULL THEN
        RETURN true;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
        RETURN false;
    END IF;
    CREATE EXTENSION IF NOT EXISTS vector;
    CREATE TABLE agentjournal_internal.embeddings_1 (
        stream     text NOT NULL,
        version    bigint NOT NULL,
        number     int NOT NULL,
        tenant     text NOT NULL,
        session_id text,
        model      text NOT NULL,
        vector     halfvec NOT NULL,
        PRIMARY KEY (stream, version, number)
    );
    CREATE INDEX embeddings_1_session ON agentjournal_internal.embeddings_1 (tenant, session_id);
    -- Read whole, a row beside the next: never moved elsewhere or packed.
    ALTER TABLE agentjournal_internal.embeddings_1 ALTER COLUMN vector SET STORAGE PLAIN;
    INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
    SELECT 'embeddings', 1, p FROM generate_series(0, 7) AS p;
    CREATE VIEW agentjournal.embeddings AS
    SELECT tenant, session_id, stream, version, number, model, vector
    FROM agentjournal_internal.embeddings_1;
COMMENT ON VIEW agentjournal.embeddings IS
    'Vectors of passages, as a local model makes them. Only where Postgres has pgvector.';
COMMENT ON COLUMN agentjournal.embeddings.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.embeddings.session_id IS
    'the session; null for what was learned of an entity';
COMMENT ON COLUMN agentjournal.embeddings.stream IS 'the stream of the passage';
COMMENT ON COLUMN agentjournal.embeddings.version IS 'of the event that it is in';
COMMENT ON COLUMN agentjournal.embeddings.number IS 'of the passage in it, from 0';
COMMENT ON COLUMN agentjournal.embeddings.model IS 'that made the vector';
COMMENT ON COLUMN agentjournal.embeddings.vector IS 'of length 1';
    RETURN true;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN false;  -- whoever may make it can do so later
END
$make$;
SELECT agentjournal_internal.make_embeddings();

COMMENT ON VIEW agentjournal.passages IS
    'What recall searches: sentences of what user and assistant said, facts, summaries of sessions. '
    'What was retracted, rewound or deleted is not in it; which facts hold says current_facts.';
COMMENT ON COLUMN agentjournal.passages.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.passages.session_id IS
    'the session; null for what was learned of an entity';
COMMENT ON COLUMN agentjournal.passages.stream IS 'the stream of the event';
COMMENT ON COLUMN agentjournal.passages.version IS 'of the event that it is in';
COMMENT ON COLUMN agentjournal.passages.number IS 'of the passage in it, from 0';
COMMENT ON COLUMN agentjournal.passages.tier IS 'message, fact or summary';
COMMENT ON COLUMN agentjournal.passages.role IS
    'who said it: user, assistant, developer, tool or system; empty for a summary';
COMMENT ON COLUMN agentjournal.passages.ref IS 'id of the message or the fact';
COMMENT ON COLUMN agentjournal.passages.event_id IS 'id of the event';
COMMENT ON COLUMN agentjournal.passages.text IS 'what it says';
COMMENT ON COLUMN agentjournal.passages.said_at IS
    'broker''s time of the event; for what was imported the source''s';
COMMENT ON COLUMN agentjournal.passages.scopes IS 'streams of the entities that it is about';
COMMENT ON COLUMN agentjournal.passages.terms IS
    'its words as they are searched, with D, C, B or A for once, twice, three times or more';
COMMENT ON COLUMN agentjournal.passages.length IS 'how many terms it has';

COMMENT ON VIEW agentjournal.searched_streams IS
    'Streams that have passages, or may get some, and whom they are about.';
COMMENT ON COLUMN agentjournal.searched_streams.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.searched_streams.session_id IS
    'the session; null for the stream of an entity';
COMMENT ON COLUMN agentjournal.searched_streams.stream IS 'the stream';
COMMENT ON COLUMN agentjournal.searched_streams.scopes IS 'streams of the entities that it is about';
COMMENT ON COLUMN agentjournal.searched_streams.passages IS
    'how many passages it had, also those that are gone';
COMMENT ON COLUMN agentjournal.searched_streams.terms IS 'how many terms they had';
