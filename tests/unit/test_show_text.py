"""The conversation as lines: what `show` prints, from events as they stand in the log."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from agentjournal.requests import NewEvent
from agentjournal.state import SessionState
from commands.lines import plain, write_styled
from commands.show_json import transcript_object
from commands.show_text import pretty, transcript_lines
from commands.transcript import Transcript
from tests.support import BEGAN_MS, Stream, event, request, said, started


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def told(*appends: NewEvent | list[NewEvent]) -> Transcript:
    """Return the conversation of appends, a second apart, the first at 12:00:00."""
    stream = Stream()
    for at, events in enumerate(appends):
        asked = request(*(events if isinstance(events, list) else [events]))
        stream.accept(asked, BEGAN_MS + at * 1_000)
    transcript = Transcript(SessionState(stream.stream))
    for recorded in stream.recorded:
        transcript.apply(recorded)
    return transcript


def shown(transcript: Transcript, *, full: bool = False, last_version: int | None = None) -> str:
    version = transcript.state.version if last_version is None else last_version
    return "\n".join(
        plain(line) for line in transcript_lines(transcript, last_version=version, full=full)
    )


def on_terminal(transcript: Transcript, columns: int) -> str:
    console = Console(
        file=StringIO(), force_terminal=True, width=columns, markup=False, highlight=False
    )
    lines = transcript_lines(transcript, last_version=transcript.state.version, full=False)
    write_styled(lines, console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def asks(*calls: tuple[str, str, str], text: str = "Let me look.", **fields: Any) -> NewEvent:
    """Return an assistant's message that asks for tools: (call id, name, arguments)."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    parts += [
        {"type": "tool_call", "call_id": c, "name": n, "arguments_text": a} for c, n, a in calls
    ]
    return event(
        "message.added",
        message_id="m-a",
        role="assistant",
        parts=parts,
        status="complete",
        **fields,
    )


def begins(call_id: str, tool: str = "find", attempt: int = 1) -> NewEvent:
    return event(
        "tool.started",
        call_id=call_id,
        tool=tool,
        arguments_text='{"q":1}',
        arguments_digest="d",
        effect="read",
        idempotency_key="k",
        attempt=attempt,
        lease_s=60,
        kind="function",
    )


def completes(call_id: str, output: Any, duration_ms: float = 5) -> NewEvent:
    fields = {"call_id": call_id, "attempt": 1, "output": output, "duration_ms": duration_ms}
    return event("tool.completed", **fields)


def model_call(model_call_id: str = "mc", **fields: Any) -> NewEvent:
    usual: dict[str, Any] = {
        "model_call_id": model_call_id,
        "provider": "p",
        "request_model": "small",
        "input_tokens": 10,
        "output_tokens": 2,
        "duration_ms": 1_500,
        "status": "completed",
        "attempt": 1,
    }
    return event("model.called", **{**usual, **fields})


def test_a_conversation_is_a_header_then_messages_in_order() -> None:
    transcript = told(
        [started("u-1", title="Late order"), said("Where?")], said("Here.", "assistant")
    )
    assert shown(transcript) == (
        "session s-1  Late order\n"
        "  tenant default · user u-1 · agent agent · open · version 3\n"
        "  started 2026-01-31 12:00:00 · last event 2026-01-31 12:00:01 (UTC+00:00)\n"
        "  tokens 0 in, 0 out · cost - · open calls 0\n"
        "\n"
        "user  2026-01-31 12:00:00\n"
        "  Where?\n"
        "\n"
        "assistant  12:00:01\n"
        "  Here."
    )


def test_an_earlier_version_says_so() -> None:
    assert " · version 2 of 9\n" in shown(told([started(), said("hi")]), last_version=9)


def test_calls_stand_below_the_message_that_asked_for_them() -> None:
    transcript = told(
        [started(), asks(("c-1", "find", '{"order": 7}'), ("c-2", "pay", "{}"), ("c-3", "x", ""))],
        begins("c-1"),
        completes("c-1", "found\nit", duration_ms=1_234),
        begins("c-2", "pay"),
        said("later"),
    )
    assert shown(transcript).split("  Let me look.\n")[1] == (
        "    → find c-1  completed  1.2 s\n"
        '      {"q":1}\n'
        "      ← found\n"
        "        it\n"
        "    → pay c-2  open  lease until 2026-01-31 12:01:03\n"
        '      {"q":1}\n'
        "    → x c-3  open  not started\n"
        "\n"
        "user  12:00:04\n"
        "  later"
    )


def test_a_failed_call_says_why_and_how_long_it_took() -> None:
    failure = {"type": "timeout", "message": "no answer", "retryable": True}
    transcript = told(
        [started(), asks(("c-1", "find", "{}"))],
        begins("c-1"),
        event("tool.failed", call_id="c-1", attempt=1, error=failure),
        begins("c-1", attempt=2),
        event("tool.failed", call_id="c-1", attempt=2, error=failure),
    )
    found = shown(transcript)
    assert "    → find c-1  failed  attempt 2  1.0 s\n" in found
    assert "      timeout: no answer" in found


def test_a_call_that_no_message_asked_for_stands_where_it_began() -> None:
    transcript = told([started(), said("hi")], begins("c-1", "sweep"), said("bye"))
    found = shown(transcript)
    assert found.index("hi") < found.index("→ sweep c-1  open") < found.index("bye")
    assert "call  12:00:01\n    → sweep" in found


def test_an_outcome_without_a_beginning_is_shown_too() -> None:
    found = shown(told([started(), said("hi")], completes("c-1", "out")))
    assert "    → (a call that nobody began) c-1  completed  5 ms\n      ← out" in found


def test_a_long_output_is_cut_unless_all_is_asked_for() -> None:
    output = "\n".join(f"line {n}" for n in range(100))
    transcript = told(
        [started(), asks(("c-1", "find", "{}"))], begins("c-1"), completes("c-1", output)
    )
    cut, full = shown(transcript), shown(transcript, full=True)
    assert "… 85 lines, 680 characters not shown (--full shows all)" in cut
    assert "line 9\n" in cut
    assert "line 10\n" not in cut
    assert "not shown" not in full
    assert all(f"line {n}" in full for n in range(100))


def test_turns_are_thin_lines() -> None:
    transcript = told(
        [started(), event("turn.started", turn_id="t", trigger="schedule", input_versions=[])],
        event(
            "turn.ended",
            turn_id="t",
            reason="failed",
            error={"type": "error", "message": "out of\nmoney"},
        ),
    )
    assert shown(transcript).split("\n\n")[1:] == [
        "── turn · schedule · 2026-01-31 12:00:00 ───",
        "── turn failed · out of money · 12:00:01 ───",
    ]
    rules = [line for line in on_terminal(transcript, 60).splitlines() if "──" in line]
    assert len(rules) == 2


def test_a_model_call_stands_with_its_message_or_alone() -> None:
    cost = {"amount": "0.10", "currency": "EUR", "source": "client"}
    transcript = told(
        [started(), model_call("one", cost=cost), asks(model_call_id="one")],
        model_call("two", status="failed", error={"type": "rate", "message": "too fast"}),
    )
    found = shown(transcript)
    assert (
        "assistant  2026-01-31 12:00:00\n  model small · 10 in · 2 out · 0.10 EUR · 1.5 s\n"
        in found
    )
    assert found.endswith("  model small · 10 in · 2 out · 1.5 s · failed: too fast")
    assert found.count("  model small") == 2
    assert "tokens 20 in, 4 out · cost 0.10 EUR" in found


def test_costs_of_different_currencies_are_not_added() -> None:
    def call(name: str, amount: str, currency: str) -> NewEvent:
        return model_call(name, cost={"amount": amount, "currency": currency, "source": "client"})

    calls = [call("1", "0.1", "USD"), call("2", "0.2", "USD"), call("3", "1", "EUR")]
    assert "cost 1 EUR + 0.3 USD" in shown(told([started(), *calls]))


def test_other_events_are_one_line_and_leases_are_left_out() -> None:
    transcript = told(
        [started(), event("note.set", key="order", value={"id": 7})],
        event("lease.acquired", holder="w-1", fence=3, lease_s=60),
        event("custom.seen", page="\x1b[2J" + "x" * 500),
        event("session.ended", reason="done"),
    )
    lines = shown(transcript).split("\n")[4:]
    assert lines[0] == '  · note.set  order = {"id":7}'
    assert lines[1].startswith('  · custom.seen  {"page":"\\u001b[2Jxxx')
    assert len(lines[1]) < 230
    assert lines[2] == "  · session.ended  done"
    assert len(lines) == 3


def test_a_retracted_message_and_one_that_was_cut_off_are_marked() -> None:
    first = said("oops", message_id="m-1")
    half = event(
        "message.added",
        message_id="m-2",
        role="assistant",
        parts=[{"type": "text", "text": "I wa"}],
        status="incomplete",
        name="helper",
    )
    found = shown(
        told([started(), first, half], event("message.retracted", message_id="m-1", reason="wrong"))
    )
    assert "user (retracted)  " in found
    assert "assistant (helper) (incomplete)  " in found


def test_parts_that_are_no_text_are_named() -> None:
    parts = [
        {"type": "reasoning", "text": "hm", "provider": "p"},
        {"type": "image", "media_type": "image/png", "uri": "file:///a.png", "size": 12_000},
        {"type": "refusal", "text": "No."},
        {"type": "provider", "provider": "p", "raw": {"a": 1}},
    ]
    fields = {"message_id": "m", "role": "assistant", "parts": parts, "status": "complete"}
    found = shown(told([started(), event("message.added", **fields)]))
    assert found.endswith(
        "  (thinking) hm\n  [image image/png file:///a.png 12,000 bytes]\n  No.\n  [p part]"
    )


def test_escapes_and_markup_in_every_place_are_shown_as_they_are() -> None:
    evil = "\x1b[31m\x07[red]\u202e"
    shown_as = r"\x1b[31m\x07[red]\u202e"
    transcript = told(
        [started("u-1", title=evil), asks(("c-1", "find", evil), text=evil)],
        begins("c-1"),
        event(
            "tool.failed",
            call_id="c-1",
            attempt=1,
            error={"type": "error", "message": evil, "retryable": False},
            output=evil,
        ),
        event("note.set", key="k", value=evil),
    )
    found = shown(transcript)
    assert found.count(shown_as) == 4  # title, text, error, output; a note is JSON
    assert not set(found) & {"\x1b", "\x07", "\u202e"}
    terminal = on_terminal(transcript, 80)
    assert "\x1b[31m\x07" not in terminal
    assert "[red]" in terminal


def test_a_wide_terminal_shows_the_same_lines_as_a_pipe() -> None:
    transcript = told([started(), said("one\n\ntwo")], begins("c-1"), completes("c-1", "\nout"))
    lines = [plain_of(line).rstrip() for line in on_terminal(transcript, 200).splitlines()]
    assert lines == shown(transcript).splitlines()


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_nothing_is_wider_than_the_terminal(columns: int) -> None:
    transcript = told(
        [
            started("u-1", title="t" * 300),
            event("turn.started", turn_id="t", trigger="user", input_versions=[]),
        ],
        [
            said("x" * 500 + " 日本語" * 60),
            asks(("c" * 200, "find" * 50, '{"a":"' + "y" * 300 + '"}')),
        ],
        model_call(request_model="m" * 200),
    )
    lines = [plain_of(line) for line in on_terminal(transcript, columns).splitlines()]
    assert max(map(cell_len, lines)) <= columns


def plain_of(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


@pytest.mark.parametrize(
    ("written", "shown_as"),
    [
        ('{"a": 1}', '{"a": 1}'),
        (" {} ", "{}"),
        ("not json", "not json"),
        ("", ""),
        ('{"n": ' + "9" * 70 + "}", '{"n": ' + "9" * 70 + "}"),
    ],
)
def test_arguments_that_are_short_or_no_json_stay_as_they_are(written: str, shown_as: str) -> None:
    assert pretty(written) == shown_as


def test_long_arguments_are_indented() -> None:
    value = {"query": "a" * 50, "tags": ["b", {"c": None}]}
    assert pretty(json.dumps(value)) == json.dumps(value, indent=2)


def test_the_object_holds_the_same_conversation() -> None:
    transcript = told(
        [started("u-1"), asks(("c-1", "find", "{}"), text="\ud800")],
        begins("c-1"),
        completes("c-1", [{"type": "text", "text": "out"}]),
    )
    found = transcript_object(transcript, last_version=7)
    assert (found["version"], found["last_version"], found["user"]) == (4, 7, "u-1")
    assert found["started_at"] == "2026-01-31T12:00:00.000Z"
    assert found["messages"][0]["text"] == "\ud800"
    assert found["tool_calls"][0]["output"] == [{"type": "text", "text": "out"}]
    assert found["tool_calls"][0]["started_at"] == "2026-01-31T12:00:01.000Z"
