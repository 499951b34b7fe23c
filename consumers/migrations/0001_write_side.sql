-- The write side: who owns a partition, how far it is sequenced, and the heads of its streams.

CREATE SCHEMA agentjournal;           -- what users see: views and functions
CREATE SCHEMA agentjournal_internal;  -- what the roles keep

CREATE TABLE agentjournal_internal.members (
    role    text NOT NULL,
    member  text NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (role, member)
) WITH (fillfactor = 50);

CREATE TABLE agentjournal_internal.sequencer_checkpoints (
    partition     int PRIMARY KEY,
    epoch         bigint NOT NULL DEFAULT 0,
    owner         text NOT NULL DEFAULT '',
    rules         int NOT NULL DEFAULT 1,
    next_input    bigint NOT NULL DEFAULT 0,
    input_digest  bytea NOT NULL DEFAULT '',
    next_output   bigint NOT NULL DEFAULT 0,
    output_digest bytea NOT NULL DEFAULT ''
) WITH (fillfactor = 50);

CREATE TABLE agentjournal_internal.heads (
    stream           text PRIMARY KEY,
    partition        int NOT NULL,
    version          bigint NOT NULL,
    hash             text NOT NULL,
    status           text NOT NULL,
    user_digest      bytea NOT NULL,
    last_activity_ms bigint NOT NULL,
    bytes            bigint NOT NULL,
    tokens           bigint NOT NULL,
    lease_fence      bigint NOT NULL,
    lease_until_ms   bigint NOT NULL,
    lease_holder     text NOT NULL,
    appends          bytea NOT NULL
) WITH (fillfactor = 70);

-- Digests do not compress: trying costs time and gains nothing.
ALTER TABLE agentjournal_internal.heads ALTER COLUMN appends SET STORAGE EXTERNAL;
CREATE INDEX heads_by_partition ON agentjournal_internal.heads (partition);

INSERT INTO agentjournal_internal.sequencer_checkpoints (partition)
SELECT generate_series(0, 7);  -- the partitions of rules 1
