"""About how many tokens an event has: what is stated with it, for limits and for analysts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    Event,
    ImagePart,
    MessageAdded,
    NoteSet,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolCompleted,
)
from agentjournal.estimates import estimated_tokens, len_utf8
from agentjournal.outgoing import outgoing

CALL = ToolCallPart(call_id="c", name="look", arguments_text='{"at": "x"}')


@pytest.mark.parametrize(
    ("event", "tokens"),
    [
        (MessageAdded(role="user", content="abcd"), 1),
        (MessageAdded(role="user", content="abcde"), 2),
        (MessageAdded(role="user", content=""), 0),
        (MessageAdded(role="user", content="日本語"), 3),  # 9 bytes
        (MessageAdded(role="assistant", parts=[TextPart(text="abcd"), CALL]), 5),  # 4 + 4 + 11
        (
            MessageAdded(
                role="assistant", parts=[ReasoningPart(text="a" * 40, provider="x", encrypted="e")]
            ),
            10,
        ),
        (
            MessageAdded(
                role="user", parts=[ImagePart(media_type="image/png", uri="https://example.com/a")]
            ),
            0,
        ),
        (ToolCompleted(call_id="c", output="x" * 100, duration_ms=1), 25),
        (ToolCompleted(call_id="c", output=[TextPart(text="x" * 100)], duration_ms=1), 25),
        (NoteSet(key="k", value="a long text that no conversation has"), None),
    ],
)
def test_tokens_are_a_quarter_of_the_bytes_of_what_a_model_reads(
    event: Event, tokens: int | None
) -> None:
    assert estimated_tokens(event) == tokens
    (made,) = outgoing("session", event, None)
    assert made.tokens == tokens


@given(st.text(st.characters()))
def test_bytes_are_those_of_utf8_also_of_lone_surrogates(text: str) -> None:
    assert len_utf8(text) == sum(
        1 + (ord(sign) > 0x7F) + (ord(sign) > 0x7FF) + (ord(sign) > 0xFFFF) for sign in text
    )
