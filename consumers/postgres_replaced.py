"""Dropping the generations of read models that others took the place of."""

from __future__ import annotations

from collections.abc import Sequence

from consumers.postgres_pool import PostgresPool
from projections import postgres_generations as generations
from projections.projection import Projection


async def drop_replaced(
    pool: PostgresPool, projections: Sequence[Projection]
) -> Sequence[tuple[str, int]]:
    """Drop the generations that were replaced; return the name and number of each."""
    dropped: list[tuple[str, int]] = []
    async with pool.connection() as connection:
        for projection in projections:
            for each in await generations.generations(connection, projection):
                if each.state == "replaced":
                    await generations.drop(connection, projection, each.number)
                    dropped.append((projection.name, each.number))
    return dropped
