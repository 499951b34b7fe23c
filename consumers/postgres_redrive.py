"""Redriving: a stream that a projection stopped at is applied again, up to where the others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import psycopg

from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError
from agentjournal.ids import Position, StreamId
from consumers.postgres_pool import PostgresPool, is_trouble, reason_of
from projections import postgres_store as store
from projections.folding import FOLD_ERRORS, Parked
from projections.projection import EMPTY, GapError, Projection, check_chain
from projections.rows import Changes
from streams.ports import OutageError

_ATTEMPTS = 20  # each reads what came meanwhile: the projector is not that much faster


class Redriven(NamedTuple):
    """What became of a parked stream: how many events were applied, or why it is still parked."""

    projection: str
    stream: StreamId
    version: int  # it stopped at
    applied: int
    error: str | None


class StreamsReader(Protocol):
    """Reads the canonical log for some streams of a partition, from where it stopped on."""

    async def read_on(self) -> None: ...

    @property
    def end(self) -> Position:
        """The position that was read up to."""
        ...

    def events(self, stream: StreamId) -> Sequence[Recorded]: ...


async def parked_streams(
    pool: PostgresPool, projections: Sequence[Projection]
) -> Mapping[str, Sequence[Parked]]:
    """Return what is parked, by projection."""
    async with pool.connection() as connection:
        return {
            projection.name: await store.all_parked(
                connection, await store.live(connection, projection)
            )
            for projection in projections
        }


async def redrive(
    pool: PostgresPool, projection: Projection, parked: Parked, log: StreamsReader
) -> Redriven:
    """Apply a parked stream up to the projection's checkpoint, and let it go on from there.

    Rows and the parked row change in one transaction, under the lock of the checkpoint: a projector
    that left the stream's events out meanwhile notices and reads again. What still cannot be
    applied changes nothing. Raises OutageError when Postgres is away.
    """
    for _ in range(_ATTEMPTS):
        await log.read_on()
        try:
            async with pool.connection() as connection, connection.transaction():
                live = await store.live(connection, projection)
                places = await store.lock_places(connection, live, [parked.partition])
                if places[parked.partition] > log.end:
                    continue
                if not await store.is_parked(connection, live, parked.stream):
                    return Redriven(projection.name, parked.stream, parked.version, 0, None)
                return await _apply(connection, live, parked, log, places[parked.partition])
        except store.PlaceLostError:
            continue  # it was replaced by another generation just now
        except psycopg.Error as error:
            if is_trouble(error):
                raise
            return _still_parked(projection, parked, reason_of(error))
        except (GapError, IntegrityError, *FOLD_ERRORS) as error:
            return _still_parked(projection, parked, str(error))
    raise OutageError(f"partition {parked.partition}: the projector is always ahead, try again")


async def _apply(
    connection: psycopg.AsyncConnection[object],
    projection: Projection,
    parked: Parked,
    log: StreamsReader,
    until: Position,
) -> Redriven:
    context, changes, applied = EMPTY, Changes(projection.tables), 0
    if projection.every_event:
        found = await store.load_contexts(connection, projection, [parked.stream])
        context = found.get(parked.stream, EMPTY)
    for recorded in log.events(parked.stream):
        is_due = recorded.version >= parked.version and recorded.position < until
        if not is_due or not projection.reads(recorded):
            continue
        if projection.every_event:
            check_chain(recorded, context)
        context = projection.fold(recorded, context, changes)
        applied += 1
    await store.unpark(connection, projection, parked.stream, changes)
    return Redriven(projection.name, parked.stream, parked.version, applied, None)


def _still_parked(projection: Projection, parked: Parked, error: str) -> Redriven:
    return Redriven(projection.name, parked.stream, parked.version, 0, error)
