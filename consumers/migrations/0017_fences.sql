-- Events say under which lease they were written.
ALTER TABLE agentjournal_internal.events_1 ADD COLUMN fence bigint;

CREATE OR REPLACE VIEW agentjournal.events AS
SELECT stream, version, position, partition, type,
       agentjournal_internal.as_jsonb(convert_from(data, 'UTF8')) AS data,
       coalesce(worker, agent, source) AS actor,
       correlation_id, causation_id, recorded_at, append_id,
       agentjournal_internal.sanitised(convert_from(data, 'UTF8')) AS sanitised,
       agentjournal_internal.percent_decoded(split_part(stream, '/', 2)) AS tenant,
       CASE WHEN stream LIKE 'session/%' THEN
           agentjournal_internal.percent_decoded(split_part(stream, '/', 3)) END AS session_id,
       event_id, schema_version, input_position, batch_index, batch_size, source, agent, worker,
       time, tokens, traceparent, encode(hash, 'hex') AS hash, data AS raw_data, fence
FROM agentjournal_internal.events_1;

COMMENT ON COLUMN agentjournal.events.fence IS
    'version of the event that took the lease it was written under; null without one';
