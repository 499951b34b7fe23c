"""Recall as users get it: what a corpus comes to in a log, and what recall finds there.

A log in memory takes the conversations and promotes them. Where there is a Postgres the read models
there are filled from it, and recall asks these in SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from agentjournal.envelope import Recorded
from agentjournal.events import MessageAdded, SessionEnded
from agentjournal.ids import stream_id
from agentjournal.memory.embedding import Embedder
from agentjournal.memory.recall_api import recall
from agentjournal.memory.recalls import Recalls
from agentjournal.postgres_recall import PostgresRecalls
from agentjournal.postgres_views import PostgresViews
from agentjournal.settings import Settings
from agentjournal.testing.memory_log import MemoryLog
from agentjournal.testing.recalls import MemoryRecalls
from agentjournal.testing.world import World
from agentjournal.windows.tokens import default_count
from consumers.postgres_migrations import migrate
from evals.data import Corpus
from projections.embeddings import Vectors, embeddings
from projections.facts import FACTS_PROJECTION
from projections.postgres_rows import write_rows
from projections.projection import Context
from projections.recall import RECALL
from projections.rows import Changes

LEXICAL, FUSED = "recall, lexical", "recall, fused"
TENANT = "evals"


class ByWords(PostgresRecalls):
    """Recall where no model is installed."""

    async def can_compare(self) -> bool:
        """Return that nothing is compared."""
        return False


@dataclass(frozen=True, slots=True)
class Recalling:
    """Asks recall, and waits for it."""

    runner: asyncio.Runner
    recalls: Recalls
    embedder: Embedder | None = None

    def __call__(self, user: str, query: str, max_tokens: int | None = None) -> list[str]:
        """Return the texts with which recall answers a query about a user, the best first."""
        asked = recall(
            self.recalls,
            stream_id("user", TENANT, user),
            query,
            max_tokens=max_tokens,
            count=line_tokens,
            embedder=self.embedder,
        )
        return [each.text for each in self.runner.run(asked)]


def line_tokens(text: str) -> int:
    """Return the tokens of a text on a line of its own, which is what all methods are charged."""
    return default_count()(text) + 1


@contextmanager
def recallings(
    corpus: Corpus, embedder: Embedder | None, address: str | None
) -> Generator[dict[str, Recalling]]:
    """Give the ways to recall by name: by words, and where there is a model by both measures.

    Without the `address` of an empty Postgres a log in memory is asked, by words alone.
    """
    with asyncio.Runner() as runner:
        world = World()
        runner.run(_said(world, corpus))
        if address is None:
            yield {LEXICAL: Recalling(runner, MemoryRecalls(world))}
            return
        settings = Settings("nowhere", address, "nowhere", TENANT)
        events = [each for partition in world.events.values() for each in partition]
        runner.run(fill(settings, events, embedder))
        views = PostgresViews(settings)
        found = {LEXICAL: Recalling(runner, ByWords(views))}
        if embedder is not None:
            found[FUSED] = Recalling(runner, PostgresRecalls(views), embedder)
        try:
            yield found
        finally:
            runner.run(views.close())


async def _said(world: World, corpus: Corpus) -> None:
    """Let each user say what was said, in one session that ends and is promoted."""
    async with MemoryLog(world, TENANT) as log:
        for user, messages in corpus.messages.items():
            session = log.session(f"of-{user}", user=user)
            for text in messages:
                await session.append(MessageAdded(role="user", content=text))
            await session.promote()
            await session.append(SessionEnded())


async def fill(settings: Settings, events: Sequence[Recorded], embedder: Embedder | None) -> None:
    """Fill the read models that recall asks, by the projections that fill them anywhere."""
    await migrate(settings)
    projections = [RECALL, FACTS_PROJECTION]
    if embedder is not None:
        projections.append(embeddings(Vectors(embedder)))
    connect = psycopg.AsyncConnection.connect
    async with await connect(settings.postgres, autocommit=True) as connection:
        for projection in projections:
            changes = Changes(projection.tables)
            for each in events:
                if projection.reads(each):
                    projection.fold(each, Context(), changes)
            await write_rows(connection, projection, changes)
