"""A tail under every order of pieces, losses, looks and events: no follower misses or doubles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentjournal import Delta, Recorded, StreamParked
from agentjournal.drafts import Draft, KeptDraft, Piece
from agentjournal.ids import Version
from agentjournal.tails import MOST_EVENTS, Place, Tail
from tests.support import Stream, event, request, said

FOLLOWERS = 3
MESSAGES = ("m-1", "m-2")

steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(MESSAGES), st.booleans()),  # published?
        st.tuples(st.just("write"), st.sampled_from(MESSAGES), st.just(True)),
        st.tuples(st.just("again"), st.sampled_from(MESSAGES), st.integers(0, 4)),
        st.tuples(st.just("finish"), st.sampled_from(MESSAGES), st.just(None)),
        st.tuples(st.just("event"), st.integers(1, 4), st.just(None)),
        st.tuples(st.just("read"), st.integers(1, 5), st.just(None)),
        st.tuples(st.just("forget"), st.just(None), st.just(None)),
        st.tuples(st.just("follow"), st.integers(0, FOLLOWERS - 1), st.just(None)),
    ),
    max_size=40,
)


class Follower:
    """Shows what comes, as a page does."""

    def __init__(self, tail: Tail, stored: list[Recorded]) -> None:
        self.place = Place(tail, 0)
        self.events: list[Recorded] = []
        self.shown: dict[str, str] = {}
        self._stored = stored

    def advance(self) -> None:
        items = self.place.advance(deltas=True)
        if items is None:
            items = [each for each in self._stored if each.version > self.place.after][:2]
            self.place.after = items[-1].version
        for item in items:
            if isinstance(item, Recorded):
                self.events.append(item)
                if item.type == "message.added":
                    self.shown.pop(item.data["message_id"], None)
            else:
                self._show(item)

    def _show(self, delta: Delta) -> None:
        assert delta.message_id not in self.recorded, "its event was there before"
        have = self.shown.get(delta.message_id, "")
        assert delta.offset == len(have), "a gap, or text twice"
        self.shown[delta.message_id] = have + delta.text

    @property
    def recorded(self) -> set[str]:
        return {e.data["message_id"] for e in self.events if e.type == "message.added"}


class Scene:
    """A log, what is kept of drafts, one tail, and followers of whom none is in a hurry."""

    def __init__(self) -> None:
        self.log, self.stored = Stream(), list[Recorded]()
        self.tail = Tail()
        self.tail.begin(Version(0))
        self.kept: dict[str, str] = {}
        self.published: list[Piece] = []
        self.lost = False
        self.followers = [Follower(self.tail, self.stored) for _ in range(FOLLOWERS)]

    def write(self, message_id: str, arrives: bool) -> None:
        if message_id in self.finished:
            return
        text = self.kept.get(message_id, "")
        more = chr(ord("a") + len(text) % 26) * (1 + len(text) % 3)
        self.kept[message_id] = text + more
        piece = Piece(f"draft-{message_id}", message_id, "assistant", len(text), more)
        self.published.append(piece)
        if arrives:
            self._deliver(piece)

    def again(self, message_id: str, back: int) -> None:
        """A piece comes late, or twice."""
        old = [piece for piece in self.published if piece.message_id == message_id]
        if back < len(old):
            self._deliver(old[-1 - back])

    def _deliver(self, piece: Piece) -> None:
        if not self.tail.take(piece):
            self.tail.restore(self.looked())

    def looked(self) -> list[KeptDraft]:
        return [
            KeptDraft(Draft(f"draft-{name}", name, "assistant"), text, 0.0)
            for name, text in self.kept.items()
            if name not in {e.data.get("message_id") for e in self.stored}
        ]

    def finish(self, message_id: str, _: None) -> None:
        if message_id in self.kept and message_id not in self.finished:
            self.log.accept(request(said(self.kept[message_id], "assistant", message_id)))

    def event(self, count: int, _: None) -> None:
        self.log.accept(request(*[event("note.deleted", key="k")] * count))

    def read(self, count: int, _: None) -> None:
        """The read models go on, and the tail after them."""
        following = self.log.recorded[len(self.stored) :][:count]
        self.stored.extend(following)
        self.tail.extend(following)

    def forget(self, *_: None) -> None:
        self.tail.forget_idle()

    def follow(self, number: int, _: None) -> None:
        self.followers[number].advance()

    @property
    def finished(self) -> set[str]:
        return {e.data["message_id"] for e in self.log.recorded if e.type == "message.added"}

    def end(self) -> None:
        """Let everything arrive."""
        self.read(len(self.log.recorded), None)
        self.tail.restore(self.looked())
        for follower in self.followers:
            while follower.place.after < len(self.stored):
                follower.advance()
            follower.advance()


@example(given=[("write", "m-1", True), ("finish", "m-1", None), ("read", 5, None),
                ("again", "m-1", 0), ("follow", 0, None)])  # fmt: skip
@given(given=steps)
def test_every_follower_gets_each_event_once_and_the_text_as_it_is(
    given: Sequence[tuple[Any, ...]],
) -> None:
    scene = Scene()
    for name, *of in given:
        getattr(scene, name)(*of)
    scene.end()
    open_ones = {name: text for name, text in scene.kept.items() if name not in scene.finished}
    for follower in scene.followers:
        assert follower.events == scene.log.recorded
        assert follower.shown == open_ones


def events_of(count: int) -> list[Recorded]:
    log = Stream()
    for _ in range(count):
        log.accept(request(event("note.deleted", key="k")))
    return log.recorded


def test_a_tail_holds_no_more_than_its_share_and_the_rest_is_read_elsewhere() -> None:
    events = events_of(MOST_EVENTS + 10)
    tail = Tail()
    tail.begin(Version(0))
    place = Place(tail, 0)
    for recorded in events:
        tail.extend([recorded])
    assert place.advance(deltas=True) is None
    place.after = 10
    assert place.advance(deltas=True) == events[10:]
    assert place.advance(deltas=True) == []


def test_an_event_larger_than_all_that_a_tail_holds_comes_through() -> None:
    log = Stream()
    log.accept(request(said("a" * 600_000)))
    log.accept(request(said("b" * 600_000)))
    tail = Tail()
    tail.begin(Version(0))
    place = Place(tail, 1)
    tail.extend(log.recorded)
    assert place.advance(deltas=True) == log.recorded[1:]
    assert Place(tail, 0).advance(deltas=True) is None


def test_what_does_not_follow_is_left_for_the_next_look() -> None:
    events = events_of(4)
    tail = Tail()
    tail.begin(Version(1))
    tail.extend([events[0], events[3]])
    assert tail.version == 1
    tail.extend([events[1], events[1], events[2]])
    assert tail.version == 3


def test_a_message_that_is_begun_anew_replaces_what_was_shown_of_it() -> None:
    tail = Tail()
    tail.begin(Version(0))
    place = Place(tail, 0)
    assert tail.take(Piece("one", "m", "assistant", 0, "first"))
    assert place.advance(deltas=True) == [Delta("m", "assistant", "first", 0)]
    assert tail.take(Piece("two", "m", "assistant", 0, "sec"))
    assert tail.take(Piece("two", "m", "assistant", 3, "ond"))
    assert place.advance(deltas=True) == [Delta("m", "assistant", "second", 0)]


def test_who_knows_more_events_than_are_stored_waits_for_these_before_any_delta() -> None:
    """What is kept of a message whose event he has must not be shown again."""
    log = Stream()
    log.accept(request(said("whole", "assistant", "m")))
    tail = Tail()
    tail.begin(Version(0))
    place = Place(tail, 1)
    assert tail.take(Piece("one", "m", "assistant", 0, "who"))
    assert place.advance(deltas=True) == ()
    tail.extend(log.recorded)
    assert place.advance(deltas=True) == []


def test_what_was_recorded_comes_before_the_failure() -> None:
    events = events_of(2)
    tail = Tail()
    tail.begin(Version(0))
    tail.extend(events)
    tail.fail(StreamParked("session/t/s", "events", 3))
    place = Place(tail, 0)
    assert place.advance(deltas=True) == events
    with pytest.raises(StreamParked):
        place.advance(deltas=True)


def test_a_follower_of_events_only_gets_no_delta() -> None:
    tail = Tail()
    tail.begin(Version(0))
    assert tail.take(Piece("one", "m", "assistant", 0, "text"))
    assert Place(tail, 0).advance(deltas=False) == ()
