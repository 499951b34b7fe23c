"""What is dictated is read as if it had been typed; what only sounds like it is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.memory.dictation import written
from tests.unit.test_memory_speech import heard, told

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("it's triple three, four one, triple nine", "it's 33341999"),
        ("zero zero one nine seven", "00197"),
        ("passport um P A double six oh one nine three two", "passport PA6601932"),
        ("it is M as in mike four four oh nine one", "it is M44091"),
        ("Sierra November one one, dash, four oh two, I believe", "SN11-402, I believe"),
        ("PL dash two three dash eight eight one", "PL-23-881"),
        ("one oh two slash four four slash nine", "102/44/9"),
        ("seventy one twenty forty two", "712042"),
        ("my number M 4 4 0 9 1", "my number M44091"),
        ("the um twenty third of June nineteen seventy eight", "23 June 1978"),
        ("the sixth of May, nineteen thirty-nine", "6 May 1939"),
        ("May the second, two thousand and four", "2 May 2004"),
        ("12th of May nineteen ninety", "12 May 1990"),
        ("due the ninth of March 2027", "due 9 March 2027"),
        ("September the thirtieth twenty twenty-six", "30 September 2026"),
        ("the first of June twenty oh seven", "1 June 2007"),
        ("jo dot park at example dot org", "jo.park@example.org"),
        ("jo_park at mail dash box dot example dot org", "jo_park@mail-box.example.org"),
    ],
)
def test_what_is_dictated_is_read_as_it_would_be_typed(said: str, read: str) -> None:
    assert written(said) == read


@pytest.mark.parametrize(
    "said",
    [
        "we have one, two or three",
        "at nine to five on weekdays",
        "I am forty one and have two kids",
        "Mike and Oscar are at the hotel in November, one of them with a golf bag",
        "9 November 1988",
        "two three, no sorry two four six eight",  # nobody can say which part is corrected
        "meet me at harbour dot com",
        "I, um, think that I do",
        "give me a second, it's the third",
        "a b c",
        "x y z a b",
    ],
)
def test_what_only_sounds_like_it_is_left_alone(said: str) -> None:
    assert written(said) == said


@given(st.lists(st.integers(0, 9), min_size=4, max_size=12))
def test_digits_said_one_by_one_are_that_number(digits: list[int]) -> None:
    said = " ".join(_WORDS[digit] for digit in digits)
    assert written(f"It is {said}.") == f"It is {''.join(map(str, digits))}."


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(written(text), str)


def test_a_code_that_was_dictated_is_a_fact_whose_quote_is_what_was_said() -> None:
    said = "My passport is um P A double six oh one nine three two."
    (found,) = heard(said)

    assert (found.attribute, found.value, found.quote) == ("passport_number", "PA6601932", said)
    assert told("I was born on the sixth of May, nineteen thirty-nine.") == [
        ("birthday", "1939-05-06")
    ]
