"""`history` is a line an event: which, when, who, what, and why."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agentjournal import NoteSet
from commands.history_lines import history_lines
from commands.lines import plain
from commands.times import date_and_milliseconds
from tests.support import Stream, message, request, said, typed


def lines(stream: Stream, width: int = 200) -> list[str]:
    return [plain(each) for each in history_lines(stream.recorded, width)]


def test_a_line_says_which_event_when_by_whom_what_and_why() -> None:
    stream = Stream()
    asked = said("Where is it?")
    stream.accept(request(asked, agent="support", worker="w-1"))
    noted = typed(NoteSet(key="order", value=7))
    noted = noted._replace(causationid=asked.id, correlationid="ticket-9")
    stream.accept(request(noted, agent="support", worker="w-2"))
    stream.accept(request(said("b")._replace(causationid="elsewhere")))
    times = [date_and_milliseconds(each.recorded_at) for each in stream.recorded]
    why = "because of version 1, for ticket-9"
    assert lines(stream) == [
        f"1  {times[0]}  support/w-1  message.added  user: Where is it?",
        f"2  {times[1]}  support/w-2  note.set       order = 7  {why}",
        f"3  {times[2]}  -            message.added  user: b  because of elsewhere",
    ]


def test_versions_are_aligned_to_the_longest() -> None:
    stream = Stream()
    stream.accept(request(*(typed(message(f"{n}")) for n in range(10))))
    found = lines(stream)
    assert [line[:4] for line in (found[0], found[9])] == [" 1  ", "10  "]


@given(st.text(), st.text(), st.integers(0, 120))
def test_whatever_others_wrote_each_event_is_one_harmless_line(
    text: str, name: str, width: int
) -> None:
    stream = Stream()
    stream.accept(request(said("a"), said("b")))
    one, two = stream.recorded
    events = [one._replace(agent=name, correlation_id=text), two._replace(type=name)]
    found = [plain(each) for each in history_lines(events, width)]
    assert len(found) == 2
    assert not any(re.search(r"[\x00-\x1f\x7f-\x9f]", line) for line in found)


@pytest.mark.parametrize("width", [90, 120])
def test_a_long_text_is_cut_to_the_width_and_the_reason_is_not(width: int) -> None:
    stream = Stream()
    stream.accept(request(said("long " * 100)._replace(correlationid="t-1"), agent="a"))
    [line] = lines(stream, width)
    assert cell_len(line) <= width
    assert line.endswith("…  for t-1")
    assert "user: long long" in line
