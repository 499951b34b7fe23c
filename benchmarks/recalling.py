"""How long recall takes in a large table: by words alone, and by words and vectors."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

import psycopg

from agentjournal.envelope import Recorded
from agentjournal.events import Evidence, Extractor, FactLearned
from agentjournal.ids import Position, StreamId, Version, parse_stream, stream_id
from agentjournal.memory.embedding import local_embedder
from agentjournal.memory.recalling import find, ranked
from agentjournal.memory.recalls import Asked
from agentjournal.memory.terms import query_terms
from agentjournal.postgres_recall import PostgresRecalls
from agentjournal.postgres_views import PostgresViews
from agentjournal.settings import Settings
from benchmarks.harness import percentile
from projections.facts import FACTS_PROJECTION
from projections.postgres_rows import write_rows
from projections.projection import Context
from projections.rows import Changes

ENTITIES, SESSIONS, MESSAGES = 100, 100, 100  # of an entity, of a session: 1,000,000 in all
FACTS, WITH_VECTORS = 1_000, 10  # of each entity; entities that have vectors
QUERIES = 100
_AT = "2026-01-01T00:00:00.000Z"
# Words are as frequent as in prose without its commonest: 14 in a sentence, the n-th as 1/n.
_FILL = """
SELECT setseed(0.5);
INSERT INTO agentjournal_internal.recall_streams_1
    (stream, tenant, session_id, own_scope, entity_scopes, passages, terms)
SELECT format('session/default/%s-%s', e, s), 'default', format('%s-%s', e, s),
       format('user/default/u-%s', e), '', {messages}, {messages} * 14
FROM generate_series(0, {entities} - 1) AS e, generate_series(0, {sessions} - 1) AS s;
INSERT INTO agentjournal_internal.recall_streams_1
    (stream, tenant, session_id, own_scope, entity_scopes, passages, terms)
SELECT format('user/default/u-%s', e), 'default', NULL, format('user/default/u-%s', e), NULL,
       {facts}, {facts} * 14
FROM generate_series(0, {entities} - 1) AS e;
DROP INDEX agentjournal_internal.passages_1_found;
INSERT INTO agentjournal_internal.passages_1 (stream, version, number, tenant, session_id, scopes,
    tier, role, ref, event_id, text, terms, length, said_at)
SELECT stream, version, 0, 'default', session_id, ARRAY[scope], tier, 'user', ref, ref,
       array_to_string(said, ' '), array_to_tsvector(said), 14, '2026-01-01T00:00:00Z'
FROM (
    SELECT m.*, (SELECT array_agg('w' || floor(30 * exp(random() * ln(700.0)))::int)
                 FROM generate_series(1, 14) WHERE version > 0) AS said
    FROM (
        SELECT format('session/default/%s-%s', e, s) AS stream, v AS version,
               format('%s-%s', e, s) AS session_id, format('user/default/u-%s', e) AS scope,
               'message' AS tier, format('m-%s-%s-%s', e, s, v) AS ref
        FROM generate_series(1, {messages}) AS v, generate_series(0, {sessions} - 1) AS s,
             generate_series(0, {entities} - 1) AS e
        UNION ALL
        SELECT format('user/default/u-%s', e), v, NULL, format('user/default/u-%s', e), 'fact',
               format('f-%s', v)
        FROM generate_series(1, {facts}) AS v, generate_series(0, {entities} - 1) AS e
    ) AS m
) AS p;
CREATE INDEX passages_1_found ON agentjournal_internal.passages_1 USING gin (scopes, terms)
WITH (gin_pending_list_limit = 256);
"""
_VECTORS = """
INSERT INTO agentjournal_internal.embeddings_1
    (stream, version, number, tenant, session_id, model, vector)
SELECT stream, version, number, tenant, session_id, %(model)s,
       (SELECT l2_normalize(array_agg(random() - 0.5)::vector::halfvec)
        FROM generate_series(1, 384) WHERE version > 0)
FROM agentjournal_internal.passages_1
WHERE scopes && (SELECT array_agg(format('user/default/u-%%s', e))
                 FROM generate_series(0, %(entities)s - 1) AS e)
"""

_CURRENT = """
SELECT * FROM agentjournal.current_facts
WHERE tenant = 'default' AND entity_kind = 'user' AND entity_id = %(user)s
"""

Figures = Mapping[str, tuple[float, str]]


async def recall(settings: Settings) -> Figures:
    """Ask for five words of a sentence that was said, of one entity after the other.

    Beside the times stands how many messages there were, and how long the tables took to fill.
    """
    began = time.perf_counter()
    await fill(settings)
    figures: dict[str, tuple[float, str]] = {
        "recall.messages": (ENTITIES * SESSIONS * MESSAGES, "messages"),
        "recall.filling": (time.perf_counter() - began, "s"),
    }
    chances, views = random.Random(1), PostgresViews(settings)
    try:
        recalls = PostgresRecalls(views)
        asked = [await _query(views, chances) for _ in range(QUERIES)]

        async def by_words(entity: StreamId, query: str) -> None:
            ranked(await recalls.find(Asked(entity, query_terms(query))))

        async def by_both(entity: StreamId, query: str) -> None:
            ranked(await find(recalls, entity, query))

        async def facts(entity: StreamId, _: str) -> None:
            await views.select(_CURRENT, user=parse_stream(entity)[2])

        figures |= await _times("recall.lexical", asked, by_words)
        if local_embedder() is not None:
            figures |= await _times("recall.fused", asked, by_both)
        figures |= await _times("facts.current", asked, facts)
    finally:
        await views.close()
    return figures


async def _times(
    name: str,
    asked: Sequence[tuple[StreamId, str]],
    answer: Callable[[StreamId, str], Awaitable[None]],
) -> Figures:
    took: list[float] = []
    for each in [*asked[:10], *asked]:  # the first ones find nothing prepared, and no model loaded
        began = time.perf_counter()
        await answer(*each)
        took.append(1_000 * (time.perf_counter() - began))
    del took[:10]
    return {name: (percentile(took, 50), "ms"), f"{name}.p99": (percentile(took, 99), "ms")}


async def _query(views: PostgresViews, chances: random.Random) -> tuple[StreamId, str]:
    entity = chances.randrange(WITH_VECTORS)
    stream = stream_id("session", "default", f"{entity}-{chances.randrange(SESSIONS)}")
    version = chances.randrange(1, MESSAGES + 1)
    rows = await views.select(
        "SELECT text FROM agentjournal.passages "
        "WHERE stream = %(stream)s AND version = %(version)s",
        stream=stream,
        version=version,
    )
    query = " ".join(chances.sample(rows[0]["text"].split(), 5))
    return stream_id("user", "default", f"u-{entity}"), query


async def fill(settings: Settings) -> None:
    """Put rows into the tables, as if the log had come to them."""
    statements = _FILL.format(
        entities=ENTITIES,
        sessions=SESSIONS,
        messages=MESSAGES,
        facts=FACTS,
    )
    connect = psycopg.AsyncConnection.connect
    async with await connect(settings.postgres, autocommit=True) as connection:
        for statement in statements.split(";\n"):
            if statement.strip():
                await connection.execute(statement.encode())
        await write_rows(connection, FACTS_PROJECTION, _facts())
        embedder = local_embedder()
        if embedder is not None:
            given = {"model": embedder.model, "entities": WITH_VECTORS}
            await connection.execute(_VECTORS.encode(), given)
        await connection.execute("VACUUM ANALYZE")


def _facts() -> Changes:
    """Return the rows that the facts of the entities that are asked for come to."""
    changes = Changes(FACTS_PROJECTION.tables)
    for entity in range(WITH_VECTORS):
        for number in range(1, FACTS + 1):
            FACTS_PROJECTION.fold(_learned(f"u-{entity}", number), Context(), changes)
    return changes


def _learned(user: str, number: int) -> Recorded:
    fact = FactLearned(
        fact_id=f"f-{number}",
        kind="preference",
        attribute=f"attribute/{number}",
        value="x",
        cardinality="single",
        quote="x",
        evidence=[Evidence(session_id="s", event_id="e", version=number)],
        author_role="user",
        confidence=1.0,
        valid_from=_AT,
        extractor=Extractor(name="words", version="1"),
    )
    return Recorded(
        stream=stream_id("user", "default", user),
        version=Version(number),
        type=fact.type,
        raw_data=fact.encoded(),
        id=f"{user}-{number}",
        source="/default/bench",
        schema_version=1,
        data_encoding="json",
        append_id=f"{user}-{number}",
        batch_index=0,
        batch_size=1,
        input_position=Position(number),
        recorded_at=_AT,
        rules=1,
        prevhash="",
        hash="",
    )
