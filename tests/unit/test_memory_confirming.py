"""A yes to a question that says how it is, is a statement; a yes to an offer is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.memory.confirming import confirmed
from agentjournal.memory.rules import default_rules
from tests.unit.test_memory_speech import heard, told


@pytest.mark.parametrize(
    ("asked", "answer", "facts"),
    [
        ("So your new address is 5 Hill Road, York?", "Yes, that's right.",
         [("address", "5 Hill Road, York")]),
        ("Is your email still jo@example.com?", "Yes.", [("email", "jo@example.com")]),
        ("Thanks. Is your phone number 030 1234567?", "Correct.", [("phone", "030 1234567")]),
        ("Shall I note that you prefer window seats?", "Yes please.", [("seat", "window")]),
        ("You're a nurse, right?", "Right, I am.", [("occupation", "nurse")]),
        ("Do you live in Berlin?", "Yes, I still do.", [("home_city", "Berlin")]),
        ("Are you married?", "Yes", [("marital_status", "married")]),
        ("Do you have a nut allergy?", "Yes, I do.", [("allergy", "nut")]),
    ],
)  # fmt: skip
def test_a_yes_says_what_was_asked(asked: str, answer: str, facts: list[tuple[str, Any]]) -> None:
    assert told(answer, asked) == facts


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Do you have a nut allergy?", "No, I don't."),
        ("Do you have a nut allergy?", "Yes, my sister does."),
        ("Do you want an aisle seat for this flight?", "Yes."),
        ("Would you like a vegetarian meal?", "Yes please."),
        ("Shall I book the window seat?", "Yes."),
        ("You prefer early flights. Shall I book the 6:15?", "Yes."),
        ("Do you live in Berlin or in Hamburg?", "Yes."),
        ("How many people?", "4"),
        ("Your address is 5 Hill Road, York.", "Yes."),
    ],
)
def test_a_no_an_offer_and_a_choice_say_nothing(asked: str, answer: str) -> None:
    assert told(answer, asked) == []


def test_the_question_is_evidence_beside_the_answer() -> None:
    (found,) = heard("Yes, that's right.", "Is your email jo@example.com?")

    assert (found.quote, found.statement.text) == ("Yes, that's right.", "Yes, that's right.")
    assert [each.text for each in found.others] == ["Is your email jo@example.com?"]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_answer_to_any_question_can_be_read(answer: str, asked: str) -> None:
    assert all(isinstance(each, str) for each in confirmed(answer, asked, default_rules().talk))
