"""A fork begins with what its parent had come to, and goes on by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    AppendRejected,
    ConversationCompacted,
    ConversationRewound,
    Event,
    IntegrityError,
    MessageAdded,
    MessageRetracted,
    NoteSet,
    Parent,
    SessionMismatch,
    SessionNotFound,
    SessionStarted,
    SessionState,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolStarted,
    VersionNotFound,
)
from agentjournal.forks import MOST_FORKS, forked
from agentjournal.ids import StreamId, Version, stream_id
from agentjournal.loading import stored_state
from agentjournal.stored import Page
from agentjournal.windows.compaction import CompactionRequest, compaction_of
from agentjournal.windows.window import WindowOptions, Windows
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


@given(st.data(), st.integers(1, 4))
async def test_a_fork_is_the_fold_of_its_parent_up_to_there_and_of_its_own(
    data: st.DataObject, levels: int
) -> None:
    sessions, whole, base, at = Sessions(), list[Op | None](), 0, 0
    for level in range(levels):
        base, whole = base + at, whole[: base + at]
        parent = Parent(session_id=f"s-{level - 1}", version=at, relation="fork") if level else None
        stream = Stream(stream_id("session", "default", f"s-{level}"))
        sessions.streams[stream.stream] = stream
        own = data.draw(ops(base, data.draw(st.integers(0, 6)), f"s-{level}"))
        began = SessionStarted(agent="a", parent=parent)
        for number, made in enumerate([began, *(op(base) for op in own)], base):
            stream.accept(request(typed(made)), BEGAN_MS + number * 1_000)
        whole += [None, *own]
        at = data.draw(st.integers(1, len(own) + 1))
    last = f"s-{levels - 1}"
    version = data.draw(st.integers(0, len(whole) - base))
    state, expected = await sessions.load(last, version), folded(whole[: base + version])
    assert state.version == version
    assert [replace(m, version=Version(m.version + base)) for m in state.messages] == (
        expected.messages
    )
    assert [(c.first_version + base, c.last_version + base) for c in state.compactions] == [
        (c.first_version, c.last_version) for c in expected.compactions
    ]
    assert {
        k: (c.outcome, c.attempt, c.output, c.version + base) for k, c in state.calls.items()
    } == {k: (c.outcome, c.attempt, c.output, c.version) for k, c in expected.calls.items()}
    if not state.compactions:  # their texts name versions
        for most in (None, 200):
            options = WindowOptions(max_tokens=most)
            one, other = (Windows().window(s, options, len) for s in (state, expected))
            assert one.messages == other.messages


async def test_what_the_parent_comes_to_later_is_not_the_forks() -> None:
    sessions = Sessions()
    parent = sessions.begin("p", user="u")
    say(parent, "a", "b")
    fork = sessions.fork("f", "p", at=2, user="u")
    say(parent, "c")
    say(fork, "d")
    assert texts(await sessions.load("p")) == ["a", "b", "c"]
    state = await sessions.load("f")
    assert texts(state) == ["a", "d"]
    assert [m.version for m in state.messages] == [0, 2]
    assert texts(await sessions.load("f", at=0)) == ["a"]
    assert state.summary.events == {"session.started": 1, "message.added": 1}


async def test_a_handoff_and_a_continuation_inherit_nothing() -> None:
    sessions = Sessions()
    say(sessions.begin("p"), "a")
    for relation in ("handoff", "continuation"):
        sessions.begin(relation, None, Parent(session_id="p", version=2, relation=relation))
        assert texts(await sessions.load(relation)) == []


async def test_a_call_that_was_open_is_the_parents_to_finish() -> None:
    sessions = Sessions()
    parent = sessions.begin("p")
    parent.accept(request(typed(asked("c-1", "x")), typed(begun("c-1", 1))))
    fork = sessions.fork("f", "p", at=3)
    say(fork, "go on")
    assert [c.call_id for c in (await sessions.load("p")).open_calls] == ["c-1"]
    state = await sessions.load("f")
    assert state.open_calls == []
    tool = Windows().window(state, WindowOptions()).messages[1]
    assert tool["role"] == "tool"
    assert "whether it took effect is not known" in tool["content"]
    # It is no reason to keep what is before it for ever.
    event = compaction_of(state, CompactionRequest("short", keep_last=1), len)
    assert (event.first_version, event.last_version) == (-1, -1)
    fork.accept(request(typed(begun("c-1", 2))))
    assert [c.attempt for c in (await sessions.load("f")).open_calls] == [2]


async def test_what_was_inherited_is_compacted_like_anything_else() -> None:
    sessions = Sessions()
    parent = sessions.begin("p")
    say(parent, "one", "two", "three")
    fork = sessions.fork("f", "p", at=4)
    say(fork, "four", "five")
    state = await sessions.load("f")
    event = compaction_of(state, CompactionRequest("short", keep_last=1), len)
    assert (event.first_version, event.last_version) == (-2, 2)
    fork.accept(request(typed(event)))
    shown = Windows().window(await sessions.load("f"), WindowOptions()).messages
    assert len(shown) == 2
    assert "short" in shown[0]["content"]
    # And a compaction that was inherited is where the next one begins.
    grandchild = sessions.fork("g", "f", at=4)
    say(grandchild, "six", "seven")
    event = compaction_of(await sessions.load("g"), CompactionRequest("more", keep_last=1), len)
    assert (event.first_version, event.last_version) == (2 - 4 + 1, 2)


async def test_rewinding_a_fork_to_its_beginning_leaves_what_was_inherited() -> None:
    sessions = Sessions()
    say(sessions.begin("p"), "a", "b")
    fork = sessions.fork("f", "p", at=3)
    say(fork, "c")
    fork.accept(request(typed(ConversationRewound(to_version=0, reason="r"))))
    shown = Windows().window(await sessions.load("f"), WindowOptions()).messages
    assert [m["content"] for m in shown] == ["a", "b"]


async def test_a_parent_that_is_not_there_is_said() -> None:
    sessions = Sessions()
    sessions.fork("f", "nobody", at=1)
    with pytest.raises(SessionNotFound, match="nobody"):
        await sessions.load("f")
    sessions.begin("p", user="u")
    sessions.fork("g", "p", at=9)
    with pytest.raises(VersionNotFound, match="p has no version 9"):
        await sessions.load("g")
    sessions.fork("h", "p", at=1, user="another")
    with pytest.raises(SessionMismatch, match="/p belongs"):
        await sessions.load("h")


async def test_sessions_that_come_from_each_other_are_refused() -> None:
    sessions = Sessions()
    sessions.fork("a", "b", at=1)
    sessions.fork("b", "a", at=1)
    with pytest.raises(IntegrityError, match="more than 50 forks"):
        await sessions.load("a")


async def test_forks_of_forks_end_somewhere() -> None:
    sessions = Sessions()
    say(sessions.begin("s-0"), "a")
    for number in range(1, MOST_FORKS + 2):
        sessions.fork(f"s-{number}", f"s-{number - 1}", at=2 if number == 1 else 1)
    assert texts(await sessions.load(f"s-{MOST_FORKS}")) == ["a"]
    with pytest.raises(IntegrityError):
        await sessions.load(f"s-{MOST_FORKS + 1}")


async def test_a_fork_says_where_it_comes_from() -> None:
    state = SessionState(stream_id("session", "t", "p"), Version(7), user="u", title="Refund")
    handle = SessionStarted(agent="x")
    start = forked(state, handle, title=None, agent="y")
    assert start == SessionStarted(
        user="u",
        agent="y",
        title="Refund",
        parent=Parent(session_id="p", version=7, relation="fork"),
    )
    with pytest.raises(SessionMismatch):
        forked(state, SessionStarted(agent="x", user="v"), title=None, agent=None)
    with pytest.raises(AppendRejected):
        forked(state, handle, title=None, agent="a\0b")
    with pytest.raises(ValueError, match="nothing at version 0"):
        forked(SessionState(state.stream), handle, title=None, agent=None)
