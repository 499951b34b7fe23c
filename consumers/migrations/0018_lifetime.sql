-- When a stream began, its own TTL, and the limits that the log enforces.
ALTER TABLE agentjournal_internal.heads ADD COLUMN started_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN ttl_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN limits bytea NOT NULL DEFAULT '';

-- Where a session ended, its notes are gone; where it expired, until it is resumed.
ALTER TABLE agentjournal_internal.note_ends_1 ALTER COLUMN version DROP NOT NULL,
    ADD COLUMN expired_version bigint;

CREATE OR REPLACE VIEW agentjournal.notes AS
SELECT n.tenant, n.session_id, n.task_id, n.version, n.key,
       CASE WHEN NOT n.deleted THEN agentjournal_internal.field(e.data, 'value') END AS value,
       nullif(n.ttl_s, -1) AS ttl_s,
       agentjournal_internal.later(n.recorded_at, nullif(n.ttl_s, -1)) AS expires_at,
       n.deleted, n.recorded_at
FROM agentjournal_internal.notes_1 AS n
LEFT JOIN agentjournal_internal.events_1 AS e USING (stream, version)
WHERE NOT EXISTS (
    SELECT FROM agentjournal_internal.note_ends_1 AS x
    WHERE x.tenant = n.tenant AND x.session_id = n.session_id AND x.task_id IS NULL
        AND greatest(x.version, x.expired_version) > n.version
);

COMMENT ON VIEW agentjournal.notes IS
    'Working memory: the last note of each key, also a deleted one. What was noted before a '
    'session ended is not shown, nor what was noted before one expired that is not resumed yet.';

COMMENT ON COLUMN agentjournal.messages.tokens IS
    'about how many: a quarter of the bytes of its text; null for what was imported';
COMMENT ON COLUMN agentjournal.events.tokens IS
    'about how many a message or a tool''s output has: a quarter of the bytes of its text';
