-- Statements of `dead --redrive`, by name.

-- name: decided
SELECT partition, next_input FROM agentjournal_internal.sequencer_checkpoints;

-- name: recorded
SELECT DISTINCT stream, append_id
FROM unnest(%(stream)s::text[], %(append_id)s::text[]) AS g (stream, append_id)
JOIN agentjournal.events USING (stream, append_id);
