-- What the promoter keeps: up to where sessions are dealt with, and those that it stopped at.

-- A session through `version` of which nothing is left to do; with an error, since it failed there.
CREATE TABLE agentjournal_internal.promoter_sessions (
    stream            text NOT NULL,
    extractor         text NOT NULL,
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
    extractor         text NOT NULL,
    extractor_version text NOT NULL,
    looked_until      timestamptz NOT NULL,
    PRIMARY KEY (partition, extractor, extractor_version)
);

-- Of promotions that were told twice the first counts; those that failed have no event.
CREATE OR REPLACE VIEW agentjournal.promotions AS
SELECT p.tenant, p.session_id, p.version, p.through_version, p.extractor,
       p.extractor_version AS extractor_release, p.extractor_order, p.learned, p.confirmed,
       p.superseded, p.refused, nullif(p.summary, '') AS summary, p.recorded_at,
       'completed' AS status, NULL::text AS error
FROM agentjournal_internal.promotions_1 AS p
WHERE NOT EXISTS (
    SELECT FROM agentjournal_internal.promotions_1 AS f
    WHERE f.tenant = p.tenant AND f.session_id = p.session_id AND f.version < p.version
        AND f.through_version = p.through_version AND f.extractor = p.extractor
        AND f.extractor_version = p.extractor_version)
UNION ALL
SELECT s.tenant, s.session_id, NULL, d.version,
       d.extractor, d.extractor_version, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       'failed', d.error
FROM agentjournal_internal.promoter_sessions AS d
JOIN agentjournal_internal.sessions_1 AS s USING (stream)
WHERE d.error IS NOT NULL;

COMMENT ON VIEW agentjournal.promotions IS
    'What was made of sessions: one row each time that one was read to its end, and one for a '
    'session that could not be read.';
COMMENT ON COLUMN agentjournal.promotions.version IS
    'of the event that says so; null for one that failed';
COMMENT ON COLUMN agentjournal.promotions.through_version IS
    'version of the session up to which it was read, or at which it failed';
COMMENT ON COLUMN agentjournal.promotions.status IS
    'completed, or failed: it is tried again when the session goes on, or by agentjournal promote';
COMMENT ON COLUMN agentjournal.promotions.error IS 'why it failed; null where it did not';
