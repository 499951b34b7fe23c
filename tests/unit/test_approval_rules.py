"""Approvals, as a pure rule: a grant holds for exactly the arguments of its digest."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import AppendRejected, Ask, MessageAdded, SessionState, ToolCallPart
from agentjournal.approvals import (
    Allowed,
    Denied,
    Lapsed,
    MustAsk,
    Wait,
    is_allowed,
    moment_of,
    verdict,
)
from agentjournal.events import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    Event,
)
from agentjournal.ids import Version, stream_id
from agentjournal.run_state import OwnEvent

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ASK = Ask("May it?", expires_in_s=60)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=1), inner),
    max_leaves=4,
)
arguments = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def state_of(*events: Event) -> SessionState:
    """Return what a session has come to by these events."""
    state = SessionState(stream_id("session", "default", "s"))
    for version, event in enumerate(events, 1):
        state.apply(OwnEvent(Version(version), event, "2026-01-31T12:00:00.000Z"))
    return state


def wants(asked_for: Any) -> MessageAdded:
    """Return what a model says that wants to pay."""
    part = ToolCallPart(call_id="c", name="pay", arguments_text=json.dumps(asked_for))
    return MessageAdded(role="assistant", parts=[part])


def request(asked_for: Any) -> ApprovalRequested:
    """Return what somebody is asked before a call."""
    state = state_of(wants(asked_for))
    found = verdict(state, state.calls["c"], ASK, NOW)
    assert isinstance(found, MustAsk)
    return found.event


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON, whatever the order of keys."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@given(asked_for=arguments, tried=arguments)
def test_a_grant_holds_for_exactly_what_was_asked_about(asked_for: Any, tried: Any) -> None:
    asked = request(asked_for)
    granted = ApprovalGranted(approval_id=asked.approval_id, by="eva")
    state = state_of(wants(tried), asked, granted)
    assert is_allowed(state, "pay", tried) == same(asked_for, tried)
    assert not is_allowed(state, "refund", asked_for)
    found = verdict(state, state.calls["c"], ASK, NOW)
    assert isinstance(found, Allowed) == same(asked_for, tried)
    assert isinstance(found, MustAsk) != same(asked_for, tried)


@given(asked_for=arguments, edited=arguments, tried=arguments)
def test_edited_arguments_are_allowed_in_place_of_those_that_were_asked_about(
    asked_for: Any, edited: Any, tried: Any
) -> None:
    asked = request(asked_for)
    granted = ApprovalGranted(
        approval_id=asked.approval_id, by="eva", edited_arguments_text=json.dumps(edited)
    )
    state = state_of(wants(asked_for), asked, granted)
    assert is_allowed(state, "pay", tried) == same(edited, tried)
    found = verdict(state, state.calls["c"], ASK, NOW)
    assert found == Allowed(json.dumps(edited), asked.approval_id)


def test_a_request_is_open_until_it_is_answered_or_its_time_has_passed() -> None:
    asked = request({})
    assert asked.expires_at == "2026-01-31T12:01:00.000Z"
    open_ = state_of(wants({}), asked)
    call, just_before = open_.calls["c"], NOW + timedelta(seconds=59)
    assert isinstance(verdict(open_, call, ASK, just_before), Wait)
    assert isinstance(verdict(open_, call, ASK, NOW + timedelta(seconds=60)), Lapsed)
    approval_id = asked.approval_id
    answers: dict[str, list[Event]] = {
        "approval_denied": [ApprovalDenied(approval_id=approval_id, by="eva")],
        "approval_expired": [
            ApprovalExpired(approval_id=approval_id),
            ApprovalGranted(approval_id=approval_id, by="eva"),
        ],
    }
    for code, events in answers.items():
        state = state_of(wants({}), asked, *events)
        found = verdict(state, state.calls["c"], ASK, NOW)
        assert isinstance(found, Denied)
        assert (found.failure.type, found.failure.code) == ("denied", code)
        assert not is_allowed(state, "pay", {})


@pytest.mark.parametrize(
    ("in_s", "at", "path"),
    [
        (0, None, "expires_in_s"),
        (float("nan"), None, "expires_in_s"),
        (1e20, None, "expires_in_s"),
        (1, NOW, "expires_at"),
        (None, NOW.replace(tzinfo=None), "expires_at"),
    ],
)
def test_a_moment_that_is_none_is_refused(in_s: float | None, at: Any, path: str) -> None:
    with pytest.raises(AppendRejected) as refused:
        moment_of("expires", NOW, in_s, at)
    assert refused.value.path == path
