"""A chat model that follows a script: tool calls one round after the other, then an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentjournal.codec import encode

Ask = tuple[str, Mapping[str, Any]]  # tool and arguments


class ScriptedChat:
    """Answers by what the conversation has: it is the same model in every process."""

    def __init__(self, *rounds: Sequence[Ask], answer: str = "done") -> None:
        """In each round it asks for these calls at once."""
        self._rounds, self._answer = rounds, answer

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the completion that follows on these messages, as OpenAI's API has it."""
        number = sum(1 for message in messages if message["role"] == "assistant")
        said: dict[str, Any] = {"role": "assistant", "content": self._answer}
        if number < len(self._rounds):
            asked = enumerate(self._rounds[number])
            calls = [_call(f"call-{number}-{n}", *ask) for n, ask in asked]
            said = {"role": "assistant", "content": None, "tool_calls": calls}
        return {
            "id": f"completion-{number}",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


def _call(call_id: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool, "arguments": encode(dict(arguments)).decode()}
    return {"id": call_id, "type": "function", "function": function}
