-- When a stream began, its own TTL, and the limits that the log enforces.
ALTER TABLE agentjournal_internal.heads ADD COLUMN started_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN ttl_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN limits bytea NOT NULL DEFAULT '';
