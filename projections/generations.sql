-- Statements about the generations of a projection, by name.

-- name: known
SELECT generation, digest, state FROM agentjournal.generations
JOIN agentjournal_internal.projections USING (projection, generation)
WHERE projection = %(projection)s ORDER BY generation;

-- name: place
INSERT INTO agentjournal_internal.projection_checkpoints (projection, generation, partition)
SELECT projection, %(generation)s, partition FROM agentjournal.projection_status
WHERE projection = %(projection)s;

-- name: forget_places
DELETE FROM agentjournal_internal.projection_checkpoints
WHERE projection = %(projection)s AND generation = %(generation)s;

-- name: forget_parked
DELETE FROM agentjournal_internal.parked
WHERE projection = %(projection)s AND generation = %(generation)s;

-- name: forget
DELETE FROM agentjournal_internal.projections
WHERE projection = %(projection)s AND generation = %(generation)s;

-- name: enthrone
INSERT INTO agentjournal_internal.live_generations (projection, generation)
VALUES (%(projection)s, %(generation)s)
ON CONFLICT (projection) DO UPDATE SET generation = excluded.generation;

-- name: form
-- What LIKE leaves behind of a table: its storage parameters, and who may do what with it.
SELECT array_to_string(c.reloptions, ', ') AS parameters, (
    SELECT array_agg(format('GRANT %%s ON %%%%s TO %%s', privilege_type,
        CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE grantee::regrole::text END))
    FROM aclexplode(c.relacl) WHERE grantee <> c.relowner
) AS grants
FROM pg_class AS c
WHERE c.oid = %(table)s::regclass;

-- name: indexes
SELECT pg_get_indexdef(i.indexrelid) AS definition, i.indisprimary AS is_primary
FROM pg_index AS i WHERE i.indrelid = %(table)s::regclass
ORDER BY i.indisprimary DESC, 1;

-- name: views
-- Views that read some tables, in one order for everybody who replaces them.
SELECT DISTINCT r.ev_class::regclass::text AS name
FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid
WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
    AND d.refobjid = ANY (%(tables)s::regclass[]) AND r.ev_class <> d.refobjid
ORDER BY 1;

-- name: definition
SELECT pg_get_viewdef(%(view)s::regclass);
