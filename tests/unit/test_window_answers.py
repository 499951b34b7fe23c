"""What people and other agents answered stands in a window where it came, until it is gone."""

from __future__ import annotations

from agentjournal import (
    ApprovalGranted,
    ApprovalRequested,
    ConversationCompacted,
    ConversationRewound,
    Event,
    Failure,
    HandoffCompleted,
    HandoffFailed,
    HandoffRequested,
    InputProvided,
    InputRequested,
    MessageAdded,
    SessionState,
)
from agentjournal.ids import Version, stream_id
from agentjournal.run_state import OwnEvent
from agentjournal.windows.conversation import entries_of
from tests.agents import says


def shown(*events: Event) -> list[str]:
    """Return the texts that a model is shown after these events."""
    state = SessionState(stream_id("session", "default", "s"))
    for version, event in enumerate(events, 1):
        state.apply(OwnEvent(Version(version), event, "2026-01-31T12:00:00.000Z"))
    return [entry.text for entry in entries_of(state)]


HELLO = MessageAdded(role="user", content="Hello", message_id="hello")
DAY = InputRequested(input_id="i", question="Which day?")
MONDAY = InputProvided(input_id="i", by="eva", value="Monday")
MAY = ApprovalRequested(approval_id="a", question="May I?")
YES = ApprovalGranted(approval_id="a", by="eva", comment="go on")


def handed(handoff_id: str) -> HandoffRequested:
    return HandoffRequested(
        handoff_id=handoff_id,
        mode="delegate",
        to_agent="counter",
        task=f"Count {handoff_id}.\nAll.",
    )


def test_answers_stand_among_the_messages_where_they_came() -> None:
    assert shown(HELLO, DAY, MAY, YES, says("Well"), MONDAY, says("Then")) == [
        *("Hello", "[granted: May I?]\ngo on", "Well"),
        *("[eva answers: Which day?]\nMonday", "Then"),
    ]
    assert shown(HELLO, DAY) == ["Hello"]


def test_what_another_agent_came_to_is_shown_and_how_it_failed() -> None:
    failed = HandoffFailed(handoff_id="b", error=Failure(type="timeout", message="no answer"))
    done = HandoffCompleted(handoff_id="a", summary="3", data={"n": 3}, usage={"tokens": 9})
    assert shown(HELLO, handed("a"), handed("b"), handed("c"), failed, done) == [
        *("Hello", "[counter failed: Count b.]\ntimeout: no answer"),
        '[counter has done it: Count a.]\n3\n{"n":3}',
    ]


def test_an_answer_to_a_call_is_in_its_result_alone() -> None:
    of_call = MAY.model_copy(update={"call_id": "c"})
    assert shown(HELLO, of_call, YES) == ["Hello"]


def test_what_is_compacted_or_rewound_is_gone_with_its_answers() -> None:
    before = [HELLO, DAY, MONDAY, says("Then"), MAY, YES]
    summary = ConversationCompacted(
        first_version=1,
        last_version=4,
        summary="On Monday.",
        carried=[],
        tokens_before=0,
        tokens_after=0,
        summarised_by="caller",
        forced=False,
    )
    compacted = shown(*before, summary, says("Go"))
    assert compacted[0].endswith("On Monday.")
    assert compacted[1:] == ["[granted: May I?]\ngo on", "Go"]
    assert shown(*before, ConversationRewound(to_version=1, reason="r")) == ["Hello"]
    again = ConversationRewound(to_version=3, reason="r")
    assert shown(*before, again, says("Now")) == [
        *("Hello", "[eva answers: Which day?]\nMonday", "Now"),
    ]
