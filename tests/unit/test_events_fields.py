"""The rules of the text of ids, times and amounts: the sequencer decides by them."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.events.fields import is_amount, is_currency, is_id, is_time

NO_TIMES = """
    2026-01-31T12:00:00 2026-01-31 2026-02-29T12:00Z 2026-04-31T12:00Z 2026-13-01T12:00Z
    2026-01-00T12:00Z 2026-01-31T24:00Z 2026-01-31T12:60Z 2026-01-31T12:00:60Z 2026-01-31T12:00:00z
    0000-01-01T00:00Z 0001-01-01T00:00+01:00 9999-12-31T23:59-01:00 20260131T120000Z
    2026-01-31T12:00:00.Z 2026-01-31T12:00:00.1234567890Z 2026-01-31T12:00+16:00 2026-W05-6T12:00Z
    \u0662\u0660\u0662\u0666-01-31T12:00Z
"""


@given(st.datetimes().filter(lambda naive: 1 < naive.year < 9999), st.integers(-840, 840))
def test_every_date_and_time_of_python_with_a_zone_is_a_time(
    naive: dt.datetime, minutes: int
) -> None:
    zoned = naive.replace(tzinfo=dt.timezone(dt.timedelta(minutes=minutes)))
    assert is_time(zoned.isoformat())
    assert not is_time(naive.isoformat())


@given(st.dates(), st.integers(1, 31))
def test_a_day_is_taken_when_the_calendar_has_it(month: dt.date, day: int) -> None:
    text = f"{month.year:04}-{month.month:02}-{day:02}T12:00:00Z"
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        assert not is_time(text)
    else:
        assert is_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T12:00:00Z",
        "2026-01-31 12:00+05:30",
        "2024-02-29T23:59:59.123456789-15:59",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ],
)
def test_a_time_has_a_zone_and_is_a_date_that_there_is(text: str) -> None:
    assert is_time(text)


@pytest.mark.parametrize(
    "text",
    NO_TIMES.split(),
)
def test_a_time_without_a_zone_or_a_day_that_there_is_not_is_refused(text: str) -> None:
    assert not is_time(text)
    assert not is_time(text + "\n")


@pytest.mark.parametrize(
    ("text", "taken"),
    [("0", True), ("-12.50", True), ("0.003", True), ("9" * 30 + "." + "9" * 30, True)]
    + [(text, False) for text in ("", "1e3", ".5", "5.", "01", "+1", "1 ", "NaN", "9" * 31, "1\n")],
)
def test_an_amount_is_a_decimal_number(text: str, taken: bool) -> None:
    assert is_amount(text) is taken


@pytest.mark.parametrize(
    ("text", "taken"),
    [("a", True), ("é" * 255, True), ("\u200d\U0010ffff \u00a0", True)]
    + [(text, False) for text in ("", "a" * 256, "a\0", "\n", "\x7f", "\x85", "\ud800")],
)
def test_an_id_has_1_to_255_characters_none_of_them_a_control_character(
    text: str, taken: bool
) -> None:
    assert is_id(text) is taken


@pytest.mark.parametrize(
    ("text", "taken"),
    [("USD", True), ("usd", False), ("US", False), ("USDT", False), ("USD\n", False), ("", False)],
)
def test_a_currency_is_three_capital_letters(text: str, taken: bool) -> None:
    assert is_currency(text) is taken
