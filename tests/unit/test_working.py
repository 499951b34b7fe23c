"""Workers: what happens when the servers do not answer, or nothing can be had."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentjournal.errors import LeaseHeld, NotCaughtUp, StreamParked, Unavailable
from agentjournal.ids import Partition, Position, stream_id
from agentjournal.ports import Runnable
from agentjournal.working import Pace, Source, Working

AWAY = Unavailable("Postgres", "away")
STREAM = stream_id("session", "t", "s")


class Finder:
    """Answers what it was told to, one answer after the other; then nothing is to be done."""

    def __init__(self, *answers: BaseException | list[Runnable]) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.is_done = asyncio.Event()

    async def find(self, without: list[str], most: int) -> list[Runnable]:
        assert (without, most) == ([], 20)
        self.asked += 1
        if not self.answers:
            self.is_done.set()
            return []
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def working(finder: Finder) -> Working:
    source = Source(finder.find, lambda _: pytest.fail("nothing is to be done"), "w", 60)
    return Working(source, Pace(poll_s=0.001))


async def test_servers_that_cannot_be_reached_at_first_are_an_error() -> None:
    with pytest.raises(Unavailable):
        await anext(working(Finder(AWAY)))


async def test_an_outage_later_is_waited_out() -> None:
    behind = NotCaughtUp(Partition(0), Position(7), 5.0)
    finder = Finder([], AWAY, AWAY, behind, [])
    worker = working(finder)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(worker.run(lambda _: pytest.fail("nothing is to be done")))
        await finder.is_done.wait()
        worker.stop()
    assert finder.asked >= 6


async def test_who_is_stopped_does_not_wait_for_the_next_poll() -> None:
    finder = Finder()
    source = Source(finder.find, lambda _: pytest.fail("nothing is to be done"), "w", 60)
    worker = Working(source, Pace(poll_s=3_600))
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(worker.run(lambda _: pytest.fail("nothing is to be done")))
        await finder.is_done.wait()
        worker.stop()


class Refusing:
    """A session that cannot be taken."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def taken(self, *_: object) -> Any:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [LeaseHeld(STREAM, "other", "2999-01-01T00:00:00Z"), StreamParked(STREAM, "events", 1)],
    ids=["held by another", "parked"],
)
async def test_sessions_that_cannot_be_had_do_not_hide_those_behind_them(error: Exception) -> None:
    """As many as are looked at together: then there may be more, and they are asked for soon."""
    names = [f"s-{n}" for n in range(20)]
    refusing: Any = Refusing(error)
    asked: list[list[str]] = []

    async def find(without: list[str], most: int) -> list[Runnable]:
        asked.append(sorted(without))
        if len(asked) == 2:
            worker.stop()
        return [Runnable(name, "turn", 1, 1) for name in names[:most] if name not in without]

    worker = Working(Source(find, lambda _: refusing, "w", 60), Pace(poll_s=5, backoff_s=5))
    async with asyncio.timeout(3):
        assert [run async for run in worker] == []
    assert asked == [[], sorted(names)]
