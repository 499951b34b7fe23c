-- Questions that an analyst asks; docs/sql.md has them as they stand here.

-- name: cost_of_users
-- What did each user's sessions cost in the last week?
SELECT s.user_id, m.currency, sum(m.cost) AS cost, count(DISTINCT m.session_id) AS sessions
FROM agentjournal.model_calls AS m
JOIN agentjournal.sessions AS s USING (tenant, session_id)
WHERE m.tenant = 'default' AND m.recorded_at >= now() - interval '7 days' AND m.cost IS NOT NULL
GROUP BY s.user_id, m.currency
ORDER BY m.currency, cost DESC, s.user_id;

-- name: slowest_tools
-- Which tools are the slowest? Half of their calls, and 95 of 100, take no longer than this.
SELECT tool, count(*) AS calls,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS p50_ms,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95_ms
FROM agentjournal.tool_calls
WHERE tenant = 'default' AND duration_ms IS NOT NULL
GROUP BY tool
ORDER BY p95_ms DESC, tool;

-- name: failing_tools
-- How often does each tool fail, of the calls that have ended, and how mostly?
SELECT tool, count(*) AS ended, count(*) FILTER (WHERE outcome = 'failed') AS failed,
       round(avg((outcome = 'failed')::int), 3) AS share,
       mode() WITHIN GROUP (ORDER BY error_type) AS mostly
FROM agentjournal.tool_calls
WHERE tenant = 'default' AND outcome <> 'open'
GROUP BY tool
ORDER BY share DESC, tool;

-- name: unknown_now
-- Which calls may have happened or not, and must be looked into?
SELECT session_id, call_id, tool, effect, attempt, idempotency_key
FROM agentjournal.unknown_calls(now())
WHERE tenant = 'default'
ORDER BY lease_until, session_id, call_id;

-- name: waiting_for_approval
-- Where does a session wait for somebody's approval, for whose, and for how long by now?
SELECT session_id, question, requested_of, now() - requested_at AS waits
FROM agentjournal.approvals
WHERE tenant = 'default' AND status = 'open' AND (expires_at IS NULL OR expires_at > now())
ORDER BY requested_at, session_id;

-- name: time_to_approval
-- How long did approvals take that were answered, by whom?
SELECT answered_by, count(*) AS answers, count(*) FILTER (WHERE status = 'granted') AS granted,
       avg(answered_at - requested_at) AS took
FROM agentjournal.approvals
WHERE tenant = 'default' AND answered_at IS NOT NULL
GROUP BY answered_by
ORDER BY answers DESC, answered_by;

-- name: lost_races
-- Who lost a race in which session, and to whom?
SELECT c.session_id, c.worker AS lost, coalesce(e.worker, e.agent) AS won, c.expected_version,
       c.actual_version, c.types
FROM agentjournal.conflicts AS c
LEFT JOIN agentjournal.events AS e
    ON e.stream = c.stream AND e.version = c.expected_version + 1
WHERE c.tenant = 'default'
ORDER BY c.recorded_at, c.session_id, c.position;

-- name: tokens_by_model
-- How many tokens went to each model, and came from it?
SELECT coalesce(response_model, request_model) AS model, count(*) AS calls,
       sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
FROM agentjournal.model_calls
WHERE tenant = 'default'
GROUP BY model
ORDER BY input_tokens DESC, model;

-- name: where_sessions_come_from
-- Which sessions were forked off or handed over, from which, at which version?
SELECT session_id, relation, parent_session_id, parent_version, depth
FROM agentjournal.session_tree
WHERE tenant = 'default' AND parent_session_id IS NOT NULL
ORDER BY root_session_id, path;

-- name: history_of_a_file
-- What changed in a file, in whichever session?
SELECT session_id, version, reason, before_digest, after_digest, changed_at
FROM agentjournal.file_changes
WHERE tenant = 'default' AND path = 'src/app.py'
ORDER BY changed_at, session_id, version;

-- name: said_about
-- Who said what about a late refund, and when?
SELECT session_id, version, role, content, recorded_at
FROM agentjournal.messages
WHERE tenant = 'default' AND status <> 'retracted'
    AND to_tsvector('english', content) @@ websearch_to_tsquery('english', 'late refund')
ORDER BY recorded_at, session_id, version;

-- name: changed_minds
-- What did users say otherwise before, and since when is it so?
SELECT entity_id, attribute, value, valid_to
FROM agentjournal.facts
WHERE tenant = 'default' AND entity_kind = 'user' AND ended_by = 'superseded'
ORDER BY valid_to, entity_id, attribute;

-- name: known_of_a_user
-- What is known of a user, who said it, and how often was it said?
SELECT attribute, value, author_role, quote, cardinality(fact_ids) AS statements
FROM agentjournal.current_facts
WHERE tenant = 'default' AND entity_kind = 'user' AND entity_id = 'ada'
ORDER BY attribute, valid_from;

-- name: values_in_common
-- Which values do most users have in common?
SELECT attribute, value, count(*) AS users
FROM agentjournal.current_facts
WHERE tenant = 'default' AND entity_kind = 'user'
GROUP BY attribute, value
ORDER BY users DESC, attribute, value
LIMIT 20;

-- name: refused_facts
-- What was not taken for a fact when sessions were promoted, and why?
SELECT each ->> 'reason' AS reason, sum((each ->> 'count')::int) AS candidates,
       count(DISTINCT p.session_id) AS sessions
FROM agentjournal.promotions AS p
CROSS JOIN LATERAL jsonb_array_elements(p.refused) AS r (each)
WHERE p.tenant = 'default' AND p.status = 'completed'
GROUP BY reason
ORDER BY candidates DESC, reason;
