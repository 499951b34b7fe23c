"""A window within a budget: what goes, what stays, and that prompts keep their beginning."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal import Event, MessageAdded, SessionState, WindowTooSmall
from agentjournal.windows.budget import cut
from agentjournal.windows.conversation import entries_of
from agentjournal.windows.identifiers import identifiers_in
from agentjournal.windows.measures import Measures
from agentjournal.windows.window import Window, WindowOptions, Windows
from tests.unit.window_strategies import conversations, state_of, states_of

FORMATS = ["openai-chat", "openai-responses", "anthropic"]
budgets = st.integers(60, 400)
shares = st.sampled_from([0.3, 0.7, 0.9])


def words(text: str) -> int:
    """Count words: a tokenizer whose counts one can check by eye."""
    return len(text.split())


def window_of(state: SessionState, most: int, share: float = 0.7, form: Any = "openai-chat") -> Any:
    """Return the window, or None when what must be kept does not fit."""
    try:
        return Windows().window(state, WindowOptions(most, share, form), words)
    except WindowTooSmall:
        return None


def shown_text(window: Window) -> str:
    return json.dumps([window.system, window.messages], ensure_ascii=False)


@settings(max_examples=60)
@given(conversations(), budgets, shares, st.sampled_from(FORMATS))
def test_between_two_cuts_each_window_begins_with_the_one_before(
    events: list[Event], most: int, share: float, form: str
) -> None:
    before: Window | None = None
    for state in states_of(events):
        if state.open_calls:
            continue  # its placeholder gives way to the result
        window = window_of(state, most, share, form)
        if window is not None and before is not None and window.dropped == before.dropped:
            assert window.system[: len(before.system)] == before.system
            if form == "anthropic":
                assert _is_prefix_of_blocks(before.messages, window.messages)
            else:
                assert window.messages[: len(before.messages)] == before.messages
        before = window


def _is_prefix_of_blocks(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> bool:
    """Return whether blocks go on: a neighbour of the same role joins the last message."""
    one, two = (
        [(m["role"], block) for m in messages for block in m["content"]]
        for messages in (first, second)
    )
    return two[: len(one)] == one


@settings(max_examples=60)
@given(conversations(), budgets, shares)
def test_nothing_goes_until_the_budget_is_passed(
    events: list[Event], most: int, share: float
) -> None:
    for state in states_of(events):
        window = window_of(state, most, share)
        whole = Windows().window(state, WindowOptions(10**9), words)
        assert whole.tokens is not None
        assert whole.dropped.messages == 0
        if window is None:
            continue
        assert window.tokens <= most
        if window.dropped.messages == 0:
            assert window.messages == whole.messages
            assert window.tokens == whole.tokens


@settings(max_examples=60)
@given(conversations(), budgets, shares)
def test_system_and_developer_messages_and_the_last_message_stay(
    events: list[Event], most: int, share: float
) -> None:
    state = state_of(*events)
    window = window_of(state, most, share)
    if window is None:
        return
    kept = [m.text for m in state.messages if m.role in {"system", "developer"}]
    shown = [m["content"] for m in window.messages if m["role"] in {"system", "developer"}]
    assert shown == kept
    texts = [m["content"] for m in window.messages if m["role"] in {"user", "assistant"}]
    assert state.messages[-1].text in [*texts, *shown]


@settings(max_examples=60)
@given(conversations(), budgets, shares)
def test_calls_and_results_are_never_parted(events: list[Event], most: int, share: float) -> None:
    for state in states_of(events):
        window = window_of(state, most, share)
        due: list[str] = []
        for shown in window.messages if window else []:
            if shown["role"] == "tool":
                assert shown["tool_call_id"] == due.pop(0)
            else:
                assert due == []
                due = [call["id"] for call in shown.get("tool_calls", [])]
        assert due == []


@settings(max_examples=60)
@given(conversations(), budgets, shares)
def test_identifiers_of_what_is_gone_are_shown_or_said_to_be_lost(
    events: list[Event], most: int, share: float
) -> None:
    state = state_of(*events)
    window = window_of(state, most, share)
    if window is None:
        return
    everything = {
        name
        for entry in entries_of(state)
        for text in entry.texts()
        for name in identifiers_in(text)
    }
    text = shown_text(window)
    gone = {name for name in everything if name.value not in text}
    assert gone <= set(window.lost_identifiers) <= everything


def long(role: Any, number: int, length: int = 10) -> MessageAdded:
    text = " ".join([f"{role}{number}", *["word"] * (length - 1)])
    return MessageAdded(role=role, content=text, message_id=f"{role}{number}")


def firsts(window: Window) -> list[str]:
    return [str(m["content"]).split()[0] for m in window.messages]


def test_whole_turns_go_oldest_first_down_to_the_share() -> None:
    # 14 tokens a message: 10 words and 4 of framing. The seventh passes the budget of 90; of it 63
    # may stay, so the first turn goes (70 are left), and the second.
    turns = [e for n in range(3) for e in (long("user", n), long("assistant", n))]
    window = window_of(state_of(*turns, long("user", 3)), 90, 0.7)
    assert window.dropped.messages == 4
    assert (window.dropped.first_version, window.dropped.last_version) == (1, 4)
    assert firsts(window) == ["user2", "assistant2", "user3"]
    assert window.tokens == 42


def test_of_one_long_turn_the_question_and_the_last_step_stay() -> None:
    steps = [long("assistant", n) for n in range(8)]
    window = window_of(state_of(long("user", 0), *steps), 90, 0.4)
    shown = firsts(window)
    assert shown[0] == "user0"
    assert shown[-1] == "assistant7"
    assert window.tokens <= 90


def test_what_must_be_kept_and_does_not_fit_is_an_error_that_says_how_much_it_is() -> None:
    state = state_of(long("system", 0, 50), long("user", 0))
    with pytest.raises(WindowTooSmall) as error:
        Windows().window(state, WindowOptions(60), words)
    assert (error.value.version, error.value.tokens, error.value.max_tokens) == (2, 68, 60)


def test_identifiers_of_dropped_turns_are_carried_in_one_message() -> None:
    said = MessageAdded(role="user", content="order 48213 of 2026-01-31 for $12.50, a@b.example")
    rest = [long("assistant", 0, 90), long("user", 1, 90), long("assistant", 1, 90)]
    window = window_of(state_of(long("system", 0), said, *rest), 250, 0.7)
    block = window.messages[1]
    assert window.messages[0]["role"] == "system"
    assert block["role"] == "user"
    for value in ("48213", "2026-01-31", "$12.50", "a@b.example"):
        assert value in block["content"]
    assert window.lost_identifiers == []


@pytest.mark.parametrize(
    "options",
    [{"max_tokens": 0}, {"trim_to": 0}, {"trim_to": 0.95}, {"format": "x"}, {"max_output": 0}],
)
def test_options_that_make_no_sense_are_refused_by_name(options: dict[str, Any]) -> None:
    [name] = options
    with pytest.raises(ValueError, match=name):
        WindowOptions(**options)


def test_a_count_is_made_once_for_each_message() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return words(text)

    windows, options = Windows(), WindowOptions(10_000)
    states = states_of([long("user", 0), long("assistant", 0), long("user", 1)])
    for state in states:
        windows.window(state, options, count)
    assert len(counted) == 3
    entries = entries_of(states[-1])
    assert cut(entries, Measures(words), 10_000, 0.7).tokens == 42
