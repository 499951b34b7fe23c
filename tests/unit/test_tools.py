"""Tools by the names that a model calls them, and functions that can be none."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest

from agentjournal.tools import tool, tools_by_name


def charge(amount: int) -> int:
    return amount


@tool(effect="read", name="look")
def look_at(place: str) -> str:
    return place


async def yields() -> AsyncGenerator[int]:
    yield 1


def yields_too() -> Generator[int]:
    yield 1


def test_functions_may_stand_in_a_list_beside_tools_under_their_names() -> None:
    found = tools_by_name([charge, look_at])
    assert {name: each.effect for name, each in found.items()} == {
        "charge": "external",
        "look": "read",
    }
    assert found["look"] is look_at


@pytest.mark.parametrize("function", [yields, yields_too])
def test_what_yields_is_no_tool_since_a_call_of_it_does_nothing(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(TypeError, match="a tool does its work and returns"):
        tool()(function)
    with pytest.raises(TypeError, match="a tool does its work and returns"):
        tools_by_name({"charge": function})
