"""`check-upgrade` loads a stored session as this code would, and says what stands in the way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

import agentjournal as aj
from agentjournal.ids import StreamId
from agentjournal.stored import Page
from agentjournal.summary import Summary
from commands.upgrade_check import Failure, Tally, checked
from tests.support import Stream, message, request, typed
from tests.unit.stored_rows import Rows


class Rated(aj.Event):
    stars: int


def with_stars(fields: dict[str, Any]) -> dict[str, Any]:
    return {"stars": fields["points"]}


RATED = "custom.check_upgrade_rated"
aj.register(Rated, type=RATED, version=2, upcasters={1: with_stars})


def session(*events: aj.Event) -> Stream:
    stream = Stream()
    for each in events:
        stream.accept(request(typed(each)))
    return stream


async def found(stream: Stream) -> Summary | Failure:
    return await checked(Rows(stream.recorded), stream.stream)


async def test_a_session_that_loads_is_summed_up() -> None:
    old = aj.CustomEvent(RATED, {"points": 5}, schema_version=1)
    unknown = aj.CustomEvent("custom.check_upgrade_unknown", {})
    tally = Tally()
    for _ in range(2):
        summary = await found(session(message("a"), old, Rated(stars=1), unknown))
        assert isinstance(summary, Summary)
        tally.count(summary)
    assert (tally.events, tally.upcast) == (8, 2)
    assert tally.skipped == {"custom.check_upgrade_unknown": 2}


async def test_an_event_that_cannot_be_read_is_named() -> None:
    stream = session(message("a"), aj.CustomEvent(RATED, {}, schema_version=1), message("b"))
    failure = await found(stream)
    assert isinstance(failure, Failure)
    assert (failure.stream, failure.version, failure.type) == (stream.stream, 2, RATED)
    assert "from version 1 to 2 raised KeyError: 'points'" in failure.error


async def test_a_gap_is_a_failure_too() -> None:
    stream = session(message("a"), message("b"), message("c"))
    one, _, three = stream.recorded
    failure = await checked(Rows([one, three]), stream.stream)
    assert isinstance(failure, Failure)
    assert "version 2 is missing" in failure.error


async def test_an_error_that_nobody_foresaw_is_named_by_the_event_it_came_with() -> None:
    class Broken(Rows):
        async def read_pages(
            self, stream: StreamId, *, after: int = 0, most: int | None = None
        ) -> AsyncIterator[Page]:
            async for each in super().read_pages(stream, after=after, most=most):
                yield each
                raise ZeroDivisionError("of new code")

    stream = session(message("a"), message("b"))
    failure = await checked(Broken(stream.recorded, page=1), stream.stream)
    assert failure == Failure(stream.stream, 1, "message.added", "ZeroDivisionError: of new code")


async def test_a_database_that_is_away_is_no_failure_of_a_session() -> None:
    class Away(Rows):
        def read_pages(self, stream: StreamId, **_: Any) -> AsyncIterator[Page]:
            raise aj.Unavailable("Postgres", stream)

    with pytest.raises(aj.Unavailable):
        await checked(Away([]), Stream().stream)
