"""The digest of a tool call: what it depends on, and what it does not."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import AppendRejected, arguments_digest

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text('aé"\\\n/😀', max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abé", max_size=2), inner),
    max_leaves=8,
)


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(list(value))}
    return [reversed_keys(each) for each in value] if isinstance(value, list) else value


@given(plain)
def test_the_order_of_keys_does_not_matter(value: Any) -> None:
    assert arguments_digest("t", {"a": value, "b": 1}) == arguments_digest(
        "t", {"b": 1, "a": reversed_keys(value)}
    )


@given(plain)
def test_it_can_be_worked_out_by_anybody(value: Any) -> None:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = hashlib.sha256(b"tool\0" + text.encode()).hexdigest()
    assert arguments_digest("tool", value) == expected


def test_other_tools_and_other_arguments_have_other_digests() -> None:
    calls: list[tuple[str, Any]] = [
        ("t", {}), ("u", {}), ("t", []), ("t", None), ("t", {"a": 1}), ("t", {"a": 1.0}),
        ("t", {"a": "1"}), ("t", {"a": True}), ("t", {"a": b"1"}), ("t", {"a": 2**70}),
        ("t", {"a": float("nan")}), ("t", {"a": "\ud800"}), ("t", {"a": "\0"}),
    ]  # fmt: skip
    assert len({arguments_digest(tool, value) for tool, value in calls}) == len(calls)


def test_what_cannot_be_written_has_none() -> None:
    with pytest.raises(AppendRejected):
        arguments_digest("t", {"a": object()})
