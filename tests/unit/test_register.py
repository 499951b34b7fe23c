"""Typed events of users: a name, a version, and a way from each older version; else a clear no."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentjournal as aj
from agentjournal.envelope import Recorded
from agentjournal.events import decode_event
from agentjournal.outgoing import outgoing
from tests.support import Stream, event, message, request, typed

Fields = dict[str, Any]


class PlacedV1(aj.Event):
    order: int


class Placed(aj.Event):
    """What PlacedV1 became: version 2 has a currency, version 3 a list of orders."""

    orders: list[int]
    currency: str


def with_currency(fields: Fields) -> Fields:
    return {**fields, "currency": "EUR"}


def with_orders(fields: Fields) -> Fields:
    fields["orders"] = [fields.pop("order")]  # its own copy: an upcaster may change it
    return fields


STEPS = {1: with_currency, 2: with_orders}
PLACED = "custom.registered_placed"
aj.register(Placed, type=PLACED, version=3, upcasters=STEPS)


def loaded(stream: Stream) -> aj.SessionState:
    state = aj.SessionState(stream.stream)
    for recorded in stream.recorded:
        state.apply(recorded)
    return state


def one(event_type: str, version: int, **fields: Any) -> Recorded:
    stream = Stream()
    written = aj.CustomEvent(event_type, fields, schema_version=version)
    stream.accept(request(typed(written)))
    return stream.recorded[0]


def test_an_append_writes_the_type_and_the_version() -> None:
    [written] = outgoing("session", Placed(orders=[7], currency="USD"), None)
    assert (written.type, written.schemaversion) == (PLACED, 3)
    assert written.data == b'{"orders":[7],"currency":"USD"}'


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 99)), max_size=12))
def test_a_session_may_hold_every_version_in_any_order(written: list[tuple[int, int]]) -> None:
    """As it does when workers of several releases write at once."""
    stream = Stream()
    for version, order in written:
        fields: Fields = {"order": order} if version < 3 else {"orders": [order]}
        if version > 1:
            fields["currency"] = "EUR"
        stream.accept(request(typed(aj.CustomEvent(PLACED, fields, schema_version=version))))
    stream.accept(request(typed(message("end"))))
    *placed, _ = stream.recorded
    assert [each.event for each in placed] == [
        Placed(orders=[order], currency="EUR") for _, order in written
    ]
    state = loaded(stream)
    assert state.version == len(written) + 1
    assert state.summary.upcast == sum(version < 3 for version, _ in written)
    assert state.summary.skipped == {}


def test_what_is_recorded_keeps_its_bytes_and_its_version() -> None:
    recorded = one(PLACED, 1, order=7)
    assert recorded.event == Placed(orders=[7], currency="EUR")
    assert (recorded.schema_version, recorded.raw_data) == (1, b'{"order":7}')
    assert recorded.data == {"order": 7}


def test_a_version_of_a_newer_release_is_kept_whole() -> None:
    found = one(PLACED, 4, basket={"orders": [7]}).event
    assert isinstance(found, aj.CustomEvent)
    assert (found.type, found.schema_version) == (PLACED, 4)
    assert found.fields == {"basket": {"orders": [7]}}


def test_an_old_session_loads_after_the_upgrade() -> None:
    name = "custom.registered_before"
    stream = Stream()
    aj.register(PlacedV1, type=name)
    stream.accept(request(typed(PlacedV1(order=7)), typed(message("a"))))
    found: aj.Event = stream.recorded[0].event
    assert found == PlacedV1(order=7)

    class After(aj.Event):
        orders: list[int]

    # A process of the next release has the model under the same name.
    After.__module__, After.__qualname__ = PlacedV1.__module__, PlacedV1.__qualname__
    aj.register(After, type=name, version=2, upcasters={1: with_orders})
    stream.accept(request(typed(After(orders=[8, 9]))))
    state = loaded(stream)
    assert (state.version, state.summary.upcast) == (3, 1)
    assert [stream.recorded[at].event for at in (0, 2)] == [
        After(orders=[7]),
        After(orders=[8, 9]),
    ]


def with_a_key_that_is_not_there(fields: Fields) -> Fields:
    return {**fields, "orders": fields["none"]}


def with_nothing(_: Fields) -> Any:
    return None


def as_it_was(fields: Fields) -> Fields:
    return fields


@pytest.mark.parametrize(
    ("upcaster", "says"),
    [
        (with_a_key_that_is_not_there, "from version 1 to 2 raised KeyError: 'none'"),
        (with_nothing, "from version 1 to 2 returned a NoneType, not a dict"),
        (as_it_was, "orders: is missing"),
    ],
)
def test_an_event_that_cannot_be_upcast_is_named_by_its_place(upcaster: Any, says: str) -> None:
    class Mine(aj.Event):
        orders: list[int]

    name = f"custom.registered_badly_{len(says)}"
    aj.register(Mine, type=name, version=2, upcasters={1: upcaster})
    recorded = one(name, 1, order=7)
    with pytest.raises(aj.EventUnreadable, match=says) as found:
        aj.SessionState(recorded.stream).apply(recorded)
    assert (found.value.stream, found.value.version) == (recorded.stream, 1)
    assert (found.value.type, found.value.schema_version) == (name, 1)
    assert f"{recorded.stream} version 1: {name}" in str(found.value)


@pytest.mark.parametrize(
    ("upcasters", "given_ones"),
    [(None, "none"), ({2: with_orders}, "2"), ({1: dict, 3: dict}, "1, 3")],
)
def test_a_chain_with_a_hole_is_refused(upcasters: Any, given_ones: str) -> None:
    class Mine(aj.Event):
        x: int = 1

    says = f"needs upcasters for versions: 1, 2; there are: {given_ones}$"
    with pytest.raises(ValueError, match=says):
        aj.register(Mine, type="custom.registered_hole", version=3, upcasters=upcasters)
    assert type(decode_event("custom.registered_hole", 1, b"{}")) is aj.CustomEvent
    assert Mine.type == ""


def test_an_upcaster_is_a_function() -> None:
    class Mine(aj.Event):
        x: int = 1

    wrong: Any = {1: {"x": 1}}
    with pytest.raises(TypeError, match="the upcaster for version 1 is no function"):
        aj.register(Mine, type="custom.registered_wrong", version=2, upcasters=wrong)


@pytest.mark.parametrize("version", [0, -1])
def test_versions_count_from_1(version: int) -> None:
    class Mine(aj.Event):
        x: int = 1

    with pytest.raises(ValueError, match="is below 1"):
        aj.register(Mine, type="custom.registered_zero", version=version)


def test_another_model_cannot_take_a_type_and_is_told_whose_it_is() -> None:
    class Other(aj.Event):
        x: int = 1

    with pytest.raises(ValueError, match=r"Placed is its model already, not .*Other"):
        aj.register(Other, type=PLACED)
    assert decode_event(PLACED, 1, b'{"order":7}') == Placed(orders=[7], currency="EUR")


def test_a_model_has_one_type() -> None:
    with pytest.raises(ValueError, match=f"Placed is the model of {PLACED} already"):
        aj.register(Placed, type="custom.registered_twice")

    class Sub(Placed):
        pass

    aj.register(Sub, type="custom.registered_sub")
    assert (Placed.type, Sub.type) == (PLACED, "custom.registered_sub")
    assert (Placed.schema_version, Sub.schema_version) == (3, 1)


@pytest.mark.parametrize("model", [aj.Event, aj.CustomEvent, aj.UnknownEvent, aj.MessageAdded])
def test_a_model_of_the_catalogue_keeps_its_type(model: type[aj.Event]) -> None:
    with pytest.raises(ValueError, match="is a model of agentjournal"):
        aj.register(model, type="custom.registered_ours")
    assert aj.MessageAdded.type == "message.added"
    assert aj.Event.type == ""


@pytest.mark.parametrize("model", [dict, Placed(orders=[], currency="EUR"), None])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(TypeError, match=r"is no subclass of agentjournal\.Event"):
        aj.register(model, type="custom.registered_no_model")


def test_a_model_that_was_not_registered_is_not_appended() -> None:
    class Mine(aj.Event):
        x: int = 1

    with pytest.raises(aj.AppendRejected, match=r"agentjournal\.register\(Mine, type=") as refused:
        outgoing("session", [message("a"), Mine()], None)
    assert refused.value.path == "events[1]"


def test_a_recorded_event_of_the_catalogue_comes_as_its_model() -> None:
    stream = Stream()
    stream.accept(request(typed(message("a")), event("session.ended", reason="r")))
    assert [each.event for each in stream.recorded] == [message("a"), aj.SessionEnded(reason="r")]
