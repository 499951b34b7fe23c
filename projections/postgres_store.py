"""Rows and checkpoints of projections in Postgres: both change in one transaction, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import AsyncConnection

from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId
from projections.folding import Folded, Parked, Place, ProjectionFold
from projections.postgres_rows import write_rows
from projections.projection import Context, Projection, read_sql
from projections.rows import Changes

_SQL = read_sql("store.sql")
_MOST_ERROR = 2_000  # characters of an error that are kept


class PlaceLostError(Exception):
    """A checkpoint is not where this process left it: another works on these partitions."""

    def __init__(self, partitions: Iterable[Partition]) -> None:
        self.partitions = set(partitions)
        super().__init__(f"partitions {sorted(self.partitions)} have another owner")


async def live(connection: AsyncConnection[Any], projection: Projection) -> Projection:
    """Return the projection as the generation that readers see now."""
    cursor = await connection.execute(_SQL["live"], {"projection": projection.name})
    row = await cursor.fetchone()
    return projection.live_as(1 if row is None else row[0])


async def register(connection: AsyncConnection[Any], projection: Projection) -> Projection:
    """Note what the live generation means, or that which is built; return it with its number.

    Raises IntegrityError when the same generation meant something else before.
    """
    if projection.is_live:
        projection = await live(connection, projection)
    ours = {**_named(projection), "digest": projection.digest}
    await connection.execute(_SQL["register"], ours)
    cursor = await connection.execute(_SQL["registered"], ours)
    row = await cursor.fetchone()
    if row is None or row[0] != projection.digest:
        raise IntegrityError(
            f"projection {projection.name}, generation {projection.generation}, was built by other "
            f"code: `agentjournal rebuild {projection.name}` builds it with this"
        )
    return projection


async def load_places(
    connection: AsyncConnection[Any], fold: ProjectionFold, partitions: Sequence[Partition]
) -> None:
    """Put in where the projection is in `partitions`, and which streams are parked.

    Raises PlaceLostError when this generation was replaced.
    """
    ours = {**_named(fold.projection), "partitions": list(partitions)}
    cursor = await connection.execute(_SQL["places"], ours)
    for partition, next_position, input_position, index, found, until in await cursor.fetchall():
        order = (input_position, index)
        read_until = None if until is None else until.isoformat()
        place = Place(Position(next_position), order, found, read_until)
        fold.places[Partition(partition)] = fold.stored[Partition(partition)] = place
    if replaced := set(partitions) - set(fold.places):
        raise PlaceLostError(replaced)
    cursor = await connection.execute(_SQL["parked"], ours)
    fold.noted |= {row[0] for row in await cursor.fetchall()}
    fold.parked |= fold.noted


async def positions(
    connection: AsyncConnection[Any], projections: Sequence[Projection]
) -> Sequence[Mapping[Partition, Position]]:
    """Return the next positions of each projection, in one moment; empty when it was replaced."""
    cursor = await connection.execute(
        _SQL["positions"],
        {
            "projection": [each.name for each in projections],
            "generation": [each.generation for each in projections],
        },
    )
    found: dict[str, dict[Partition, Position]] = {each.name: {} for each in projections}
    for projection, partition, position in await cursor.fetchall():
        found[projection][Partition(partition)] = Position(position)
    return [found[each.name] for each in projections]


async def hold_places(
    connection: AsyncConnection[Any],
    projection: Projection,
    places: Mapping[Partition, Place],
) -> None:
    """Keep checkpoints where they are until the caller's transaction ends.

    What is read of streams under it belongs to these places: read without it, another owner's rows
    would look like a fork. Raises PlaceLostError when a checkpoint is elsewhere already.
    """
    ours = {**_named(projection), "partitions": sorted(places)}
    cursor = await connection.execute(_SQL["lock_places"], ours)
    held = {Partition(row[0]): row[1] for row in await cursor.fetchall()}
    lost = [p for p, place in places.items() if held.get(p) != place.next_position]
    if lost:
        raise PlaceLostError(lost)


async def load_contexts(
    connection: AsyncConnection[Any], projection: Projection, streams: Sequence[StreamId]
) -> Mapping[StreamId, Context]:
    """Return what is stored of `streams`."""
    if not streams:
        return {}
    cursor = await connection.execute(projection.sql["contexts"], {"streams": list(streams)})
    return {row[0]: Context(*row[1:]) for row in await cursor.fetchall()}


async def load_contexts_at(
    connection: AsyncConnection[Any],
    fold: ProjectionFold,
    partitions: Sequence[Partition],
    streams: Sequence[StreamId],
) -> Mapping[StreamId, Context]:
    """Return what is stored of streams that nothing was folded of since the fold's stored places.

    Nothing of them is in a batch that is on its way into the database, so it does not matter
    whether that is seen yet; what another owner stored would look like a fork. Raises
    PlaceLostError then.
    """
    async with connection.transaction():
        # Both are of one moment, and nobody waits for the batch that is being stored.
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        [found] = await positions(connection, [fold.projection])
        contexts = await load_contexts(connection, fold.projection, streams)
    if lost := [p for p in partitions if not fold.may_be_at(p, found.get(p))]:
        raise PlaceLostError(lost)
    return contexts


class Move(NamedTuple):
    """The checkpoints of a projection before and after a batch."""

    projection: Projection
    before: Mapping[Partition, Place]
    after: Mapping[Partition, Place]


async def write(
    connection: AsyncConnection[Any],
    projection: Projection,
    before: Mapping[Partition, Place],
    folded: Folded,
) -> None:
    """Advance the checkpoints and write the rows, inside the caller's transaction.

    Raises PlaceLostError when a checkpoint is not at its place of `before`.
    """
    await advance(connection, [Move(projection, before, folded.places)])
    await write_rows(connection, projection, folded.changes)
    for parked in folded.parked:
        await park(connection, projection, parked)


async def check_parked(connection: AsyncConnection[Any], fold: ProjectionFold) -> None:
    """Check, once the checkpoints are locked, that no parked stream was redriven meanwhile.

    Its events were left out of what is to be stored. Raises PlaceLostError.
    """
    if not fold.noted:
        return
    partitions = list(fold.places)
    ours = {**_named(fold.projection), "partitions": partitions}
    cursor = await connection.execute(_SQL["parked"], ours)
    if fold.noted - {row[0] for row in await cursor.fetchall()}:
        raise PlaceLostError(partitions)


async def advance(connection: AsyncConnection[Any], moves: Sequence[Move]) -> None:
    """Move checkpoints by compare-and-set, all in one statement. Raises PlaceLostError."""
    given = [
        (move.projection, partition, move.before[partition], move.after[partition])
        for move in moves
        for partition in sorted(move.after)
    ]
    cursor = await connection.execute(
        _SQL["advance"],
        {
            "projection": [projection.name for projection, *_ in given],
            "generation": [projection.generation for projection, *_ in given],
            "partition": [partition for _, partition, *_ in given],
            "from_position": [before.next_position for *_, before, _ in given],
            "next_position": [after.next_position for *_, after in given],
            "input_position": [after.order[0] for *_, after in given],
            "batch_index": [after.order[1] for *_, after in given],
            "record_hash": [after.hash for *_, after in given],
            "read_until": [after.read_until for *_, after in given],
        },
    )
    moved = {(row[0], Partition(row[1])) for row in await cursor.fetchall()}
    if lost := {(projection.name, partition) for projection, partition, *_ in given} - moved:
        raise PlaceLostError(partition for _, partition in lost)


async def all_parked(connection: AsyncConnection[Any], projection: Projection) -> Sequence[Parked]:
    """Return the streams that the projection stopped at, by partition."""
    cursor = await connection.execute(_SQL["all_parked"], _named(projection))
    return [Parked(*row) for row in await cursor.fetchall()]


async def lock_places(
    connection: AsyncConnection[Any], projection: Projection, partitions: Sequence[Partition]
) -> Mapping[Partition, Position]:
    """Return the next positions; nobody moves them until the transaction ends.

    Raises PlaceLostError when this generation was replaced.
    """
    ours = {**_named(projection), "partitions": list(partitions)}
    cursor = await connection.execute(_SQL["lock_places"], ours)
    held = {Partition(row[0]): Position(row[1]) for row in await cursor.fetchall()}
    if replaced := set(partitions) - set(held):
        raise PlaceLostError(replaced)
    return held


async def is_parked(
    connection: AsyncConnection[Any], projection: Projection, stream: StreamId
) -> bool:
    """Return whether the projection stopped at a stream."""
    cursor = await connection.execute(_SQL["is_parked"], {**_named(projection), "stream": stream})
    return await cursor.fetchone() is not None


async def unpark(
    connection: AsyncConnection[Any], projection: Projection, stream: StreamId, changes: Changes
) -> None:
    """Write the rows that a parked stream was short of, and let it go on."""
    await write_rows(connection, projection, changes)
    await connection.execute(_SQL["unpark"], {**_named(projection), "stream": stream})


async def park(connection: AsyncConnection[Any], projection: Projection, parked: Parked) -> None:
    """Note that a stream stopped, and why."""
    row = parked._asdict() | {"error": parked.error[:_MOST_ERROR].replace("\0", "\u2400")}
    await connection.execute(_SQL["park"], {**_named(projection), **row})


def _named(projection: Projection) -> dict[str, Any]:
    return {"projection": projection.name, "generation": projection.generation}
