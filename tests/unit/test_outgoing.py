"""Events on their way out: refused here, with their place, before anything is sent."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from agentjournal import (
    CustomEvent,
    Event,
    FactRetracted,
    MessageAdded,
    NoteSet,
    SessionStarted,
)
from agentjournal.codec import decode
from agentjournal.errors import AppendRejected
from agentjournal.outgoing import batch_id, check_size, checked_id, outgoing
from agentjournal.requests import NewEvent
from tests.support import message


def refusal(events: Any, kind: str = "session", redact: Any = None) -> tuple[str, str]:
    with pytest.raises(AppendRejected) as refused:
        outgoing(kind, events, redact)
    return refused.value.path, refused.value.reason


def note(value: Any) -> NoteSet:
    return NoteSet(key="k", value=value)


def test_one_event_is_a_batch_of_one() -> None:
    [made] = outgoing("session", message("hi"), None)
    assert made.type == "message.added"
    assert made.schemaversion == 1
    assert made.data == message("hi").encoded()
    assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z", made.time or "")


def test_every_event_gets_an_id_of_its_own_in_the_order_given() -> None:
    made = outgoing("session", [message(str(n)) for n in range(50)], None)
    assert [decode(m.data)["message_id"] for m in made] == [f"m-{n}" for n in range(50)]
    assert len({m.id for m in made}) == 50
    assert {m.time for m in made} == {made[0].time}


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 2**200, "\0", "\ud800", b"\xff", [[[]]], {"$int": 1}]
)
def test_extreme_values_are_fine(value: Any) -> None:
    [made] = outgoing("session", note(value), None)
    found = decode(made.data)["value"]
    assert (type(found), repr(found)) == (type(value), repr(value))


def test_nothing_is_no_append() -> None:
    assert refusal([]) == ("events", "is empty")
    assert refusal(()) == ("events", "is empty")


def test_at_most_1000_events_are_one_append() -> None:
    assert len(outgoing("session", [message("x")] * 1_000, None)) == 1_000
    expected = ("events", "has 1001 events, at most 1000 are one append")
    assert refusal([message("x")] * 1_001) == expected


@pytest.mark.parametrize(
    ("thing", "name"), [("hi", "str"), ({"role": "user"}, "dict"), (None, "NoneType"), (7, "int")]
)
def test_what_is_no_event_is_named(thing: Any, name: str) -> None:
    assert refusal([message("x"), thing]) == ("events[1]", f"is a {name}, not an event")


@pytest.mark.parametrize("kind", ["task", "user", "account", "project"])
def test_messages_belong_to_sessions_only(kind: str) -> None:
    expected = ("events[0].type", f"message.added does not belong to a {kind} stream")
    assert refusal(message("x"), kind) == expected


def test_facts_belong_to_entities_only() -> None:
    retracted = FactRetracted(fact_id="f", reason="wrong", by="user")
    expected = ("events[0].type", "fact.retracted does not belong to a session stream")
    assert refusal(retracted) == expected
    assert len(outgoing("user", retracted, None)) == 1


def test_events_of_ones_own_go_out_under_their_type() -> None:
    [made] = outgoing("session", CustomEvent("custom.x", {"a": 1}), None)
    assert (made.type, made.data) == ("custom.x", b'{"a":1}')


def test_a_value_that_cannot_be_written_is_named_with_its_place() -> None:
    path, _ = refusal([message("x"), note({"a": [1, object()]})])
    assert path == "events[1].data.value.a[1]"


def test_too_large_an_append_names_its_largest_event() -> None:
    events = [NewEvent("i", "t", b"x" * size) for size in (300_000, 400_000, 200_001)]
    with pytest.raises(AppendRejected) as refused:
        check_size(events)
    assert refused.value.path == "events[1].data"
    assert refused.value.reason == (
        "has 400,000 bytes of the 900,001 in this append, at most 900,000 are allowed together"
    )
    check_size(events[:2])


def test_redact_is_called_with_every_event_and_what_it_returns_is_written() -> None:
    def redact(given: Event) -> Event:
        if isinstance(given, MessageAdded):
            return given.model_copy(update={"parts": message(given.text.replace("4", "x")).parts})
        return given

    made = outgoing("session", [message("card 4242"), note("4")], redact)
    assert decode(made[0].data)["parts"] == [{"type": "text", "text": "card x2x2"}]
    assert decode(made[1].data)["value"] == "4"


def test_what_redact_makes_of_an_event_goes_under_its_own_type() -> None:
    def redact(_: Event) -> Event:
        return note("removed")

    [made] = outgoing("session", message("secret"), redact)
    assert (made.type, decode(made.data)) == ("note.set", {"key": "k", "value": "removed"})


def test_redact_must_return_an_event_that_the_stream_takes() -> None:
    def to_nothing(_: Event) -> None:
        return None

    def to_a_fact(_: Event) -> Event:
        return FactRetracted(fact_id="f", reason="wrong", by="user")

    expected = ("events[0]", "was redacted to a NoneType, not an event")
    assert refusal(message("x"), redact=to_nothing) == expected
    assert refusal(message("x"), redact=to_a_fact)[0] == "events[0].type"


@pytest.mark.parametrize("text", ["", "x" * 256, "a\0", "a\nb", "\x7f", "\ud800"])
def test_what_cannot_be_an_id_is_refused_under_its_name(text: str) -> None:
    with pytest.raises(AppendRejected) as refused:
        checked_id("append_id", text)
    assert refused.value.path == "append_id"


def test_an_append_id_made_of_content_is_the_same_for_the_same_content() -> None:
    def made(seed: str, index: int, *data: bytes) -> str:
        return batch_id(seed, index, [NewEvent("i", "t", each, time="now") for each in data])

    one = made("file", 0, b"{}", b"[]")
    assert one == batch_id("file", 0, [NewEvent("i", "t", b"{}"), NewEvent("i", "t", b"[]")])
    others = [made("other", 0, b"{}", b"[]"), made("file", 1, b"{}", b"[]"), made("file", 0, b"{}")]
    assert len({one, *others}) == 4
    assert len(made("x" * 300, 0)) <= 255


def test_the_start_of_a_session_is_an_event_like_others() -> None:
    [made] = outgoing("session", SessionStarted(agent="a", user="u"), None)
    assert made.type == "session.started"
    assert decode(made.data) == {"user": "u", "agent": "a", "labels": {}, "entities": []}
