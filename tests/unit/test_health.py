"""What follows from the facts of a process, and where they are served."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from agentjournal.errors import NotConfigured
from consumers import stopping
from consumers.health import HealthOptions, ProcessHealth, RoleHealth, ServerHealth
from consumers.health_probes import looked_after
from consumers.health_server import Serving, find_serving, serving
from consumers.stopping import StopOptions, ended
from consumers.watch import Watched
from streams.ports import OutageError
from tests.servers import eventually


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def working(clock: Clock) -> ProcessHealth:
    """Return a process with a role that needs a server, all well."""
    health = ProcessHealth(clock, HealthOptions(beat_s=1, stuck_after_s=10, patience_s=2))
    health.servers["kafka"] = ServerHealth(error=None)
    health.roles["cache"] = RoleHealth(("kafka",))
    health.roles["cache"].works()
    health.beat()
    return health


def failing(health: ProcessHealth) -> dict[str, str]:
    ready, roles = health.ready()
    found = {check: what for check, what in roles["cache"].items() if what != "ok"}
    assert ready == health.is_ready("cache") == (not found)
    return found


def test_a_process_that_has_just_begun_is_healthy_and_not_ready() -> None:
    health = ProcessHealth(Clock())
    health.servers["kafka"] = ServerHealth()
    health.roles["cache"] = RoleHealth(("kafka",))
    assert health.healthy() == (True, {"loop": "ok"})
    assert failing(health) == {"kafka": "was not asked yet", "work": "waits: starting"}
    assert ProcessHealth(Clock()).ready() == (False, {}), "without a role nothing is done"


async def test_a_server_is_asked_again_whatever_its_driver_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raises: list[Exception] = [AttributeError("'NoneType' has no …"), OutageError("it is away")]
    said: list[str | None] = []

    class Asked:
        async def ask(self) -> None:
            said.append(health.servers["kafka"].error)
            if raises:
                raise raises.pop(0)

        async def close(self) -> None: ...

    def probe(_: Any) -> Asked:
        return Asked()

    monkeypatch.setattr("consumers.health_probes.PROBES", {"kafka": probe})
    settings: Any = None
    health = ProcessHealth(Clock(), HealthOptions(ask_every_s=0.001))
    health.roles["cache"] = RoleHealth(("kafka",), waits_for=None)
    async with looked_after(Watched(health), settings):
        await eventually(lambda: len(said) > 3)
        assert health.servers["kafka"].check(health.clock(), 2) == "ok"
    assert said[:4] == [
        "was not asked yet",
        "kafka could not be asked: AttributeError",
        "it is away",
        None,
    ]


def test_a_loop_that_does_not_come_round_is_stuck_after_a_while() -> None:
    clock = Clock()
    health = working(clock)
    clock.now_s += 11
    assert health.healthy()[0], "a beat is due every second, and it may be 10 s late"
    clock.now_s += 1
    assert health.healthy() == (False, {"loop": "stuck for 11 s"})
    assert failing(health) == {"loop": "stuck for 11 s"}
    health.beat()
    assert failing(health) == {}


def test_a_server_is_away_when_it_refuses_and_when_it_says_nothing_for_too_long() -> None:
    clock = Clock()
    health = working(clock)
    kafka = health.servers["kafka"]
    kafka.error = "refused"
    assert failing(health) == {"kafka": "refused"}
    kafka.error, kafka.asked_s = None, clock.now_s
    clock.now_s += 2
    assert failing(health) == {}
    clock.now_s += 1
    health.beat()
    assert failing(health) == {"kafka": "no answer for 3 s"}
    assert health.healthy()[0]


def test_who_was_asked_to_stop_or_waits_is_not_ready() -> None:
    health = working(Clock())
    health.roles["cache"].waits("partitions")
    assert failing(health) == {"work": "waits: partitions"}
    health.roles["cache"].works()
    health.stopping = True
    assert failing(health) == {"stop": "stopping"}


def test_metrics_are_served_where_the_environment_says() -> None:
    port = "AGENTJOURNAL_METRICS_PORT"
    assert find_serving({}) is None
    assert find_serving({port: ""}) is None
    assert find_serving({port: "9464"}) == Serving("127.0.0.1", 9464)
    everywhere = {port: "0", "AGENTJOURNAL_METRICS_HOST": "0.0.0.0"}
    assert find_serving(everywhere) == Serving("0.0.0.0", 0)


@pytest.mark.parametrize("wrong", ["x", "-1", "65536", "99999999999999999999", "٣", "1.5", " 1"])
def test_what_is_no_port_is_refused_by_its_name(wrong: str) -> None:
    with pytest.raises(NotConfigured, match=r"^AGENTJOURNAL_METRICS_PORT='.*' is not a port"):
        find_serving({"AGENTJOURNAL_METRICS_PORT": wrong})


def test_a_port_that_is_taken_is_named() -> None:
    watched = Watched(ProcessHealth(Clock()))
    with (
        serving(watched, Serving("127.0.0.1", 0)) as port,
        pytest.raises(NotConfigured, match=f"AGENTJOURNAL_METRICS_PORT={port} cannot be listened"),
        serving(Watched(ProcessHealth(Clock())), Serving("127.0.0.1", port)),
    ):
        pass


OPTIONS = StopOptions(finish_s=0.05, cut_off_s=0.05)


def test_all_there_is_to_wait_for_is_within_what_is_promised() -> None:
    options = StopOptions()
    assert options.finish_s + options.cut_off_s < options.overdue_s < 10


async def test_the_first_role_that_fails_stops_the_others() -> None:
    stop = asyncio.Event()

    async def waits() -> None:
        await stop.wait()

    async def fails() -> None:
        raise ValueError("no")

    tasks = [asyncio.create_task(waits()), asyncio.create_task(fails())]
    assert await ended(tasks, stop, lambda _: {}, OPTIONS)
    assert [stopping.has_failed(task) for task in tasks] == [False, True]


async def test_a_role_that_takes_too_long_is_cut_off_and_asked_what_is_unsaved() -> None:
    stop, asked = asyncio.Event(), list[str]()
    task = asyncio.create_task(asyncio.sleep(60), name="cache")
    stop.set()

    def unsaved(name: str) -> dict[str, object]:
        assert not task.cancelling(), "it still has everything"
        asked.append(name)
        return {"events": 3}

    assert not await ended([task], stop, unsaved, OPTIONS)
    assert asked == ["cache"]
    assert task.cancelled()


def test_a_process_that_does_not_stop_ends_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[int] = []
    monkeypatch.setattr(os, "_exit", ends.append)
    over: Any = stopping
    over._end_overdue()
    assert ends == [1]
