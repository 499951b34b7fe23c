"""All projections of a process in one Postgres transaction a poll."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

import psycopg
import structlog

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition
from consumers.postgres_pool import PostgresPool, is_trouble, reason_of
from consumers.projector import FoldedBatch, PoisonedBatchError, Polled, StartOverError
from projections import postgres_store as store
from projections.folding import News, Parked, PoisonError, ProjectionFold
from projections.postgres_rows import copy_rows, merge_rows
from projections.projection import Projection

_LOG = structlog.get_logger()

_Connection: TypeAlias = psycopg.AsyncConnection[object]


class PostgresReadModels:
    """Writes folded batches. Every call raises OutageError when Postgres is away."""

    def __init__(self, pool: PostgresPool, fault: Callable[[str], None] = lambda _: None) -> None:
        self._pool, self._fault = pool, fault

    async def register(self, projections: Sequence[Projection]) -> Sequence[Projection]:
        """Note what the projections mean; return them as the generations that are to be written.

        Raises IntegrityError when they meant something else.
        """
        async with self._pool.connection() as connection:
            return [await store.register(connection, projection) for projection in projections]

    async def load_places(self, fold: ProjectionFold, partitions: Sequence[Partition]) -> None:
        """Put in the checkpoints of `partitions`.

        Raises StartOverError when the generation was replaced.
        """
        try:
            async with self._pool.connection() as connection:
                await store.load_places(connection, fold, partitions)
        except store.PlaceLostError as lost:
            raise StartOverError(str(lost)) from lost

    async def load_contexts(self, fold: ProjectionFold, polled: Polled) -> None:
        """Put in the contexts that folding `polled` needs.

        Raises StartOverError when another owner was faster.
        """
        missing = fold.missing([recorded for batch in polled.values() for recorded in batch])
        if not missing:
            return
        partitions = [partition for partition in fold.places if partition in polled]
        try:
            async with self._pool.connection() as connection:
                found = await store.load_contexts_at(connection, fold, partitions, missing)
        except store.PlaceLostError as lost:
            raise StartOverError(str(lost)) from lost
        fold.put(missing, found)

    async def fold(self, folds: Sequence[ProjectionFold], polled: Polled) -> Sequence[FoldedBatch]:
        """Fold a poll in memory. Raises PoisonError for an event that cannot be folded."""
        news, batches = News(), list[FoldedBatch]()
        for each in folds:
            batches.append(FoldedBatch(each, dict(each.places), each.fold(polled, news)))
            await asyncio.sleep(0)  # the transaction of the last poll must not wait for all of them
        self._fault("folded")
        return batches

    async def store(self, batches: Sequence[FoldedBatch]) -> None:
        """Store what was folded, in one transaction.

        Raises PoisonedBatchError when Postgres refuses a row: nothing of the poll is stored then.
        Raises StartOverError when another owner was faster.
        """
        try:
            async with self._pool.connection() as connection, connection.transaction():
                self._fault("begun")
                await self._write(connection, batches)
                self._fault("written")
        except store.PlaceLostError as lost:
            raise StartOverError(str(lost)) from lost
        except psycopg.Error as error:
            raise PoisonedBatchError(reason_of(error)) from error
        for fold, _, folded in batches:
            fold.noted |= {parked.stream for parked in folded.parked}
            fold.stored |= folded.places
        self._fault("committed")

    async def _write(self, connection: _Connection, batches: Sequence[FoldedBatch]) -> None:
        moves = [store.Move(fold.projection, before, f.places) for fold, before, f in batches]
        await store.advance(connection, moves)
        for fold, _, folded in batches:
            await store.check_parked(connection, fold)
            await copy_rows(connection, fold.projection, folded.changes)
        # Postgres works on one statement while the next is encoded, and on all of them while the
        # next poll is folded.
        async with connection.pipeline():
            for fold, _, folded in batches:
                await merge_rows(connection, fold.projection, folded.changes)
                for parked in folded.parked:
                    await store.park(connection, fold.projection, parked)
                self._fault("rows")

    async def replay(self, folds: Sequence[ProjectionFold], polled: Polled) -> None:
        """Store a poll in ever smaller pieces, each under a savepoint, and park the streams of the
        events that cannot be stored.

        Raises StartOverError when another owner was faster.
        """
        try:
            async with self._pool.connection() as connection, connection.transaction():
                for fold in folds:
                    places = {p: place for p, place in fold.places.items() if p in polled}
                    await store.hold_places(connection, fold.projection, places)
                    await store.check_parked(connection, fold)
                    for partition, batch in polled.items():
                        await _replay(connection, fold, partition, batch)
            for fold in folds:
                fold.stored |= fold.places
        except store.PlaceLostError as lost:
            raise StartOverError(str(lost)) from lost


async def _replay(
    connection: _Connection, fold: ProjectionFold, partition: Partition, events: Sequence[Recorded]
) -> None:
    place, parked = fold.places[partition], set(fold.parked)
    try:
        async with connection.transaction():
            await _store(connection, fold, partition, events)
    except (PoisonError, psycopg.Error) as error:
        if isinstance(error, psycopg.Error) and is_trouble(error):
            raise
        fold.places[partition], fold.parked = place, parked
        for recorded in events:
            fold.contexts.pop(recorded.stream, None)
        if len(events) == 1:
            await _park(connection, fold, events[0], error)
            return
        half = len(events) // 2
        await _replay(connection, fold, partition, events[:half])
        await _replay(connection, fold, partition, events[half:])


async def _store(
    connection: _Connection, fold: ProjectionFold, partition: Partition, events: Sequence[Recorded]
) -> None:
    missing = fold.missing(events)
    fold.put(missing, await store.load_contexts(connection, fold.projection, missing))
    before = dict(fold.places)
    await store.write(connection, fold.projection, before, fold.fold({partition: events}))


async def _park(
    connection: _Connection, fold: ProjectionFold, recorded: Recorded, error: Exception
) -> None:
    reason = reason_of(error.__cause__ or error)
    _LOG.error(
        "stream_parked",
        projection=fold.projection.name,
        stream=recorded.stream,
        version=recorded.version,
        kind=type(error.__cause__ or error).__name__,  # its words may quote the payload
    )
    fold.parked.add(recorded.stream)
    await _store(connection, fold, recorded.partition, [recorded])  # only the place moves on
    parked = Parked(recorded.stream, recorded.partition, recorded.version, reason)
    await store.park(connection, fold.projection, parked)
    fold.noted.add(recorded.stream)
