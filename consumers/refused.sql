-- Refused requests, by name.

-- name: places
SELECT partition, next_position FROM agentjournal_internal.refused_checkpoints;

-- name: begin
INSERT INTO agentjournal_internal.refused_checkpoints (partition) VALUES (%(partition)s)
ON CONFLICT DO NOTHING;

-- name: move
UPDATE agentjournal_internal.refused_checkpoints SET next_position = %(next)s
WHERE partition = %(partition)s AND next_position = %(before)s
RETURNING partition;

-- name: store
-- A sequencer that takes over may write a letter again: the first one counts.
INSERT INTO agentjournal_internal.refused (partition, position, stream, tenant, session_id,
    task_id, reason, path, said, expected_version, actual_version, append_id, agent, worker, types,
    events, bytes, recorded_at)
VALUES (%(partition)s, %(position)s, %(stream)s, %(tenant)s, %(session_id)s, %(task_id)s,
    %(reason)s, %(path)s, %(said)s, %(expected_version)s, %(actual_version)s, %(append_id)s,
    %(agent)s, %(worker)s, %(types)s, %(events)s, %(bytes)s, %(recorded_at)s)
ON CONFLICT DO NOTHING;
