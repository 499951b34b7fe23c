"""Events of users' own types on real servers, while one release of their code follows another."""

from __future__ import annotations

from typing import Any

import pytest

import agentjournal as aj
from agentjournal.settings import Settings
from tests.servers import connected
from tests.support import message

pytestmark = pytest.mark.stack

TYPE = "custom.upgrade_order_placed"


class OrderPlaced(aj.Event):
    """The model of the first release."""

    order: int


class OrdersPlaced(aj.Event):
    """The model of the second: several orders at once."""

    orders: list[int]


def with_orders(fields: dict[str, Any]) -> dict[str, Any]:
    return {"orders": [fields["order"]]}


def written_by_the_first_release(order: int) -> aj.Event:
    """Return the event whose bytes and version a process of the first release appends."""
    return aj.CustomEvent(TYPE, {"order": order}, schema_version=1)


async def test_a_session_crosses_an_upgrade_while_it_runs(journal: Settings) -> None:
    async with connected(journal) as log:
        aj.register(OrderPlaced, type=TYPE)
        session = log.session("s")
        await session.append([OrderPlaced(order=1), message("a")])
        before = await session.load()
        assert (before.summary.upcast, before.summary.skipped) == (0, {})
        typed = [e.event async for e in session.events(after=1)]
        assert typed == [OrderPlaced(order=1), message("a")]

        # The second release has its model under the same name, in another process.
        OrdersPlaced.__module__, OrdersPlaced.__qualname__ = (
            OrderPlaced.__module__,
            OrderPlaced.__qualname__,
        )
        aj.register(OrdersPlaced, type=TYPE, version=2, upcasters={1: with_orders})
        upgraded = await session.load()
        assert upgraded == before
        assert upgraded.summary.upcast == 1

        # Workers of both releases write for a while; neither stops the other.
        receipt = await session.append(OrdersPlaced(orders=[2, 3]), expected_version=3)
        other = log.session("s")
        await other.append(written_by_the_first_release(4), expected_version=receipt.last_version)
        await session.append(OrdersPlaced(orders=[5]))

        state = await log.session("s").load()
        assert (state.version, state.summary.upcast) == (6, 2)
        recorded = [e async for e in session.events() if e.type == TYPE]
        assert [e.event for e in recorded] == [
            OrdersPlaced(orders=orders) for orders in ([1], [2, 3], [4], [5])
        ]
        assert [(e.schema_version, e.raw_data) for e in recorded] == [
            (1, b'{"order":1}'),
            (2, b'{"orders":[2,3]}'),
            (1, b'{"order":4}'),
            (2, b'{"orders":[5]}'),
        ]


async def test_a_process_without_the_model_reads_on_and_says_what_it_skipped(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        unknown = aj.CustomEvent("custom.upgrade_unknown", {"basket": [1]}, schema_version=9)
        await session.append([message("a"), unknown, message("b")])
        state = await session.load()
        assert [m.text for m in state.messages] == ["a", "b"]
        assert state.summary.skipped == {"custom.upgrade_unknown": 1}


async def test_an_event_that_no_longer_fits_its_model_stops_the_load_by_name(
    journal: Settings,
) -> None:
    class Rated(aj.Event):
        stars: int

    name = "custom.upgrade_rated"
    async with connected(journal) as log:
        session = log.session("s")
        await session.append([message("a"), aj.CustomEvent(name, {"points": 5})])
        aj.register(Rated, type=name)
        with pytest.raises(aj.EventUnreadable, match="stars: is missing") as found:
            await session.load()
        assert (found.value.version, found.value.type) == (3, name)
        assert (await session.load(at=2)).version == 2
