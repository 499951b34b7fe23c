"""The janitor decides what to ask for and when it is settled; the log decides what expires."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.alerts import Alert
from agentjournal.ids import Partition, Position, StreamId, Version, stream_id
from agentjournal.limits import ConfiguredLimits
from agentjournal.partitions import partition_of
from agentjournal.requests import content_digest
from consumers.health import RoleHealth
from consumers.janitor import Janitor, JanitorOptions, JanitorPorts
from consumers.janitor_expiry import (
    Asked,
    Idle,
    Progress,
    State,
    Tally,
    expiry_of,
    tally,
    unsettled,
)
from consumers.janitor_limits import (
    Active,
    LimitRow,
    Over,
    Place,
    Untold,
    rows_of,
)
from consumers.watch import Watch
from streams.ports import OutageError

QUICK = JanitorOptions(
    scan_every_s=0,
    look_every_s=0,
    heartbeat_s=0,
    poll_s=0,
    outage_pause_s=0,
    refused_pause_s=60,
)


def idle(name: str, version: int = 3, ttl_s: int = 60) -> Idle:
    stream = stream_id("session", "acme", name)
    return Idle(stream, partition_of(stream.encode()), Version(version), ttl_s)


def test_an_expiry_made_again_asks_for_the_same_of_the_version_that_was_seen() -> None:
    first, again = expiry_of(idle("s")).request, expiry_of(idle("s")).request
    assert (first.append_id, first.expected_version) == ("expire-3", 3)
    assert (again.append_id, content_digest(again.events)) == (
        first.append_id,
        content_digest(first.events),
    )
    [event] = first.events
    assert (event.type, event.data) == ("session.expired", b'{"idle_s":60}')
    assert (first.reply_to, first.source, first.agent) == (None, "/acme/janitor", "janitor")


positions = st.integers(0, 9).map(Position)
ONE = Partition(1)


@given(positions, st.builds(Progress, positions, positions, positions, positions))
def test_a_request_is_settled_once_it_shows_or_all_that_was_decided_behind_it_does(
    sent: Position, at: Progress
) -> None:
    shows = at.input_position >= sent
    is_decided = at.next_input > sent and at.next_position >= at.next_output
    assert (unsettled({ONE: sent}, {ONE: at}) == set()) == (shows or is_decided)


def test_a_partition_that_nothing_is_known_of_is_not_settled() -> None:
    assert unsettled({ONE: Position(0)}, {}) == {ONE}
    assert unsettled({}, {}) == set()


def test_what_became_of_sessions_is_told_from_what_they_show() -> None:
    asked = [idle(name) for name in ("expired", "active", "ended", "kept", "unknown")]
    of = {each.stream.rpartition("/")[2]: each.stream for each in asked}
    now = {
        of["expired"]: State(Version(4), "expired"),
        of["active"]: State(Version(4), "open"),
        of["ended"]: State(Version(5), "ended"),
        of["kept"]: State(Version(3), "open"),
    }
    found = tally(asked, now)
    assert found == Tally(5, 1, 2, frozenset({of["kept"], of["unknown"]}))
    assert Tally().plus(found).plus(found) == Tally(10, 2, 4, found.refused)


class Said(RoleHealth):
    """Remembers all that was said of the role: None that it works."""

    def __init__(self, said: list[str | None]) -> None:
        super().__init__(())
        self._said = said

    def works(self) -> None:
        self._said.append(None)

    def waits(self, what: str) -> None:
        self._said.append(what)


class Servers:
    """What a janitor talks to, in memory: sessions that expire when they are asked to."""

    member = "b"

    def __init__(self, *sessions: Idle) -> None:
        self.sessions = {each.stream: each for each in sessions}
        self.busy: set[StreamId] = set()
        self.expired: set[StreamId] = set()
        self.sent: list[StreamId] = []
        self.bursts: list[Sequence[Asked]] = []
        self.alive = ["b"]
        self.configured = 0
        self.outages = 0
        self.stop = asyncio.Event()
        self.scans_left = 20

    async def heartbeat(self) -> list[str]:
        return self.alive

    async def leave(self) -> None:
        self.alive = []

    async def configure(self, limits: Iterable[LimitRow]) -> None:
        self.configured += bool(list(limits))

    async def idle(self, *, most: int, without: Sequence[str], **_: object) -> list[Idle]:
        self.scans_left -= 1
        if not self.scans_left:
            self.stop.set()
        left_out = {*without, *self.expired}
        return [each for stream, each in self.sessions.items() if stream not in left_out][:most]

    async def send(self, requests: Sequence[Asked]) -> Mapping[Partition, Position]:
        if self.outages:
            self.outages -= 1
            raise OutageError("away")
        self.sent += [each.stream for each in requests]
        self.bursts.append(requests)
        self.expired |= {each.stream for each in requests} - self.busy
        return {each.partition: Position(5) for each in requests}

    async def progress(self, projection: str) -> Mapping[Partition, Progress]:
        assert projection == "conversation"
        done = Progress(Position(6), Position(9), Position(0), Position(9))
        return {Partition(partition): done for partition in range(8)}

    async def states(self, streams: Sequence[str]) -> Mapping[StreamId, State]:
        shown = {True: State(Version(4), "expired"), False: State(Version(3), "open")}
        return {StreamId(stream): shown[stream in self.expired] for stream in streams}

    async def places(self) -> list[Place]:
        return []

    async def looked(self, place: Place) -> None:
        raise AssertionError(place)

    async def active(self, place: Place) -> list[Active]:
        raise AssertionError(place)

    async def over(self, sessions: Sequence[Active]) -> list[Over]:
        raise AssertionError(sessions)

    async def untold(self, **_: object) -> list[Untold]:
        return []

    async def told(self, untold: Sequence[Untold]) -> None:
        raise AssertionError(untold)

    async def write(self, alerts: Sequence[Alert], /) -> None:
        raise AssertionError(alerts)


async def run(
    servers: Servers, options: JanitorOptions = QUICK, watch: Watch | None = None
) -> None:
    ports = JanitorPorts(servers, servers, servers, servers, watch or Watch("janitor"))
    limits = list(rows_of(ConfiguredLimits()))
    async with asyncio.timeout(10):
        await Janitor(ports, limits, options).run(servers.stop)


async def test_all_that_is_idle_is_asked_to_expire_a_page_at_a_time() -> None:
    sessions = [idle(f"s-{n}") for n in range(7)]
    servers = Servers(*sessions)
    await run(servers, replace(QUICK, page=3))
    pages = [{each.stream for each in sessions[at : at + 3]} for at in (0, 3, 6)]
    assert [set(servers.sent[at : at + 3]) for at in (0, 3, 6)] == pages
    assert servers.configured == 1


async def test_what_did_not_expire_is_left_alone_for_a_while() -> None:
    servers = Servers(idle("busy"), idle("idle"))
    servers.busy = {idle("busy").stream}
    await run(servers)
    assert sorted(servers.sent) == sorted(servers.sessions)


class Slow(Servers):
    """Takes its time for one of the questions, and notes when it began and ended to answer."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self.question = question
        self.answered: list[tuple[float, float]] = []

    async def _answer(self, question: str) -> None:
        if question == self.question:
            began_s = time.monotonic()
            await asyncio.sleep(0.02)  # as the database takes it
            self.answered.append((began_s, time.monotonic()))
            self.scans_left = 1 if len(self.answered) >= 2 else 1_000_000

    async def idle(self, *, most: int, without: Sequence[str], **given: object) -> list[Idle]:
        await self._answer("idle")
        return await super().idle(most=most, without=without, **given)

    async def untold(self, **given: object) -> list[Untold]:
        await self._answer("untold")
        return await super().untold(**given)


@pytest.mark.parametrize("question", ["idle", "untold"])
async def test_what_takes_the_database_long_is_asked_less_often(question: str) -> None:
    servers = Slow(question)
    await run(servers)
    assert len(servers.answered) >= 2
    for (began_s, ended_s), (next_s, _) in pairwise(servers.answered):
        assert next_s - ended_s >= 9 * (ended_s - began_s)


async def test_after_an_outage_it_asks_again() -> None:
    servers = Servers(idle("s"))
    servers.outages, watch, said = 2, Watch("janitor"), list[str | None]()
    watch.health = Said(said)
    await run(servers, watch=watch)
    assert [each for each in said if each is not None] == ["starts over after OutageError"] * 2
    assert said[-1] is None
    assert servers.sent == [idle("s").stream]
    assert servers.configured == 3


async def test_who_stands_by_asks_for_nothing_until_the_other_is_gone() -> None:
    servers = Servers(idle("s"))
    servers.alive = ["a", "b"]
    running = asyncio.create_task(run(servers, replace(QUICK, heartbeat_s=0.01)))
    await asyncio.sleep(0.05)  # nothing is to happen
    assert (servers.sent, servers.configured, servers.scans_left) == ([], 0, 20)
    servers.alive = ["b"]
    await running
    assert servers.sent == [idle("s").stream]
