-- Refused requests, as the topic `dead` has them: who lost a race, and what was not valid.

CREATE TABLE agentjournal_internal.refused (
    partition        int NOT NULL,     -- with position: of the request in the topic `appends`
    position         bigint NOT NULL,
    stream           text NOT NULL,    -- the key as it came
    tenant           text,
    session_id       text,
    task_id          text,
    reason           text NOT NULL,
    path             text,
    said             text,
    expected_version bigint,
    actual_version   bigint,
    append_id        text,
    agent            text,
    worker           text,
    types            text[],
    events           int,
    bytes            bigint NOT NULL,
    recorded_at      timestamptz NOT NULL,
    PRIMARY KEY (partition, position)
);

CREATE INDEX refused_by_session ON agentjournal_internal.refused (tenant, session_id);

CREATE TABLE agentjournal_internal.refused_checkpoints (
    partition     int PRIMARY KEY,          -- of the topic `dead`
    next_position bigint NOT NULL DEFAULT 0 -- the next to read
);

INSERT INTO agentjournal_internal.refused_checkpoints (partition) VALUES (0);

CREATE VIEW agentjournal.conflicts AS
SELECT tenant, session_id, task_id, stream, expected_version, actual_version, append_id, agent,
       worker, events, types, recorded_at, partition, position
FROM agentjournal_internal.refused
WHERE reason = 'conflict';

CREATE VIEW agentjournal.dead_letters AS
SELECT tenant, session_id, task_id, stream, reason, path, said AS text, append_id, agent, worker,
       events, types, bytes, recorded_at, partition, position
FROM agentjournal_internal.refused
WHERE reason <> 'conflict';

COMMENT ON VIEW agentjournal.conflicts IS
    'Appends that expected another version: who lost a race. The event that won has the version '
    'behind expected_version.';
COMMENT ON COLUMN agentjournal.conflicts.tenant IS 'whose it is';
COMMENT ON COLUMN agentjournal.conflicts.session_id IS 'the session, null where it is a task''s';
COMMENT ON COLUMN agentjournal.conflicts.task_id IS 'the task, null where it is a session''s';
COMMENT ON COLUMN agentjournal.conflicts.stream IS 'its stream';
COMMENT ON COLUMN agentjournal.conflicts.expected_version IS 'that the writer had seen';
COMMENT ON COLUMN agentjournal.conflicts.actual_version IS 'that the stream had come to';
COMMENT ON COLUMN agentjournal.conflicts.append_id IS 'of the append that lost';
COMMENT ON COLUMN agentjournal.conflicts.agent IS 'that lost';
COMMENT ON COLUMN agentjournal.conflicts.worker IS 'that lost, where it has a name';
COMMENT ON COLUMN agentjournal.conflicts.events IS 'how many events lost';
COMMENT ON COLUMN agentjournal.conflicts.types IS 'their types, each once';
COMMENT ON COLUMN agentjournal.conflicts.recorded_at IS 'broker''s time of the refusal';
COMMENT ON COLUMN agentjournal.conflicts.partition IS 'of the request, in the topic appends';
COMMENT ON COLUMN agentjournal.conflicts.position IS 'of the request in its partition';

COMMENT ON VIEW agentjournal.dead_letters IS
    'Requests that were refused for good. Their bytes are in the topic dead: `agentjournal dead`.';
COMMENT ON COLUMN agentjournal.dead_letters.tenant IS 'whose it is, null where no stream is named';
COMMENT ON COLUMN agentjournal.dead_letters.session_id IS 'the session, null where it is none''s';
COMMENT ON COLUMN agentjournal.dead_letters.task_id IS 'the task, null where it is none''s';
COMMENT ON COLUMN agentjournal.dead_letters.stream IS 'the key of the request as it came';
COMMENT ON COLUMN agentjournal.dead_letters.reason IS
    'rejected, id_reused, deleted, mismatch or limit';
COMMENT ON COLUMN agentjournal.dead_letters.path IS 'the place in the request that is not valid';
COMMENT ON COLUMN agentjournal.dead_letters.text IS 'what is wrong there';
COMMENT ON COLUMN agentjournal.dead_letters.append_id IS 'of the append, null where it has no form';
COMMENT ON COLUMN agentjournal.dead_letters.agent IS 'that appended';
COMMENT ON COLUMN agentjournal.dead_letters.worker IS 'that appended, where it has a name';
COMMENT ON COLUMN agentjournal.dead_letters.events IS 'how many events were refused';
COMMENT ON COLUMN agentjournal.dead_letters.types IS 'their types, each once';
COMMENT ON COLUMN agentjournal.dead_letters.bytes IS 'size of the request';
COMMENT ON COLUMN agentjournal.dead_letters.recorded_at IS 'broker''s time of the refusal';
COMMENT ON COLUMN agentjournal.dead_letters.partition IS 'of the request, in the topic appends';
COMMENT ON COLUMN agentjournal.dead_letters.position IS 'of the request in its partition';
