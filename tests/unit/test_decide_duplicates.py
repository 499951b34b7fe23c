"""Append ids in the fold: a repeat returns the original receipt, other content is refused."""

from __future__ import annotations

import pytest

from agentjournal.ids import stream_id
from agentjournal.requests import NewEvent, Request
from streams.head import WINDOW
from tests.support import Stream, event, request, said, started


def retried(asked: Request) -> Request:
    """Return the request as another process makes it again: ids, time and trace are new."""
    events = [
        e._replace(id=f"{e.id}-again", time="2030-01-01T00:00:00Z", traceparent="t", tokens=9)
        for e in asked.events
    ]
    return asked._replace(events=events, attempt=3, worker="another", source="/default/other")


def test_a_repeat_returns_the_original_receipt_and_records_nothing() -> None:
    stream = Stream()
    asked = request(said("a"), said("b"), start=started("u-7"))
    first = stream.accept(asked)
    stream.accept(request(said("c")))
    head, records = stream.head, list(stream.records)
    assert stream.accept(asked) == first._replace(duplicate=True)
    assert stream.accept(retried(asked)) == first._replace(duplicate=True)
    assert (stream.head, stream.records) == (head, records)


def test_the_answer_to_a_repeat_names_its_own_attempt() -> None:
    stream = Stream()
    asked = request(said("a"))
    stream.accept(asked)
    outcome = stream.ask(asked.with_attempt(4)._replace(reply_to="elsewhere"))
    assert outcome.answer is not None
    assert (outcome.answer.attempt, outcome.reply_to) == (4, "elsewhere")


def test_a_repeat_is_known_whatever_has_happened_since() -> None:
    stream = Stream()
    asked = request(said("a"), expected_version=0, start=started("u-7"))
    first = stream.accept(asked)
    stream.accept(request(event("session.ended")))
    assert stream.accept(asked).first_version == first.first_version
    other_user = asked._replace(start=started("u-8"))
    assert stream.accept(other_user).first_version == first.first_version
    stream.accept(request(event("session.deleted", reason="asked for")))
    assert stream.accept(asked) == first._replace(duplicate=True)


def test_a_repeat_is_known_after_255_others_and_forgotten_after_256() -> None:
    stream = Stream()
    asked = request(said("a"))
    first = stream.accept(asked)
    for _ in range(WINDOW - 1):
        stream.accept(request(said("x")))
    assert stream.accept(asked) == first._replace(duplicate=True)
    stream.accept(request(said("x")))
    again = stream.accept(asked)
    assert (again.duplicate, again.first_version) == (False, WINDOW + 2)


def test_repeats_do_not_count_against_the_256() -> None:
    stream = Stream()
    asked = request(said("a"))
    first = stream.accept(asked)
    other = request(said("b"))
    for _ in range(WINDOW + 10):
        stream.accept(other)
    assert stream.accept(asked) == first._replace(duplicate=True)


CHANGES: dict[str, list[NewEvent]] = {
    "other data": [said("b", message_id="m")],
    "another type": [event("custom.x")],
    "another schema version": [event("custom.x")._replace(schemaversion=2)],
    "one more": [said("a", message_id="m"), said("a", message_id="m")],
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_same_id_with_other_content_is_refused(change: str) -> None:
    stream = Stream()
    original = [event("custom.x")] if "schema" in change else [said("a", message_id="m")]
    asked = request(*original)
    stream.accept(asked)
    outcome = stream.ask(asked._replace(events=CHANGES[change]))
    assert outcome.dead is not None
    assert outcome.dead.reason == "id_reused"
    assert outcome.records == ()


def test_a_refused_append_leaves_its_id_free() -> None:
    stream = Stream()
    stream.accept(request(said("a")))
    asked = request(said("b"), expected_version=7)
    stream.refuse(asked)
    receipt = stream.accept(asked._replace(expected_version=1, events=[said("c")]))
    assert (receipt.duplicate, receipt.first_version) == (False, 2)


def test_streams_do_not_share_their_ids() -> None:
    one, other = Stream(), Stream(stream_id("session", "default", "s-2"))
    asked = request(said("a"))
    assert not one.accept(asked).duplicate
    assert not other.accept(asked._replace(events=[said("b")])).duplicate
