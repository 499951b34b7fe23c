-- Views run functions with the rights of who reads, who has none on the table that this one asks.

ALTER FUNCTION agentjournal_internal.live_generation(text)
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
