-- A plan for known arguments casts them before CASE looks whether that can be done, so one text that
-- is no JSON made every query over its view fail. PL/pgSQL plans a line when it is reached.

CREATE OR REPLACE FUNCTION agentjournal_internal.as_jsonb(raw text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF pg_input_is_valid(raw, 'jsonb') THEN
        RETURN raw::jsonb;
    ELSIF pg_input_is_valid(agentjournal_internal.without_nul(raw), 'jsonb') THEN
        RETURN agentjournal_internal.without_nul(raw)::jsonb;
    ELSE
        RETURN '{"$unreadable": true}'::jsonb;
    END IF;
END
$$;
