-- How far each write under a lease extends it.
ALTER TABLE agentjournal_internal.heads ADD COLUMN lease_ms bigint NOT NULL DEFAULT 0;
