-- Statements by which the processes of a role divide its partitions, by name.

-- name: heartbeat
INSERT INTO agentjournal_internal.members (role, member, seen_at)
VALUES (%(role)s, %(member)s, clock_timestamp())
ON CONFLICT (role, member) DO UPDATE SET seen_at = excluded.seen_at;

-- name: alive
SELECT member FROM agentjournal_internal.members
WHERE role = %(role)s AND seen_at > clock_timestamp() - make_interval(secs => %(dead_after_s)s)
ORDER BY member;

-- name: leave
DELETE FROM agentjournal_internal.members
WHERE role = %(role)s AND (
    member = ANY (%(members)s) OR seen_at < clock_timestamp() - interval '1 hour'
);
