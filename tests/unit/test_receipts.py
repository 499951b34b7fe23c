"""Answers to appends: they come back from the wire as they were sent."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.ids import StreamId
from agentjournal.receipts import (
    Answer,
    Receipt,
    Refusal,
    RefusalReason,
    decode_answers,
    encode_answers,
)

text = st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.integers(0, 2**63 - 1)
receipts = st.builds(
    Receipt, text, st.integers(0, 7), numbers, numbers, numbers, st.booleans(), st.just("")
)
refusals = st.builds(Refusal, st.sampled_from(get_args(RefusalReason)), text, text, numbers)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """An answer; a receipt names the stream and the append that it answers."""
    outcome, stream, append_id = draw(receipts | refusals), StreamId(draw(text)), draw(text)
    if isinstance(outcome, Receipt):
        outcome = outcome._replace(stream=stream, append_id=append_id)
    return Answer(stream, append_id, draw(numbers), outcome)


@given(st.lists(answers(), max_size=4))
def test_answers_come_back_as_they_were_sent(sent: list[Answer]) -> None:
    assert decode_answers(encode_answers(sent)) == sent
