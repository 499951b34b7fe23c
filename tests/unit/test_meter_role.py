"""The meter's role: it goes on whatever is away, and forgets no alert while it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agentjournal.alerts import Alert
from agentjournal.errors import Unavailable
from agentjournal.ids import Partition
from agentjournal.rates import Rates
from consumers.meter import MeterPace, MeterPorts, MeterRole
from consumers.watch import Watch
from streams.meter import Meter
from streams.meter_thresholds import Thresholds
from streams.ports import OutageError
from tests.servers import eventually
from tests.unit.metered import Writer, started


@dataclass
class Reader:
    """Reads nothing; whether it starts, and what ends it, the test says."""

    starts: bool = True
    joins: bool = True
    failure: BaseException | None = None
    reading: Collection[Partition] = (Partition(0),)
    behind: Collection[Partition] = ()
    stopped: bool = False

    async def start(self) -> None:
        if not self.starts:
            raise OutageError("Kafka is away")
        if not self.joins:
            await asyncio.Event().wait()

    async def stop(self) -> None:
        self.stopped = True


@dataclass
class Scene:
    """A role, and all that it talks to."""

    meter: Meter = field(default_factory=lambda: Meter(Thresholds(runaway_loop=2)))
    readers: list[Reader] = field(default_factory=lambda: [Reader()])
    made: list[Reader] = field(default_factory=list[Reader])
    redis_away: bool = False
    kafka_away: bool = False
    postgres_away: bool = False
    published: int = 0
    beats: int = 0
    withdrawn: bool = False
    left: bool = False
    written: list[Alert] = field(default_factory=list[Alert])
    member: str = "here:1:a"

    def new_reader(self, _: Meter) -> Reader:
        self.made.append(self.readers.pop(0))
        return self.made[-1]

    async def publish(self, member: str, _: Rates) -> None:
        assert member == self.member
        if self.redis_away:
            raise Unavailable("Redis", "away")
        self.published += 1

    async def withdraw(self, member: str) -> None:
        self.withdrawn = member == self.member

    async def write(self, alerts: Sequence[Alert], /) -> None:
        if self.kafka_away:
            raise Unavailable("Kafka", "away")
        self.written += alerts

    async def heartbeat(self) -> list[str]:
        if self.postgres_away:
            raise OutageError("Postgres is away")
        self.beats += 1
        return [self.member]

    async def leave(self) -> None:
        self.left = True


@asynccontextmanager
async def running(scene: Scene) -> AsyncGenerator[Callable[[], None]]:
    """Run the role; it ends well."""
    stop = asyncio.Event()
    ports = MeterPorts(scene.new_reader, scene, scene, scene, Watch("meter"))
    pace = MeterPace(publish_s=0.001, heartbeat_s=0.001, outage_pause_s=0.001)
    task = asyncio.create_task(MeterRole(ports, scene.meter, pace).run(stop))
    yield stop.set
    stop.set()
    async with asyncio.timeout(10):
        await task


async def test_what_is_counted_is_shown_until_it_is_stopped() -> None:
    scene = Scene()
    async with running(scene):
        await eventually(lambda: scene.published > 2 and scene.beats)
    assert scene.made[0].stopped
    assert scene.withdrawn
    assert scene.left


async def test_a_reader_that_does_not_start_or_ends_is_followed_by_another() -> None:
    scene = Scene(readers=[Reader(starts=False), Reader(failure=RuntimeError("gone")), Reader()])
    async with running(scene):
        await eventually(lambda: scene.published)
    assert [reader.stopped for reader in scene.made] == [True] * 3


async def test_it_is_stopped_while_its_reader_joins() -> None:
    scene = Scene(readers=[Reader(joins=False)])
    async with running(scene):
        await eventually(lambda: scene.made)
    assert scene.made[0].stopped
    assert not scene.published


async def test_a_reader_that_does_not_read_yet_shows_nothing() -> None:
    idle = Reader(reading=())
    scene = Scene(readers=[idle])
    async with running(scene):
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert (scene.published, scene.beats) == (0, 0)
        idle.reading = (Partition(0),)
        await eventually(lambda: scene.published)


async def test_alerts_wait_for_redis_and_kafka_and_each_is_written_once() -> None:
    scene = Scene(redis_away=True, kafka_away=True)
    write = Writer()
    async with running(scene):
        for number in range(2):
            scene.meter.take(write.of(started(f"c-{number}")))
        await eventually(lambda: scene.beats > 2)
        scene.redis_away = False
        await eventually(lambda: scene.published > 2)
        assert not scene.written
        scene.kafka_away = False
        await eventually(lambda: scene.written)
        shown = scene.published
        await eventually(lambda: scene.published > shown + 2)
    assert [alert.kind for alert in scene.written] == ["runaway_loop"]


async def test_it_goes_on_without_postgres() -> None:
    scene = Scene(postgres_away=True)
    async with running(scene):
        await eventually(lambda: scene.published > 2)
        scene.postgres_away = False
        await eventually(lambda: scene.beats)
