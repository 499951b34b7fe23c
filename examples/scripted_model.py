"""A model without a model: what it decides is written here, and depends on the window alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentjournal import ToolCallPart

MODEL = "script-1"
_CHARACTERS_A_TOKEN = 4  # a rough rule; a real model's response says what was counted

Calls = Sequence[tuple[str, Mapping[str, str]]]

SCRIPT: Sequence[tuple[str, Calls]] = (
    ("I look at the project and at what fails.", [("list_files", {}), ("run_tests", {})]),
    (
        "The total with a discount is wrong. I read the code and its test.",
        [("read_file", {"path": "prices.py"}), ("read_file", {"path": "test_prices.py"})],
    ),
    (
        "It returns the discount, where it should take it off.",
        [
            (
                "edit_file",
                {
                    "path": "prices.py",
                    "old": "sum(prices) * discount_percent / 100",
                    "new": "sum(prices) * (100 - discount_percent) / 100",
                },
            )
        ],
    ),
    ("Now the tests should pass.", [("run_tests", {})]),
    ("They do. I publish the version.", [("publish", {"version": "1.0.1"})]),
    ("The discount is taken off now, all tests pass, and version 1.0.1 is published.", []),
)


@dataclass(frozen=True, slots=True)
class Response:
    """What a model's API returns, as far as the agent uses it."""

    text: str
    input_tokens: int
    output_tokens: int
    duration_ms: int = 0
    calls: list[ToolCallPart] = field(default_factory=list[ToolCallPart])


def ask(messages: Sequence[Mapping[str, Any]]) -> Response:
    """Return the response to a window: the step after those that the window shows."""
    step = sum(message["role"] == "assistant" for message in messages)
    text, wanted = SCRIPT[step]
    calls = [
        ToolCallPart(
            call_id=f"call-{step + 1}-{n}", name=name, arguments_text=json.dumps(arguments)
        )
        for n, (name, arguments) in enumerate(wanted, start=1)
    ]
    return Response(
        text,
        input_tokens=_tokens(json.dumps(messages)),
        output_tokens=_tokens(text + "".join(call.arguments_text for call in calls)),
        calls=calls,
    )


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_A_TOKEN)
