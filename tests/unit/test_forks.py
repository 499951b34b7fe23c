"""A fork begins with what its parent had come to, and goes on by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    AppendRejected,
    ConversationRewound,
    IntegrityError,
    Parent,
    SessionMismatch,
    SessionNotFound,
    SessionStarted,
    SessionState,
    VersionNotFound,
)
from agentjournal.forks import MOST_FORKS, forked
from agentjournal.ids import Version, stream_id
from agentjournal.windows.compaction import CompactionRequest, compaction_of
from agentjournal.windows.window import WindowOptions, Windows
from tests.support import BEGAN_MS, Stream, request, typed
from tests.unit.forked_sessions import (
    Op,
    Sessions,
    asked,
    begun,
    folded,
    ops,
    say,
    texts,
)


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
