"""The promoter looks for sessions without looking at all of them, and goes on whatever one does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.errors import StreamDeleted, Unavailable
from agentjournal.events import PromotionCompleted
from agentjournal.ids import Partition, StreamId, Version, stream_id
from agentjournal.memory.promoter import Done
from agentjournal.memory.promoting import Promotion
from agentjournal.partitions import PARTITIONS, partition_of
from consumers.promoter import PromoterOptions, PromoterPorts, PromoterRole
from consumers.promoter_places import Due, Place, moved, of_late, of_old
from tests.promoted import PLAIN

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
IDLE_S = 1_800.0
QUICK = PromoterOptions(scan_every_s=0, heartbeat_s=0, outage_pause_s=0, page=2, at_once=2)
ONE = Partition(1)


def due(name: str, hour: datetime = NOON) -> Due:
    stream = stream_id("session", "acme", name)
    return Due(stream, Version(3), partition_of(stream.encode()), hour)


def at(hours: float) -> datetime:
    return NOON + timedelta(hours=hours)


def test_a_partition_nobody_looked_at_is_looked_at_lately_and_from_the_beginning() -> None:
    new, seen = Place(ONE, NOON, None), Place(Partition(2), NOON, at(-0.1))
    [(_, lately), (_, of_seen)] = of_late([new, seen], IDLE_S)
    assert at(-2) < lately <= at(-1.5)  # idle for half an hour, and an hour more
    assert of_seen == at(-0.1)
    assert [partition for partition, _ in of_old([new, seen], IDLE_S)] == [ONE]


@given(st.floats(-100, 0), st.one_of(st.none(), st.floats(-100, 0)), st.integers(0, 2))
def test_a_place_never_moves_past_a_session_that_may_still_be_due(
    last: float, looked: float | None, found: int
) -> None:
    place = Place(ONE, NOON, None if looked is None else at(looked))
    sessions = [due(f"s-{n}", at(last)) for n in range(found)]
    until = moved(place, sessions, 2, IDLE_S)
    if until is not None:
        assert until <= NOON - timedelta(seconds=IDLE_S)
        assert place.looked_until is None or until > place.looked_until
        assert found < 2 or until <= sessions[-1].active_hour  # a full page: there may be more


@dataclass(slots=True)
class Kept:
    """The read models, with sessions that are due until they are noted."""

    sessions: dict[StreamId, Due]
    longest_idle_s: float = IDLE_S
    notes: dict[StreamId, str] = field(default_factory=dict[StreamId, str])
    places_kept: dict[Partition, datetime] = field(default_factory=dict[Partition, datetime])

    async def places(self, partitions: Sequence[Partition]) -> list[Place]:
        return [Place(each, NOON, self.places_kept.get(each)) for each in partitions]

    async def due(self, since: Sequence[tuple[Partition, datetime]], most: int) -> list[Due]:
        found: list[Due] = []
        for partition, begin in since:
            here = [
                each
                for stream, each in self.sessions.items()
                if stream not in self.notes
                and each.partition == partition
                and each.active_hour >= begin
            ]
            found += sorted(here, key=lambda each: each.active_hour)[:most]
        return found

    async def looked(self, partition: Partition, until: datetime) -> None:
        self.places_kept[partition] = until

    async def done(self, stream: StreamId, version: Version) -> None:
        self.notes[stream] = f"done {version}"

    async def failed(self, stream: StreamId, version: Version, error: str) -> None:
        self.notes[stream] = f"failed {version} {error}"


@dataclass(slots=True)
class Promotes:
    """What promotes; it raises what is in a session's way, once where a server is away."""

    in_the_way: dict[StreamId, Exception]
    asked: list[StreamId] = field(default_factory=list[StreamId])
    held: dict[StreamId, asyncio.Event] = field(default_factory=dict[StreamId, asyncio.Event])

    async def promote(self, stream: StreamId) -> Done:
        self.asked.append(stream)
        if stream in self.held:
            await self.held[stream].wait()
        error = self.in_the_way.get(stream)
        if isinstance(error, Unavailable):
            del self.in_the_way[stream]
        if error is not None:
            raise error
        completed = PromotionCompleted(
            through_version=2, extractor=PLAIN, learned=0, confirmed=0, superseded=0
        )
        return Done(Promotion("s", completed), Version(4), None)


class Alone:
    """A role of one member."""

    member = "me"
    beats = 0

    async def heartbeat(self) -> list[str]:
        self.beats += 1
        return ["me"]

    async def leave(self) -> None:
        """Leave nobody behind."""


async def run(kept: Kept, promotes: Promotes, options: PromoterOptions = QUICK) -> None:
    """Run a promoter until every session is noted, and every partition was looked at."""
    stop = asyncio.Event()
    role = PromoterRole(PromoterPorts(kept, promotes, Alone()), options)
    running = asyncio.create_task(role.run(stop))
    async with asyncio.timeout(10):
        while len(kept.notes) < len(kept.sessions) or len(kept.places_kept) < PARTITIONS:  # noqa: ASYNC110
            await asyncio.sleep(0)
        stop.set()
        await running


async def test_all_are_promoted_old_ones_too_and_what_fails_holds_up_nobody() -> None:
    late = [due(f"late-{n}", at(-1)) for n in range(5)]
    old = [due(f"old-{n}", at(-1_000 + n)) for n in range(5)]
    sessions = {each.stream: each for each in (*late, *old)}
    in_the_way: dict[StreamId, Exception] = {
        late[0].stream: ValueError("bo\0om \ud800"),
        late[1].stream: StreamDeleted(late[1].stream),
        old[0].stream: Unavailable("Kafka", "it is away"),
    }
    kept, promotes = Kept(sessions), Promotes(in_the_way)
    await run(kept, promotes)
    assert kept.notes.pop(late[0].stream) == "failed 3 ValueError: bo␀om \ufffd"
    assert kept.notes.pop(late[1].stream) == "done 3"
    assert set(kept.notes.values()) == {"done 4"}
    assert set(kept.notes) == set(sessions) - {late[0].stream, late[1].stream}
    assert promotes.asked.count(old[0].stream) == 2  # again, once Kafka was back
    assert promotes.asked.count(late[0].stream) == 1


async def test_one_that_takes_long_holds_up_none_that_ended_together_with_it() -> None:
    together = [due(f"s-{number}") for number in range(20)]
    sessions = {each.stream: each for each in together}
    slow = {each.stream: asyncio.Event() for each in together[:3]}
    assert len({each.partition for each in together}) > 1
    kept, promotes = Kept(sessions), Promotes({}, held=slow)
    whole = replace(QUICK, page=PromoterOptions().page, at_once=4)
    running = asyncio.create_task(run(kept, promotes, whole))
    async with asyncio.timeout(10):
        while len(kept.notes) < 17:  # noqa: ASYNC110 - what is looked at tells nobody
            await asyncio.sleep(0)
    assert not slow.keys() & kept.notes.keys()
    for each in slow.values():
        each.set()
    await running
    assert set(kept.notes) == set(sessions)
    assert len(promotes.asked) == 20  # each once


async def test_who_waits_for_a_promotion_that_takes_long_says_that_it_is_alive() -> None:
    session, alone, stop = due("s"), Alone(), asyncio.Event()

    class Slow(Promotes):
        async def promote(self, stream: StreamId) -> Done:
            begun = alone.beats
            async with asyncio.timeout(10):
                while alone.beats < begun + 5:  # noqa: ASYNC110 - nothing tells of a heartbeat
                    await asyncio.sleep(0)
            stop.set()
            return await Promotes.promote(self, stream)

    kept = Kept({session.stream: session})
    await PromoterRole(PromoterPorts(kept, Slow({}), alone), QUICK).run(stop)
    assert kept.notes == {session.stream: "done 4"}
