"""The indexer: keeps what recall searches, words at once and vectors as the model gets there.

Two projectors of their own, each with its own places: neither waits for the other, and no other
read model for either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache

from agentjournal.memory.embedding import local_embedder
from consumers.postgres_pool import PostgresPool
from consumers.postgres_read_models import PostgresReadModels
from consumers.projector import FoldedBatch, Polled
from projections.embeddings import EMBEDDINGS, Vectors
from projections.folding import ProjectionFold
from projections.projection import Projection

MOST_RECORDS = 64  # a poll: what is embedded before the place moves on, and a heartbeat is due


class EmbeddedReadModels(PostgresReadModels):
    """Has the model make the vectors of a poll, in a thread, before the poll is folded."""

    def __init__(self, pool: PostgresPool, vectors: Vectors) -> None:
        super().__init__(pool)
        self._vectors = vectors

    async def fold(self, folds: Sequence[ProjectionFold], polled: Polled) -> Sequence[FoldedBatch]:
        """Fold a poll. Raises PoisonError for an event that cannot be folded."""
        wanted = [
            recorded
            for batch in polled.values()
            for recorded in batch
            if any(fold.wanted(recorded) for fold in folds)
        ]
        await asyncio.to_thread(self._vectors.make, wanted)
        return await super().fold(folds, polled)


@cache
def local_vectors() -> Vectors | None:
    """Return what makes the vectors of this process, None where no model is installed."""
    embedder = local_embedder()
    return None if embedder is None else Vectors(embedder)


def models_of(pool: PostgresPool, projections: Sequence[Projection]) -> PostgresReadModels:
    """Return what writes these projections; where vectors are among them they are made before."""
    makes_vectors = any(each.name == EMBEDDINGS for each in projections)
    vectors = local_vectors() if makes_vectors else None
    return PostgresReadModels(pool) if vectors is None else EmbeddedReadModels(pool, vectors)


def most_records(projections: Sequence[Projection], otherwise: int) -> int:
    """Return how many records a poll of these projections may have."""
    return MOST_RECORDS if any(each.name == EMBEDDINGS for each in projections) else otherwise


async def has_vectors(pool: PostgresPool) -> bool:
    """Return whether Postgres can hold vectors, once it has been asked to."""
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT agentjournal_internal.make_embeddings()")
        row = await cursor.fetchone()
        return row is not None and bool(row[0])
