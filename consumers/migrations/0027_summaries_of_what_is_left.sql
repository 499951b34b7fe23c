-- A session that has nothing left to say, since it was retracted or rewound, has no summary either.

CREATE OR REPLACE VIEW agentjournal.session_summaries AS
SELECT p.tenant, p.session_id, p.version, p.through_version, p.summary, p.recorded_at
FROM agentjournal_internal.promotions_1 AS p
LEFT JOIN agentjournal_internal.session_marks_1 AS m USING (tenant, session_id)
WHERE p.summary <> '' AND m.deleted_version IS NULL AND NOT EXISTS (
    SELECT FROM agentjournal_internal.promotions_1 AS n
    WHERE n.tenant = p.tenant AND n.session_id = p.session_id AND n.version > p.version
        AND (n.summary <> '' OR n.extractor = p.extractor));
