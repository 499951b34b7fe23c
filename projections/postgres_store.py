"""Rows and checkpoints of projections in Postgres: both change in one transaction, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, sql

from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId
from projections.folding import Folded, Parked, Place, ProjectionFold
from projections.projection import Context, Projection, read_sql
from projections.rows import Changes, Table

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
        fold.places[Partition(partition)] = Place(Position(next_position), order, found, read_until)
    if replaced := set(partitions) - set(fold.places):
        raise PlaceLostError(replaced)
    cursor = await connection.execute(_SQL["parked"], ours)
    fold.noted |= {row[0] for row in await cursor.fetchall()}
    fold.parked |= fold.noted


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


async def write(
    connection: AsyncConnection[Any],
    projection: Projection,
    before: Mapping[Partition, Place],
    folded: Folded,
) -> None:
    """Advance the checkpoints and write the rows, inside the caller's transaction.

    Raises PlaceLostError when a checkpoint is not at its place of `before`.
    """
    await advance(connection, projection, before, folded.places)
    await _write_rows(connection, projection, folded.changes)
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


async def advance(
    connection: AsyncConnection[Any],
    projection: Projection,
    before: Mapping[Partition, Place],
    places: Mapping[Partition, Place],
) -> None:
    """Move checkpoints by compare-and-set. Raises PlaceLostError."""
    partitions = sorted(places)
    cursor = await connection.execute(
        _SQL["advance"],
        {
            **_named(projection),
            "partition": partitions,
            "from_position": [before[p].next_position for p in partitions],
            "next_position": [places[p].next_position for p in partitions],
            "input_position": [places[p].order[0] for p in partitions],
            "batch_index": [places[p].order[1] for p in partitions],
            "record_hash": [places[p].hash for p in partitions],
            "read_until": [places[p].read_until for p in partitions],
        },
    )
    moved = {Partition(row[0]) for row in await cursor.fetchall()}
    if lost := set(partitions) - moved:
        raise PlaceLostError(lost)


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
    await _write_rows(connection, projection, changes)
    await connection.execute(_SQL["unpark"], {**_named(projection), "stream": stream})


async def park(connection: AsyncConnection[Any], projection: Projection, parked: Parked) -> None:
    """Note that a stream stopped, and why."""
    row = parked._asdict() | {"error": parked.error[:_MOST_ERROR].replace("\0", "\u2400")}
    await connection.execute(_SQL["park"], {**_named(projection), **row})


async def _write_rows(
    connection: AsyncConnection[Any], projection: Projection, changes: Changes
) -> None:
    for table in projection.tables:
        if table.insert_only and not projection.is_live:
            await _copy_rows(connection, projection, table, changes.inserted(table.name))
            continue
        for arrays in changes.arrays(table.name):
            await connection.execute(projection.sql[table.name], arrays, binary=True)


async def _copy_rows(
    connection: AsyncConnection[Any],
    projection: Projection,
    table: Table,
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Add rows to a table that has no indexes yet and no readers, in half the time of INSERT."""
    name = f"agentjournal_internal.{projection.table_name(table)}"
    columns = list(table.columns)
    cursor = await connection.execute(_SQL["types"], {"table": name, "columns": columns})
    types = [row[0] for row in await cursor.fetchall()]
    times = [n for n, each in enumerate(types) if each == "timestamptz"]
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(*name.split(".")), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    async with connection.cursor() as writing, writing.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            values = list(row)
            for n in times:
                values[n] = datetime.fromisoformat(values[n])
            await copy.write_row(values)


def _named(projection: Projection) -> dict[str, Any]:
    return {"projection": projection.name, "generation": projection.generation}
