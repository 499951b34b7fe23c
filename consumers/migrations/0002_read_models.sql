-- The read models, generation 1: what projections keep, and the views that users see.

CREATE TABLE agentjournal_internal.projections (
    projection text NOT NULL,
    generation int NOT NULL,
    digest     text NOT NULL,  -- of its SQL and the types it reads: other code must not run
    PRIMARY KEY (projection, generation)
);

CREATE TABLE agentjournal_internal.projection_checkpoints (
    projection     text NOT NULL,
    generation     int NOT NULL,
    partition      int NOT NULL,
    next_position  bigint NOT NULL DEFAULT 0,   -- in `events`: the next to read
    input_position bigint NOT NULL DEFAULT -1,  -- with batch_index: the last one applied
    batch_index    int NOT NULL DEFAULT -1,
    record_hash    text NOT NULL DEFAULT '',    -- of the record before next_position
    PRIMARY KEY (projection, generation, partition)
) WITH (fillfactor = 50);

CREATE TABLE agentjournal_internal.parked (
    projection text NOT NULL,
    generation int NOT NULL,
    stream     text NOT NULL,
    partition  int NOT NULL,
    version    bigint NOT NULL,  -- the first that could not be applied
    error      text NOT NULL,
    PRIMARY KEY (projection, generation, stream)
);

CREATE TABLE agentjournal_internal.streams_1 (
    stream    text PRIMARY KEY,
    partition int NOT NULL,
    version   bigint NOT NULL,
    hash      bytea NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.events_1 (
    stream         text NOT NULL,
    version        bigint NOT NULL,
    partition      int NOT NULL,
    position       bigint NOT NULL,
    input_position bigint NOT NULL,
    batch_index    int NOT NULL,
    batch_size     int NOT NULL,
    type           text NOT NULL,
    schema_version int NOT NULL,
    event_id       text NOT NULL,
    append_id      text NOT NULL,
    source         text NOT NULL,
    agent          text,
    worker         text,
    time           text,
    recorded_at    timestamptz NOT NULL,
    tokens         bigint,
    correlation_id text,
    causation_id   text,
    traceparent    text,
    hash           bytea NOT NULL,
    data           bytea NOT NULL,
    PRIMARY KEY (stream, version)
);

CREATE TABLE agentjournal_internal.sessions_1 (
    stream            text NOT NULL,
    tenant            text NOT NULL,
    session_id        text NOT NULL,
    partition         int,
    user_id           text,
    agent             text,
    title             text,
    task_id           text,
    parent_session_id text,
    status            text,
    started_at        timestamptz,
    last_activity_at  timestamptz,
    version           bigint NOT NULL,
    head_hash         bytea,
    turn_id           text,
    messages          bigint,
    input_tokens      bigint,
    output_tokens     bigint,
    cost              numeric,
    PRIMARY KEY (stream),
    UNIQUE (tenant, session_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.turns_1 (
    tenant            text NOT NULL,
    session_id        text NOT NULL,
    turn_id           text NOT NULL,
    version           bigint NOT NULL,
    trigger           text,
    reason            text,
    started_at        timestamptz,
    ended_at          timestamptz,
    resume_at         text,
    PRIMARY KEY (tenant, session_id, turn_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.messages_1 (
    tenant            text NOT NULL,
    session_id        text NOT NULL,
    message_id        text NOT NULL,
    version           bigint NOT NULL,
    turn_id           text,
    role              text,
    content           text,
    tokens            bigint,
    status            text,
    model_call_id     text,
    recorded_at       timestamptz,
    PRIMARY KEY (tenant, session_id, message_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.tool_calls_1 (
    tenant            text NOT NULL,
    session_id        text NOT NULL,
    call_id           text NOT NULL,
    version           bigint NOT NULL,
    turn_id           text,
    tool              text,
    arguments_text    text,
    requested_at      timestamptz,
    attempt           int,
    effect            text,
    idempotency_key   text,
    started_at        timestamptz,
    lease_until       timestamptz,
    outcome           text,
    ended_at          timestamptz,
    duration_ms       float8,
    error_type        text,
    error_message     text,
    output            text,
    PRIMARY KEY (tenant, session_id, call_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.model_calls_1 (
    tenant            text NOT NULL,
    session_id        text NOT NULL,
    model_call_id     text NOT NULL,
    version           bigint NOT NULL,
    turn_id           text,
    provider          text,
    request_model     text,
    response_model    text,
    input_tokens      bigint,
    output_tokens     bigint,
    cost              numeric,
    currency          text,
    duration_ms       float8,
    finish_reason     text,
    status            text,
    recorded_at       timestamptz,
    PRIMARY KEY (tenant, session_id, model_call_id)
) WITH (fillfactor = 70);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT name, 1, p FROM unnest(ARRAY['events', 'conversation']) AS name, generate_series(0, 7) AS p;

-- An escaped NUL is one behind an even number of backslashes.
CREATE FUNCTION agentjournal_internal.without_nul(raw text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT regexp_replace(raw, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\u2400', 'g')
$$;

-- Text that came as JSON, as jsonb. What Postgres cannot hold (a NUL, a number without end) is
-- replaced: NUL by its symbol, the rest by {"$unreadable": true}. The exact bytes stay.
CREATE FUNCTION agentjournal_internal.as_jsonb(raw text) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE
        WHEN pg_input_is_valid(raw, 'jsonb') THEN raw::jsonb
        WHEN pg_input_is_valid(agentjournal_internal.without_nul(raw), 'jsonb')
            THEN agentjournal_internal.without_nul(raw)::jsonb
        ELSE '{"$unreadable": true}'::jsonb
    END
$$;

CREATE FUNCTION agentjournal_internal.sanitised(raw text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT NOT pg_input_is_valid(raw, 'jsonb')
$$;

-- The text behind percent-encoding, as ids have it.
CREATE FUNCTION agentjournal_internal.percent_decoded(encoded text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN position('%' IN encoded) = 0 THEN encoded ELSE convert_from(string_agg(
        CASE WHEN part LIKE '\%%' THEN decode(substr(part, 2), 'hex') ELSE part::bytea END,
        ''::bytea ORDER BY n), 'UTF8') END
    FROM regexp_matches(encoded, '%[0-9A-F]{2}|[^%]+', 'g') WITH ORDINALITY AS m (parts, n),
         LATERAL (SELECT parts[1]) AS p (part)
$$;

CREATE VIEW agentjournal.events AS
SELECT stream, version, position, partition, type,
       agentjournal_internal.as_jsonb(convert_from(data, 'UTF8')) AS data,
       coalesce(worker, agent, source) AS actor,
       correlation_id, causation_id, recorded_at, append_id,
       agentjournal_internal.sanitised(convert_from(data, 'UTF8')) AS sanitised,
       agentjournal_internal.percent_decoded(split_part(stream, '/', 2)) AS tenant,
       CASE WHEN stream LIKE 'session/%' THEN
           agentjournal_internal.percent_decoded(split_part(stream, '/', 3)) END AS session_id,
       event_id, schema_version, input_position, batch_index, batch_size, source, agent, worker,
       time, tokens, traceparent, encode(hash, 'hex') AS hash, data AS raw_data
FROM agentjournal_internal.events_1;

CREATE VIEW agentjournal.streams AS
SELECT stream, partition, version, encode(hash, 'hex') AS head_hash
FROM agentjournal_internal.streams_1;

CREATE VIEW agentjournal.sessions AS
SELECT s.tenant, s.session_id, s.user_id, s.agent, s.title, coalesce(s.status, 'open') AS status,
       s.task_id, s.parent_session_id,
       CASE WHEN s.parent_session_id IS NULL THEN s.session_id ELSE (
           WITH RECURSIVE up (session_id, parent_id, depth) AS (
               SELECT s.session_id, s.parent_session_id, 0
               UNION ALL
               SELECT p.session_id, p.parent_session_id, up.depth + 1
               FROM up JOIN agentjournal_internal.sessions_1 AS p
                   ON p.tenant = s.tenant AND p.session_id = up.parent_id
               WHERE up.depth < 100
           )
           SELECT coalesce(parent_id, session_id) FROM up ORDER BY depth DESC LIMIT 1
       ) END AS root_session_id,
       s.started_at, s.last_activity_at, s.version, encode(s.head_hash, 'hex') AS head_hash,
       coalesce(s.messages, 0) AS messages,
       coalesce(s.input_tokens, 0) AS input_tokens, coalesce(s.output_tokens, 0) AS output_tokens,
       s.cost,
       (SELECT count(*) FROM agentjournal_internal.tool_calls_1 AS c
        WHERE c.tenant = s.tenant AND c.session_id = s.session_id AND c.outcome IS NULL
       ) AS open_calls,
       s.stream, nullif(s.turn_id, '') AS open_turn_id
FROM agentjournal_internal.sessions_1 AS s;

CREATE VIEW agentjournal.turns AS
SELECT tenant, session_id, version, turn_id, trigger, reason, started_at, ended_at, resume_at
FROM agentjournal_internal.turns_1;

CREATE VIEW agentjournal.messages AS
SELECT m.tenant, m.session_id, m.version, m.message_id, m.turn_id, m.role, m.content,
       agentjournal_internal.as_jsonb(convert_from(e.data, 'UTF8')) -> 'parts' AS parts,
       m.tokens, m.status, m.recorded_at, m.model_call_id
FROM agentjournal_internal.messages_1 AS m
LEFT JOIN agentjournal_internal.sessions_1 AS s USING (tenant, session_id)
LEFT JOIN agentjournal_internal.events_1 AS e ON e.stream = s.stream AND e.version = m.version;

CREATE VIEW agentjournal.tool_calls AS
SELECT tenant, session_id, version, turn_id, call_id, tool,
       agentjournal_internal.as_jsonb(arguments_text) AS arguments, arguments_text, effect,
       coalesce(outcome, 'open') AS outcome, attempt, lease_until,
       coalesce(started_at, requested_at) AS started_at, ended_at, duration_ms, error_type,
       error_message, output, idempotency_key, requested_at
FROM agentjournal_internal.tool_calls_1;

CREATE VIEW agentjournal.model_calls AS
SELECT tenant, session_id, version, turn_id, model_call_id, provider, request_model,
       response_model, input_tokens, output_tokens, cost, currency, duration_ms, finish_reason,
       status, recorded_at
FROM agentjournal_internal.model_calls_1;

CREATE VIEW agentjournal.projection_status AS
SELECT projection, generation, partition, next_position, input_position, batch_index,
       (SELECT count(*) FROM agentjournal_internal.parked AS p
        WHERE p.projection = c.projection AND p.generation = c.generation
          AND p.partition = c.partition) AS parked
FROM agentjournal_internal.projection_checkpoints AS c;

CREATE VIEW agentjournal.parked AS
SELECT projection, generation, stream, partition, version, error
FROM agentjournal_internal.parked;

-- The analyst's role: reads the views, and nothing else.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'agentjournal_analyst') THEN
        CREATE ROLE agentjournal_analyst NOLOGIN;
    END IF;
END $$;
-- The functions behind the views live beside the tables; the tables stay closed.
GRANT USAGE ON SCHEMA agentjournal, agentjournal_internal TO agentjournal_analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA agentjournal TO agentjournal_analyst;
ALTER DEFAULT PRIVILEGES IN SCHEMA agentjournal GRANT SELECT ON TABLES TO agentjournal_analyst;
