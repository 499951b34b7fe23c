"""What the demo asks in SQL; `{session}` stands for the id of its session."""

NO_GAP = """\
SELECT count(*) AS events, min(version) AS first_version, max(version) AS last_version
FROM events WHERE session_id = '{session}'"""
ONCE = """\
SELECT c.call_id, c.tool, c.outcome,
       count(*) FILTER (WHERE e.type = 'tool.started') AS started,
       count(*) FILTER (WHERE e.type IN ('tool.completed', 'tool.failed')) AS ended
FROM tool_calls AS c JOIN events AS e USING (tenant, session_id)
WHERE session_id = '{session}' AND e.type LIKE 'tool.%' AND e.data ->> 'call_id' = c.call_id
GROUP BY c.call_id, c.tool, c.outcome ORDER BY c.call_id"""
CALLS_PER_TOOL = """\
SELECT tool, count(*) AS calls, count(DISTINCT session_id) AS sessions
FROM tool_calls WHERE started_at > now() - interval '1 hour'
GROUP BY tool ORDER BY calls DESC, tool LIMIT 10"""
SLOWEST = """\
SELECT session_id, call_id, tool, duration_ms FROM tool_calls
WHERE duration_ms IS NOT NULL ORDER BY duration_ms DESC LIMIT 3"""
TOKENS = """\
SELECT session_id, agent, messages, input_tokens, output_tokens
FROM sessions ORDER BY last_activity_at DESC LIMIT 10"""
