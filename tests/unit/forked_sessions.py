"""Sessions that were forked from each other, and what is drawn for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hypothesis import strategies as st

from agentjournal import (
    ConversationCompacted,
    ConversationRewound,
    Event,
    MessageAdded,
    MessageRetracted,
    NoteSet,
    Parent,
    SessionStarted,
    SessionState,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolStarted,
)
from agentjournal.ids import StreamId, stream_id
from agentjournal.loading import stored_state
from agentjournal.stored import Page
from tests.support import BEGAN_MS, Stream, message, request, typed
from tests.unit.stored_rows import Rows

Op: TypeAlias = Callable[[int], Event]  # of how many events stand before the session's own


@dataclass
class Sessions:
    """Stored events of several streams, in memory."""

    streams: dict[StreamId, Stream] = field(default_factory=dict[StreamId, Stream])

    def begin(self, name: str, user: str | None = None, parent: Parent | None = None) -> Stream:
        stream = Stream(stream_id("session", "default", name))
        self.streams[stream.stream] = stream
        stream.accept(request(typed(SessionStarted(user=user, agent="a", parent=parent))))
        return stream

    def fork(self, name: str, parent: str, at: int, user: str | None = None) -> Stream:
        return self.begin(name, user, Parent(session_id=parent, version=at, relation="fork"))

    async def read_pages(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncIterator[Page]:
        held = self.streams.get(stream)
        rows = Rows([] if held is None else held.recorded)
        async for page in rows.read_pages(stream, after=after, most=most):
            yield page

    async def load(self, name: str, at: int | None = None) -> SessionState:
        return await stored_state(self, stream_id("session", "default", name), at)


def say(stream: Stream, *texts: str) -> None:
    for text in texts:
        stream.accept(request(typed(message(text))))


def texts(state: SessionState) -> list[str]:
    return [each.text for each in state.messages]


@st.composite
def ops(draw: st.DrawFn, before: int, count: int, name: str) -> list[Op]:
    """Return `count` events of a session that begins behind `before` inherited ones."""
    return [draw(_op(before, number, name)) for number in range(before + 2, before + 2 + count)]


def _op(before: int, number: int, name: str) -> st.SearchStrategy[Op]:
    calls = st.sampled_from(["c-1", "c-2", "c-3"])
    said = MessageAdded(role="user", content=f"{name} {number}", message_id=f"m-{number}")
    ranges = st.tuples(st.integers(1, number - 1), st.integers(1, number - 1)).map(sorted)
    return st.one_of(
        st.just(_plain(said)),
        calls.map(lambda call: _plain(asked(call, f"{name} {number}"))),
        calls.map(lambda call: _plain(ToolCompleted(call_id=call, output=name, duration_ms=1))),
        st.builds(begun, calls, st.integers(1, 3)).map(_plain),
        st.integers(1, number).map(
            lambda n: _plain(MessageRetracted(message_id=f"m-{n}", reason="r"))
        ),
        st.integers(before, number - 1).map(_rewound),
        ranges.map(_compacted),
    )


def _plain(event: Event) -> Op:
    """Return an event that names no version."""

    def made(base: int) -> Event:
        del base
        return event

    return made


def _rewound(to_version: int) -> Op:
    return lambda base: ConversationRewound(to_version=to_version - base, reason="r")


def _compacted(versions: Sequence[int]) -> Op:
    return lambda base: compacted(versions[0] - base, versions[1] - base)


def asked(call_id: str, text: str) -> MessageAdded:
    call = ToolCallPart(call_id=call_id, name="t", arguments_text="{}")
    return MessageAdded(role="assistant", parts=[TextPart(text=text), call], message_id=f"m {text}")


def begun(call_id: str, attempt: int) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="t",
        arguments_text="{}",
        arguments_digest="d",
        effect="read",
        idempotency_key="k",
        attempt=attempt,
        lease_s=1,
        kind="function",
    )


def compacted(first: int, last: int) -> ConversationCompacted:
    return ConversationCompacted(
        first_version=first,
        last_version=last,
        summary="s",
        tokens_before=0,
        tokens_after=0,
        summarised_by="x",
    )


def folded(events: Sequence[Op | None]) -> SessionState:
    """Return the fold of one session with all of these events; None begins a session."""
    stream = Stream()
    for number, op in enumerate(events):
        made = NoteSet(key="begins", value=1) if op is None else op(0)
        stream.accept(request(typed(made)), BEGAN_MS + number * 1_000)
    state = SessionState(stream.stream)
    for recorded in stream.recorded:
        state.apply(recorded)
    return state
