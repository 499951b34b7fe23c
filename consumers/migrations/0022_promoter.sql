-- What the promoter keeps: up to where sessions are dealt with, and those that it stopped at.

-- A session through `version` of which nothing is left to do; with an error, since it failed there.
CREATE TABLE agentjournal_internal.promoter_sessions (
    stream            text COLLATE "C" NOT NULL,
    extractor         text COLLATE "C" NOT NULL,
    extractor_version text NOT NULL,
    version           bigint NOT NULL,
    error             text,
    attempts          int NOT NULL,   -- that failed in a row
    noted_at          timestamptz NOT NULL,
    PRIMARY KEY (stream, extractor)
) WITH (fillfactor = 70);
CREATE INDEX promoter_sessions_failed ON agentjournal_internal.promoter_sessions (extractor, stream)
WHERE error IS NOT NULL;

-- Sessions in which nothing happened since are dealt with, by the broker's clock.
CREATE TABLE agentjournal_internal.promoter_places (
    partition         int NOT NULL,
    extractor         text COLLATE "C" NOT NULL,
    extractor_version text NOT NULL,
    looked_until      timestamptz NOT NULL,
    PRIMARY KEY (partition, extractor, extractor_version)
);
