-- The read model `results`, generation 1: outcomes of tools that may be used again.

CREATE TABLE agentjournal_internal.results_1 (
    tenant           text NOT NULL,
    session_id       text NOT NULL,
    call_id          text NOT NULL,
    stream           text NOT NULL,
    tool             text,
    arguments_digest text,
    attempt          bigint,
    attempt_tool     text,
    attempt_digest   text,
    effect           text,
    started_version  bigint,
    outcome          text,
    ended_version    bigint,
    ended_at         timestamptz,
    is_cached        boolean,
    PRIMARY KEY (tenant, session_id, call_id)
) WITH (fillfactor = 70);

-- Both are set once: an index on what changes would be written with every change.
CREATE INDEX results_1_by_call ON agentjournal_internal.results_1 (tenant, arguments_digest, tool);

CREATE TABLE agentjournal_internal.result_marks_1 (
    tenant          text NOT NULL,
    session_id      text NOT NULL,
    changed_version bigint,
    deleted_version bigint,
    PRIMARY KEY (tenant, session_id)
) WITH (fillfactor = 70);

CREATE TABLE agentjournal_internal.result_rewinds_1 (
    tenant     text NOT NULL,
    session_id text NOT NULL,
    version    bigint NOT NULL,
    to_version bigint NOT NULL,
    PRIMARY KEY (tenant, session_id, version)
);

INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT 'results', 1, p FROM generate_series(0, 7) AS p;

CREATE VIEW agentjournal.results AS
SELECT r.tenant, r.session_id, r.ended_version AS version, r.call_id, r.tool, r.arguments_digest,
       r.started_version, r.ended_at AS recorded_at,
       coalesce(r.started_version > m.changed_version, true) AS environment_unchanged
FROM agentjournal_internal.results_1 AS r
LEFT JOIN agentjournal_internal.result_marks_1 AS m USING (tenant, session_id)
WHERE r.outcome = 'completed' AND r.effect = 'read' AND NOT r.is_cached
    AND r.attempt_tool = r.tool AND r.attempt_digest = r.arguments_digest
    AND r.started_version < r.ended_version
    AND m.deleted_version IS NULL
    AND NOT EXISTS (
        SELECT FROM agentjournal_internal.result_rewinds_1 AS w
        WHERE w.tenant = r.tenant AND w.session_id = r.session_id
            AND w.to_version < r.started_version AND w.version > r.started_version)
    AND NOT EXISTS (
        SELECT FROM agentjournal.parked AS p
        WHERE p.projection = 'results' AND p.stream = r.stream);

COMMENT ON VIEW agentjournal.results IS
    'Results that may be used again: calls of effect `read` that succeeded, whose result was not '
    'itself used again, and that were neither rewound nor tried once more.';
COMMENT ON COLUMN agentjournal.results.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.results.session_id IS 'the session that made the call';
COMMENT ON COLUMN agentjournal.results.version IS 'of the event that has the result';
COMMENT ON COLUMN agentjournal.results.call_id IS 'the call';
COMMENT ON COLUMN agentjournal.results.tool IS 'its name';
COMMENT ON COLUMN agentjournal.results.arguments_digest IS
    'digest of tool and arguments, as the writer gave it';
COMMENT ON COLUMN agentjournal.results.started_version IS 'of the event that started the call';
COMMENT ON COLUMN agentjournal.results.recorded_at IS 'broker''s time of the result';
COMMENT ON COLUMN agentjournal.results.environment_unchanged IS
    'whether the session has changed no file and no environment since the call started';
