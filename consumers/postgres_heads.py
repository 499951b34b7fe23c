"""Heads and checkpoints in Postgres: every statement but taking holds only under the epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.sql_statements import read_statements
from consumers.postgres_pool import PostgresPool
from streams.head import Head
from streams.ports import Checkpoint, OwnershipLostError, Place

_SQL = read_statements("consumers", "sequencer.sql")
# Heads of a statement. Nothing else of the process goes on while its arguments are written out:
# 5 ms or so, where thousands of heads would keep every append waiting for a tenth of a second.
_AT_ONCE = 256


class PostgresHeads:
    """The sequencer's saved state. Every call raises OutageError when Postgres is away."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def owners(self) -> Mapping[Partition, str]:
        """Return who says to own each partition; empty text: nobody."""
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_SQL["owners"])
            return {Partition(row[0]): row[1] for row in await cursor.fetchall()}

    async def take(self, partition: Partition, owner: str) -> Checkpoint:
        """Raise the epoch by compare-and-set and return the checkpoint as it was saved.

        Raises OwnershipLostError when another took it in the same moment.
        """
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_SQL["seen"], {"partition": partition})
            seen = await cursor.fetchone()
            if seen is None:
                raise IntegrityError(
                    f"partition {partition} has no checkpoint: run `agentjournal init`"
                )
            cursor = await connection.execute(
                _SQL["take"], {"partition": partition, "owner": owner, "epoch": seen[0]}
            )
            row = await cursor.fetchone()
        if row is None:
            raise OwnershipLostError(f"partition {partition} was taken by another in this moment")
        epoch, rules, next_input, input_digest, next_output, output_digest = row
        return Checkpoint(
            partition,
            epoch,
            rules,
            Place(Position(next_input), input_digest),
            Place(Position(next_output), output_digest),
        )

    async def load(
        self, checkpoint: Checkpoint, streams: Iterable[StreamId]
    ) -> Mapping[StreamId, Head | None]:
        """Return the heads of `streams`, None for those that are empty.

        Raises OwnershipLostError when the epoch has passed.
        """
        wanted = {
            "streams": list(streams),
            "partition": checkpoint.partition,
            "epoch": checkpoint.epoch,
        }
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_SQL["load"], wanted, binary=True)
            rows = await cursor.fetchall()
        if not rows:
            raise OwnershipLostError(f"partition {checkpoint.partition} has another owner")
        return {row[0]: None if row[1] is None else Head(*row[1:]) for row in rows}

    async def save(
        self, saves: Sequence[tuple[Checkpoint, Mapping[StreamId, Head]]]
    ) -> set[Partition]:
        """Save checkpoints and heads in one transaction; return the partitions that are lost.

        What was lost is left as its new owner has it; the rest is saved.
        """
        async with self._pool.connection() as connection, connection.transaction():
            cursor = await connection.execute(
                _SQL["save_checkpoints"], _checkpoint_arrays([c for c, _ in saves])
            )
            kept = {Partition(row[0]) for row in await cursor.fetchall()}
            rows = [
                (stream, checkpoint.partition, head)
                for checkpoint, heads in saves
                if checkpoint.partition in kept
                for stream, head in sorted(heads.items())
            ]
            for at in range(0, len(rows), _AT_ONCE):
                some = _head_arrays(rows[at : at + _AT_ONCE])
                await connection.execute(_SQL["save_heads"], some)
        return {checkpoint.partition for checkpoint, _ in saves} - kept

    async def drop(self, checkpoint: Checkpoint, mark: bytes) -> None:
        """Delete a partition's heads, and put `mark` where its output digest was.

        Raises OwnershipLostError when the epoch has passed.
        """
        ours = {"partition": checkpoint.partition, "epoch": checkpoint.epoch}
        async with self._pool.connection() as connection, connection.transaction():
            cursor = await connection.execute(_SQL["rewind"], {**ours, "mark": mark})
            if await cursor.fetchone() is None:
                raise OwnershipLostError(f"partition {checkpoint.partition} has another owner")
            await connection.execute(_SQL["drop_heads"], ours)

    async def release(self, checkpoint: Checkpoint) -> None:
        """Say that nobody owns the partition, so that the next may take it at once."""
        ours = {"partition": checkpoint.partition, "epoch": checkpoint.epoch}
        async with self._pool.connection() as connection:
            await connection.execute(_SQL["release"], ours)


def _checkpoint_arrays(checkpoints: Sequence[Checkpoint]) -> dict[str, list[Any]]:
    return {
        "partitions": [c.partition for c in checkpoints],
        "epochs": [c.epoch for c in checkpoints],
        "next_inputs": [c.input.next for c in checkpoints],
        "input_digests": [c.input.digest for c in checkpoints],
        "next_outputs": [c.output.next for c in checkpoints],
        "output_digests": [c.output.digest for c in checkpoints],
    }


def _head_arrays(rows: Sequence[tuple[StreamId, Partition, Head]]) -> dict[str, list[Any]]:
    arrays: dict[str, list[Any]] = {
        "stream": [stream for stream, _, _ in rows],
        "partition": [partition for _, partition, _ in rows],
    }
    for index, name in enumerate(Head._fields):
        arrays[name] = [head[index] for _, _, head in rows]
    return arrays
