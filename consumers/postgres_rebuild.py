"""Building read models anew beside the live ones, comparing them, and switching readers to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import psycopg
from psycopg.errors import DeadlockDetected, LockNotAvailable

from agentjournal.errors import AgentJournalError, IntegrityError
from agentjournal.ids import Partition, Position
from agentjournal.partitions import PARTITIONS
from consumers.capped_log import PausableLog
from consumers.postgres_pool import PostgresPool
from consumers.postgres_read_models import PostgresReadModels
from consumers.rebuilding import Build, Filler
from projections import postgres_generations as generations
from projections import postgres_store as store
from projections.folding import Place, ProjectionFold
from projections.postgres_comparison import Difference, compare
from projections.projection import Projection

FAULT_POINTS = ("begun", "filled", "indexed", "compared", "held", "renamed", "switched")

_ALL = [Partition(partition) for partition in range(PARTITIONS)]
_LOOK_S = 0.1
_PROGRESS_S = 0.5
_HOLD_S = 2.0  # for so long the live projector waits: less than a transaction may idle
_LOCK_MS = 200  # for so long readers may have to wait behind us
_NEAR = 2_000  # events that may be left to read when the live projector has to wait
_PAUSE_S = 1.0  # before trying again to get hold of the views

Phase: TypeAlias = Literal["reading", "indexing", "comparing", "waiting for readers"]
Report: TypeAlias = Callable[[Phase, int, int], None]  # events read, events to read


class RebuildRunning(AgentJournalError):
    """Another process builds this read model: wait for it, or stop it."""

    def __init__(self, projection: str) -> None:
        super().__init__(f"{projection} is being built by another process")
        self.projection = projection


class LogWithEnd(PausableLog, Protocol):
    """A log that tells where it ends."""

    async def end(self, partition: Partition) -> Position: ...


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What became of a read model; `differences` is None when there was nothing to compare with."""

    projection: str
    generation: int
    events: int
    differences: Sequence[Difference] | None
    switched: bool


class _BusyError(Exception):
    """The live projector or readers are in the way: try again."""


@dataclass(slots=True)
class _Pair:
    """A read model as it is live, and as it is built."""

    live: Projection
    building: Projection
    is_comparable: bool  # the same code made it, from this log


@dataclass(slots=True)
class Rebuild:
    """One run: all projections are filled from one reading of the log."""

    pool: PostgresPool
    log: LogWithEnd
    report: Report = lambda _phase, _done, _total: None
    fault: Callable[[str], None] = lambda _: None
    filler: Filler | None = None  # for what is a lot to read
    models: PostgresReadModels | None = None  # that write, where it is more than rows
    _build: Build = field(init=False)
    _pairs: list[_Pair] = field(default_factory=list[_Pair])

    def __post_init__(self) -> None:
        self._build = Build(self.log, self.models or PostgresReadModels(self.pool))

    async def run(self, projections: Sequence[Projection], *, check: bool) -> Sequence[Rebuilt]:
        """Build, compare and switch; with `check` compare only, and drop what was built.

        What was begun and interrupted goes on where it was. Raises RebuildRunning,
        OnlyParkedInNewError, OutageError, IntegrityError when the log forks.
        """
        async with self.pool.connection() as connection:
            for each in projections:
                if not await generations.lock_name(connection, each):
                    raise RebuildRunning(each.name)
            try:
                self._pairs = [await self._begin(connection, each) for each in projections]
                self.fault("begun")
                return await self._run(connection, check=check)
            finally:
                try:
                    await self._build.stop()
                finally:
                    await connection.execute("SELECT pg_advisory_unlock_all()")

    async def _begin(
        self, connection: psycopg.AsyncConnection[Any], projection: Projection
    ) -> _Pair:
        live = await store.live(connection, projection)
        known = await generations.generations(connection, projection)
        digests = {each.digest for each in known if each.state == "live"}
        is_comparable = digests <= {projection.digest}
        for partition, place in (await _places(connection, live)).items():
            try:
                await self.log.check(partition, place.next_position, place.hash)
            except IntegrityError:
                is_comparable = False  # it was made from another log
        return _Pair(live, await generations.begin(connection, projection), is_comparable)

    async def _run(
        self, connection: psycopg.AsyncConnection[Any], *, check: bool
    ) -> Sequence[Rebuilt]:
        await self._fill(connection)
        self.fault("filled")
        self.report("indexing", 0, 0)
        for pair in self._pairs:
            await generations.make_indexes(connection, pair.building)
        self.fault("indexed")
        return [await self._finish(connection, pair, check=check) for pair in list(self._pairs)]

    async def _fill(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Fill the tables up to where the live ones are by then."""
        caps = await self._raise_caps(connection)
        if self.filler is not None and await self._left(connection, caps) >= self.filler.least:
            await self._fill_beside(connection, self.filler, caps)
        await self._catch_up(connection)
        await self._build.stop()

    async def _catch_up(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Come near to the live ones while nobody waits for it."""
        while await self._left(connection, await self._raise_caps(connection)) > _NEAR:
            self._start()
            await self._look_again()

    async def _fill_beside(
        self,
        connection: psycopg.AsyncConnection[Any],
        filler: Filler,
        caps: Mapping[Partition, Position],
    ) -> None:
        filling = asyncio.create_task(filler.fill([pair.building for pair in self._pairs], caps))
        try:
            while not (await asyncio.wait([filling], timeout=_PROGRESS_S))[0]:
                await self._left(connection, caps)
        finally:
            if not filling.done():
                filling.cancel()
            await asyncio.gather(filling, return_exceptions=True)
        filling.result()

    async def _left(
        self, connection: psycopg.AsyncConnection[Any], caps: Mapping[Partition, Position]
    ) -> int:
        """Return how many events are left to read by the one that has read least; report it."""
        places = await store.positions(connection, [pair.building for pair in self._pairs])
        done, total = min(sum(each.values()) for each in places), sum(caps.values())
        self.report("reading", done, total)
        return total - done

    def _start(self) -> None:
        self._build.start([pair.building for pair in self._pairs])

    async def _look_again(self) -> None:
        self._build.check()
        await asyncio.sleep(_LOOK_S)

    async def _raise_caps(
        self, connection: psycopg.AsyncConnection[Any]
    ) -> Mapping[Partition, Position]:
        """Let the build read up to where all of the live ones are, or the log ends before that."""
        caps = {partition: await self.log.end(partition) for partition in _ALL}
        live = [pair.live for pair in self._pairs if pair.is_comparable]
        for places in await store.positions(connection, live):
            if not places:
                raise store.PlaceLostError(_ALL)
            for partition, position in places.items():
                caps[partition] = min(caps[partition], position)
        self._build.raise_caps(caps)
        return caps

    async def _finish(
        self, connection: psycopg.AsyncConnection[Any], pair: _Pair, *, check: bool
    ) -> Rebuilt:
        differences = None
        if pair.is_comparable:
            self.report("comparing", 0, 0)
            differences = await self._compared(connection, pair)
        self.fault("compared")
        [places] = await store.positions(connection, [pair.building])
        events = sum(places.values())
        if check:
            await self._build.stop()
            await generations.drop(connection, pair.live, pair.building.generation)
        else:
            await self._catch_up(connection)
            while not await self._switched(pair):
                self.report("waiting for readers", 0, 0)
                await asyncio.sleep(_PAUSE_S)
        self._pairs.remove(pair)
        self.fault("switched")
        return Rebuilt(
            pair.live.name, pair.building.generation, events, differences, switched=not check
        )

    @asynccontextmanager
    async def _level(self, pair: _Pair) -> AsyncGenerator[psycopg.AsyncConnection[Any]]:
        """Hold the live projector while both generations are at the same places.

        The build has ended then. Raises _BusyError when it takes too long.
        """
        async with self.pool.connection() as holding, holding.transaction():
            places = await store.lock_places(holding, pair.live, _ALL)
            if not pair.is_comparable:
                places = {partition: await self.log.end(partition) for partition in _ALL}
            self._build.raise_caps(places)
            try:
                async with asyncio.timeout(_HOLD_S):
                    await self._reach(places, pair)
            except TimeoutError:
                raise _BusyError from None
            await self._build.stop()
            yield holding

    async def _reach(self, places: Mapping[Partition, Position], pair: _Pair) -> None:
        async with self.pool.connection() as connection:
            while True:
                [found] = await store.positions(connection, [pair.building])
                if pair.is_comparable and any(found[p] > places[p] for p in places):
                    raise _BusyError  # another live one was ahead of this: let it come up
                if all(found[p] >= place for p, place in places.items()):
                    return
                self._start()
                await self._look_again()

    async def _compared(
        self, connection: psycopg.AsyncConnection[Any], pair: _Pair
    ) -> Sequence[Difference]:
        """Compare both generations in a snapshot of a moment when they are level."""
        while True:
            await self._catch_up(connection)
            try:
                async with self.pool.connection() as reading, reading.transaction():
                    await reading.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                    async with self._level(pair):
                        parked = {
                            each.stream
                            for generation in (pair.live, pair.building)
                            for each in await store.all_parked(reading, generation)
                        }  # the snapshot is taken here
                    return await compare(reading, pair.live, pair.building, parked)
            except _BusyError:
                await self._look_again()

    async def _switched(self, pair: _Pair) -> bool:
        """Switch readers to the new generation; False when they are in the way."""
        try:
            async with self._level(pair) as holding:
                self.fault("held")
                await generations.check_parked(holding, pair.live, pair.building)
                await holding.execute(f"SET LOCAL lock_timeout = {_LOCK_MS}".encode())
                try:
                    await generations.switch(holding, pair.live, pair.building)
                except (LockNotAvailable, DeadlockDetected):
                    raise _BusyError from None
                self.fault("renamed")
        except _BusyError:
            self._start()
            return False
        return True


async def _places(
    connection: psycopg.AsyncConnection[Any], projection: Projection
) -> Mapping[Partition, Place]:
    fold = ProjectionFold(projection)
    await store.load_places(connection, fold, _ALL)
    return fold.places
