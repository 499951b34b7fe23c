-- Heads from before lifetimes were kept: when their streams began, and the TTL that they began with.
UPDATE agentjournal_internal.heads AS h
SET started_ms = round(extract(epoch FROM e.recorded_at) * 1000)::bigint,
    ttl_ms = CASE
        WHEN h.ttl_ms = 0 AND e.type = 'session.started'
            THEN round(least(coalesce(
                (agentjournal_internal.field(e.data, 'ttl_s') #>> '{}')::float8, 0), 9e15)
                * 1000)::bigint
        ELSE h.ttl_ms
    END
FROM agentjournal_internal.events_1 AS e
WHERE h.started_ms = 0 AND e.stream = h.stream AND e.version = 1;
