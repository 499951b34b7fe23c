"""`diff` says what came, changed and went between two states, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    Carried,
    ConversationCompacted,
    Event,
    MessageAdded,
    MessageRetracted,
    SessionEnded,
    SessionStarted,
    SessionState,
    SessionUpdated,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolStarted,
)
from agentjournal.codec import encode
from commands.diff_text import differences_lines, differences_object
from commands.differences import Pair, differences
from commands.lines import plain
from tests.support import Stream, message, request, typed


def asking(*call_ids: str) -> MessageAdded:
    calls = [ToolCallPart(call_id=c, name="refund", arguments_text='{"n": 1}') for c in call_ids]
    return MessageAdded(role="assistant", parts=[*calls], message_id=f"m-{'-'.join(call_ids)}")


def started(call_id: str = "c", attempt: int = 1) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="refund",
        arguments_text='{"n": 1}',
        arguments_digest="d",
        effect="external",
        idempotency_key="k",
        attempt=attempt,
        lease_s=60,
    )


TIMEOUT = ToolFailure(type="timeout", message="too\nlate", retryable=True)
STORY: tuple[Event, ...] = (
    SessionStarted(user="u-7", agent="support", title="Where is it?"),
    message("a"),
    asking("c", "d"),
    started(),
    ToolFailed(call_id="c", attempt=1, error=TIMEOUT),
    started(attempt=2),
    ToolCompleted(call_id="c", attempt=2, output="done", duration_ms=1),
    MessageRetracted(message_id="m-a", reason="r"),
    MessageAdded(role="user", content="\x1b[31mred", message_id="m-red"),
    SessionUpdated(title="A refund"),
    ConversationCompacted(
        first_version=2,
        last_version=3,
        summary="They asked\nwhere it is.",
        carried=[Carried(kind="order", value="7", version=2)],
        tokens_before=9,
        tokens_after=4,
        summarised_by="caller",
    ),
    SessionEnded(reason="solved"),
)
END = len(STORY)


def state_at(version: int) -> SessionState:
    stream = Stream()
    for each in STORY[:version]:
        stream.accept(request(typed(each)))
    state = SessionState(stream.stream)
    for recorded in stream.recorded:
        state.apply(recorded)
    return state


places = st.integers(0, END)


def test_between_two_states_each_thing_stands_where_it_belongs() -> None:
    found = differences(state_at(4), state_at(END))
    assert found.fields == {
        "title": Pair("Where is it?", "A refund"),
        "status": Pair("open", "ended"),
    }
    assert [m.text for m in found.messages.added] == ["\x1b[31mred"]
    assert [(p.before.status, p.after.status) for p in found.messages.changed] == [
        ("complete", "retracted")
    ]
    assert [(p.before.outcome, p.after.outcome) for p in found.calls.changed] == [
        ("open", "completed")
    ]
    assert (found.calls.added, found.calls.removed, found.messages.removed) == ([], [], [])
    assert found.events == {
        "tool.failed": 1,
        "tool.started": 1,
        "tool.completed": 1,
        "message.retracted": 1,
        "message.added": 1,
        "session.updated": 1,
        "conversation.compacted": 1,
        "session.ended": 1,
    }
    assert [each.version for each in found.compactions.added] == [11]


@given(places, places)
def test_the_first_state_and_what_changed_make_the_second(one: int, two: int) -> None:
    before, after = state_at(one), state_at(two)
    found = differences(before, after)
    messages = {m.version: m for m in before.messages}
    for gone in found.messages.removed:
        del messages[gone.version]
    messages |= {m.version: m for m in found.messages.added}
    messages |= {p.after.version: p.after for p in found.messages.changed}
    assert messages == {m.version: m for m in after.messages}
    calls = {key: call for key, call in before.calls.items() if call not in found.calls.removed}
    calls |= {call.call_id: call for call in found.calls.added}
    calls |= {pair.after.call_id: pair.after for pair in found.calls.changed}
    assert calls == after.calls
    assert sum(found.events.values()) == abs(one - two)
    for name in ("title", "status", "user", "agent", "turn_id"):
        pair = found.fields.get(name)
        assert (pair is None) == (getattr(before, name) == getattr(after, name))


@given(places, places)
def test_backwards_it_is_the_same_the_other_way_round(one: int, two: int) -> None:
    there, back = (
        differences(state_at(one), state_at(two)),
        differences(state_at(two), state_at(one)),
    )
    assert there.messages.added == back.messages.removed
    assert there.calls.removed == back.calls.added
    assert [(p.before, p.after) for p in there.calls.changed] == [
        (p.after, p.before) for p in back.calls.changed
    ]
    assert there.events == back.events


@given(places)
def test_a_state_does_not_differ_from_itself(version: int) -> None:
    found = differences(state_at(version), state_at(version))
    assert not found
    assert [plain(each) for each in differences_lines(found)] == [
        f"session s-1  version {version} → {version}",
        "  nothing changed",
    ]


def lines(one: int, two: int) -> list[str]:
    return [plain(each) for each in differences_lines(differences(state_at(one), state_at(two)))]


def test_lines_are_marked_as_added_changed_or_removed_and_are_harmless() -> None:
    kinds = [
        *("message.added", "tool.started", "tool.failed", "tool.completed"),
        *("message.retracted", "session.updated"),
        *("conversation.compacted", "session.ended"),
    ]
    assert lines(4, END) == [
        f"session s-1  version 4 → {END}",
        "  ~ title  Where is it? → A refund",
        "  ~ status  open → ended",
        "messages",
        r"  + 9  user  \x1b[31mred",
        "  ~ 2  user  complete → retracted",
        "tool calls",
        "  ~ c  refund  open (attempt 1) → completed (attempt 2)  done",
        "compactions",
        "  + 11  for versions 2 to 3  They asked where it is.",
        f"events  {', '.join(f'1 {kind}' for kind in kinds)}",
    ]


def test_calls_say_how_they_stand() -> None:
    assert lines(2, 3)[1:5] == [
        "messages",
        '  + 3  assistant  → refund({"n": 1}) → refund({"n": 1})',
        "tool calls",
        "  + c  refund  open",
    ]
    assert lines(3, 4)[2] == "  ~ c  refund  open (not started) → open (attempt 1)"
    assert (
        lines(4, 5)[2] == "  ~ c  refund  open (attempt 1) → failed (attempt 1)  timeout: too late"
    )
    assert lines(3, 2)[2].startswith("  - 3  assistant")


def test_the_object_has_every_value_as_it_was_recorded() -> None:
    found = differences_object(differences(state_at(4), state_at(END)))
    assert (found["from_version"], found["to_version"]) == (4, END)
    assert found["fields"]["title"] == {"before": "Where is it?", "after": "A refund"}
    assert found["messages"]["added"][0]["text"] == "\x1b[31mred"
    [call] = found["tool_calls"]["changed"]
    assert (call["before"]["attempt"], call["after"]["output"]) == (1, "done")
    [compaction] = found["compactions"]["added"]
    assert compaction["carried"] == [{"kind": "order", "value": "7"}]
    assert found["events"]["session.ended"] == 1
    assert encode(found)
