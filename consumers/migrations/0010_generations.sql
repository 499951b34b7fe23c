-- Generations: a read model is built anew beside the live one, then takes its place.
--
-- The tables of the live generation are named x_1, whatever its number; those of generation 7, while
-- it is built and once it is replaced, x_1_g7. So statements and later migrations need not know it.

CREATE TABLE agentjournal_internal.live_generations (
    projection text PRIMARY KEY,
    generation int NOT NULL
);

-- The broker's time of the last event that was read: what a checkpoint is behind by, in seconds.
ALTER TABLE agentjournal_internal.projection_checkpoints ADD COLUMN read_until timestamptz;

-- Fresh reads ask these two all the time: no function is called for each row.
CREATE OR REPLACE VIEW agentjournal.projection_status AS
SELECT c.projection, c.generation, c.partition, c.next_position, c.input_position, c.batch_index,
       (SELECT count(*) FROM agentjournal_internal.parked AS p
        WHERE p.projection = c.projection AND p.generation = c.generation
          AND p.partition = c.partition) AS parked,
       greatest(0, s.next_output - c.next_position) AS events_behind,
       CASE WHEN s.next_output <= c.next_position THEN 0
            ELSE round(extract(epoch FROM greatest(interval '0', now() - c.read_until)), 3)
       END AS seconds_behind
FROM agentjournal_internal.projection_checkpoints AS c
LEFT JOIN agentjournal_internal.live_generations AS l USING (projection)
LEFT JOIN agentjournal_internal.sequencer_checkpoints AS s USING (partition)
WHERE c.generation = coalesce(l.generation, 1);

CREATE OR REPLACE VIEW agentjournal.parked AS
SELECT projection, generation, stream, partition, version, error
FROM agentjournal_internal.parked AS p
WHERE generation = coalesce((
    SELECT l.generation FROM agentjournal_internal.live_generations AS l
    WHERE l.projection = p.projection), 1);

CREATE VIEW agentjournal.generations AS
SELECT p.projection, p.generation,
       CASE WHEN p.generation = coalesce(l.generation, 1) THEN 'live'
            WHEN p.generation > coalesce(l.generation, 1) THEN 'building' ELSE 'replaced'
       END AS state,
       (SELECT sum(next_position)::bigint FROM agentjournal_internal.projection_checkpoints AS c
        WHERE c.projection = p.projection AND c.generation = p.generation) AS events_read,
       (SELECT count(*) FROM agentjournal_internal.parked AS s
        WHERE s.projection = p.projection AND s.generation = p.generation) AS parked
FROM agentjournal_internal.projections AS p
LEFT JOIN agentjournal_internal.live_generations AS l USING (projection);

COMMENT ON VIEW agentjournal.projection_status IS
    'How far the live generation of each projection is in each partition.';
COMMENT ON COLUMN agentjournal.projection_status.events_behind IS
    'events of the log that it has not read; the end of the log is as the sequencer saved it last';
COMMENT ON COLUMN agentjournal.projection_status.seconds_behind IS
    'age of the last event it read; 0 when it has read all, null when it has read none';
COMMENT ON VIEW agentjournal.parked IS
    'Streams that the live generation of a projection stopped at.';
COMMENT ON VIEW agentjournal.generations IS
    'The generations of each projection: the live one, one that is built, those that were replaced.';
COMMENT ON COLUMN agentjournal.generations.projection IS 'its name';
COMMENT ON COLUMN agentjournal.generations.generation IS 'its number';
COMMENT ON COLUMN agentjournal.generations.state IS 'live, building or replaced';
COMMENT ON COLUMN agentjournal.generations.events_read IS
    'positions of the log that it has read; null once it was replaced';
COMMENT ON COLUMN agentjournal.generations.parked IS 'streams that it stopped at';
