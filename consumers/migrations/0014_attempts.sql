-- Attempts of tool calls may be as large as the log takes them: a bigint, as in the other tables.
--
-- A view of the column has to be made anew, with what was said of it and granted on it.

CREATE TEMP TABLE kept ON COMMIT DROP AS
SELECT format('COMMENT ON COLUMN agentjournal.tool_calls.%I IS %L', attname,
              col_description(attrelid, attnum)) AS statement
FROM pg_attribute WHERE attrelid = 'agentjournal.tool_calls'::regclass AND attnum > 0
UNION ALL
SELECT format('COMMENT ON VIEW agentjournal.tool_calls IS %L',
              obj_description('agentjournal.tool_calls'::regclass, 'pg_class'))
UNION ALL
SELECT format('COMMENT ON FUNCTION agentjournal.unknown_calls IS %L',
              obj_description('agentjournal.unknown_calls'::regproc, 'pg_proc'))
UNION ALL
SELECT format('GRANT %s ON agentjournal.tool_calls TO %s', privilege_type,
              CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END)
FROM pg_class, aclexplode(relacl)
WHERE oid = 'agentjournal.tool_calls'::regclass AND grantee <> relowner
UNION ALL
SELECT format('GRANT %s ON FUNCTION agentjournal.unknown_calls TO %s', privilege_type,
              CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END)
FROM pg_proc, aclexplode(proacl)
WHERE oid = 'agentjournal.unknown_calls'::regproc AND grantee <> proowner;

DROP FUNCTION agentjournal.unknown_calls(timestamptz);
DROP VIEW agentjournal.tool_calls;

ALTER TABLE agentjournal_internal.tool_calls_1 ALTER COLUMN attempt TYPE bigint;

CREATE VIEW agentjournal.tool_calls AS
SELECT tenant, session_id, version, turn_id, call_id, tool,
       agentjournal_internal.as_jsonb(arguments_text) AS arguments, arguments_text, effect,
       coalesce(outcome, 'open') AS outcome, attempt, lease_until,
       coalesce(started_at, requested_at) AS started_at, ended_at, duration_ms, error_type,
       error_message, output, idempotency_key, requested_at
FROM agentjournal_internal.tool_calls_1;

CREATE FUNCTION agentjournal.unknown_calls(as_of timestamptz)
RETURNS SETOF agentjournal.tool_calls LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT * FROM agentjournal.tool_calls WHERE outcome = 'open' AND lease_until <= as_of
$$;

DO $$
DECLARE each text;
BEGIN
    FOR each IN SELECT statement FROM kept LOOP
        EXECUTE each;
    END LOOP;
END $$;
