"""Values of slots: what words mean, and when two mean the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.memory.dates import date_of, time_of
from agentjournal.memory.slots import Slot, ValueType, default_slots
from agentjournal.memory.values import normal_form, value_of

SAID_AT = "2026-01-14T10:00:00Z"  # a Wednesday


def slot(kind: ValueType) -> Slot:
    return Slot("user", "x", "profile", "single", kind)


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("2026-03-01", "2026-03-01"),
        ("1 March 2026", "2026-03-01"),
        ("March 1st, 2026", "2026-03-01"),
        ("the 1st of March", "2026-03-01"),
        ("1 January", "2027-01-01"),  # the next one after it was said
        ("01.03.2026", "2026-03-01"),
        ("March 2026", "2026-03"),
        ("end of February", "2026-02-28"),
        ("tomorrow", "2026-01-15"),
        ("in two weeks", "2026-01-28"),
        ("in a month", "2026-02-14"),
        ("next Monday", "2026-01-19"),
        ("Wednesday", "2026-01-21"),
    ],
)
def test_a_date_is_resolved_against_when_it_was_said(words: str, day: str) -> None:
    assert date_of(words, SAID_AT) == day


@pytest.mark.parametrize(
    "words", ["04/05/2026", "31 April 2026", "2026", "soon", "", "0 May", "13"]
)
def test_what_has_no_one_reading_is_no_date(words: str) -> None:
    assert date_of(words, SAID_AT) is None


def test_a_birthday_without_a_year_is_a_day_of_every_year() -> None:
    assert date_of("March 14", SAID_AT, is_past=True) == "--03-14"


@pytest.mark.parametrize(
    ("words", "time"), [("6pm", "18:00"), ("12 am", "00:00"), ("18:30", "18:30"), ("noon", "12:00")]
)
def test_times_of_day_have_one_form(words: str, time: str) -> None:
    assert time_of(words) == time


@pytest.mark.parametrize(
    ("kind", "words", "value"),
    [
        ("number", "forty-six", 46),
        ("number", "1,200", 1200),
        ("number", "2.5k", 2500),
        ("number", "two", 2),
        ("quantity", "64 kilos", "64 kg"),
        ("quantity", "5'11\"", "180 cm"),
        ("quantity", "1.71 m", "1.71 m"),
        ("money", "$1,500", "1500 USD"),
        ("money", "800 euros", "800 EUR"),
        ("money", "40k euro", "40000 EUR"),
        ("email", "ada@example.org", "ada@example.org"),
        ("phone", "+44 20 7946 0018", "+44 20 7946 0018"),
        ("name", "little Mira", "Mira"),
    ],
)
def test_a_value_is_read_as_its_slot_wants_it(kind: ValueType, words: str, value: Any) -> None:
    assert value_of(slot(kind), words, SAID_AT) == value


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("number", "many"),
        ("money", "800"),
        ("money", "euros"),
        ("email", "ada at example"),
        ("phone", "12"),
        ("date", "some day"),
        ("text", " ., "),
    ],
)
def test_what_is_none_of_the_type_is_no_value(kind: ValueType, words: str) -> None:
    assert value_of(slot(kind), words, SAID_AT) is None


def test_another_word_for_a_choice_is_the_choice() -> None:
    seat = default_slots().find("user", "seat")

    assert seat is not None
    assert value_of(seat, "Window seats", SAID_AT) == "window"
    assert value_of(seat, "balcony", SAID_AT) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Green", " green. "),
        ("\uff21cme", "acme"),  # full width
        ("+44 20 7946 0018", "+442079460018"),
        ("64 kilos", "64 kg"),
        (2, "2.0"),
        ("1,200", 1200),
        ("don\u2019t", "don't"),
        ({"b": "X", "a": 1}, {"a": "1", "b": "x"}),
    ],
)
def test_equal_values_have_one_normal_form(one: Any, other: Any) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(("one", "other"), [("K-20418", "K-20419"), ("007", "7"), ("12", "12 kg")])
def test_other_values_have_another(one: Any, other: Any) -> None:
    assert normal_form(one) != normal_form(other)


@given(st.text(max_size=60))
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    once = normal_form(text)

    assert normal_form(once) == once


@given(st.text(max_size=40), st.sampled_from(["date", "money", "quantity", "number", "phone"]))
def test_no_words_are_too_strange_to_be_read(text: str, kind: ValueType) -> None:
    value_of(slot(kind), text, SAID_AT)
