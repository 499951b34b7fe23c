"""A model without a model: what it decides is written here, and depends on the window alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

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
                    "old": "* discount_percent / 100",
                    "new": "- discount_percent",
                },
            )
        ],
    ),
    ("Now the tests should pass.", [("run_tests", {})]),
    (
        "They do not: it is a percentage. I take that back.",
        [("revert_file", {"path": "prices.py"})],
    ),
    (
        "It is a share of the sum that is left.",
        [
            (
                "edit_file",
                {
                    "path": "prices.py",
                    "old": "* discount_percent / 100",
                    "new": "* (100 - discount_percent) / 100",
                },
            )
        ],
    ),
    ("Now they should pass.", [("run_tests", {})]),
    ("They do. I publish the version.", [("publish", {"version": "1.0.1"})]),
    ("The discount is taken off now, all tests pass, and version 1.0.1 is published.", []),
)


def ask(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the completion that follows on a window: the step after those that it shows."""
    step = sum(message["role"] == "assistant" for message in messages)
    text, wanted = SCRIPT[step]
    calls = [
        {
            "id": f"call-{step + 1}-{n}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for n, (name, arguments) in enumerate(wanted, start=1)
    ]
    message = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    given, said = _tokens(messages), _tokens(message)
    return {
        "id": f"completion-{step + 1}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": given, "completion_tokens": said, "total_tokens": given + said},
    }


def _tokens(shown: object) -> int:
    return -(-len(json.dumps(shown)) // _CHARACTERS_A_TOKEN)
