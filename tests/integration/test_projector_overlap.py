"""Folding a poll while the last one is being stored: what is looked up meanwhile is right."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal.envelope import Recorded
from agentjournal.ids import Position
from agentjournal.settings import Settings
from consumers.postgres_pool import PostgresPool
from consumers.postgres_read_models import PostgresReadModels
from consumers.projector import FoldedBatch, Polled, StartOverError
from projections import postgres_store as store
from projections.conversation import CONVERSATION
from projections.folding import ProjectionFold
from tests.database import PARTITION
from tests.support import Stream, request, said, session_in, started

pytestmark = pytest.mark.stack


def polls() -> list[Polled]:
    """Return polls of one partition, each with the two events of another session."""
    events: list[Recorded] = []
    for number in range(3):
        stream = Stream(session_in(PARTITION, number))
        stream.position = len(events)
        stream.accept(request(started(), said("x")))
        events += stream.recorded
    placed = [e._replace(position=Position(at)) for at, e in enumerate(events)]
    return [{PARTITION: placed[at : at + 2]} for at in range(0, len(placed), 2)]


async def folded(models: PostgresReadModels, fold: ProjectionFold, polled: Polled) -> FoldedBatch:
    await models.load_contexts(fold, polled)
    [batch] = await models.fold([fold], polled)
    return batch


async def test_a_stream_is_looked_up_without_waiting_for_the_batch_that_is_being_stored(
    fresh: Settings,
) -> None:
    first, second, third = polls()
    async with PostgresPool(fresh, name="test") as pool:
        models, fold = PostgresReadModels(pool), ProjectionFold(CONVERSATION)
        await models.load_places(fold, [PARTITION])
        on_its_way = await folded(models, fold, first)
        async with pool.connection() as storing, storing.transaction():
            await store.lock_places(storing, CONVERSATION, [PARTITION])
            async with asyncio.timeout(5):
                await models.load_contexts(fold, second)
        await models.store([on_its_way])
        await models.load_contexts(fold, second)  # and once it is stored
        await models.store([await folded(models, fold, second)])
        assert {p: place.next_position for p, place in fold.stored.items()} == {PARTITION: 4}

        # Where another owner went past, what is stored may be of later events.
        other = ProjectionFold(CONVERSATION)
        await models.load_places(other, [PARTITION])
        await models.store([await folded(models, other, third)])
        with pytest.raises(StartOverError):
            await models.load_contexts(fold, third)
