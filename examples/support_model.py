"""A chat model for the support agent without a model: it answers by what it is shown alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_REFUNDED = {"en": "It is refunded. Sorry!", "de": "Der Betrag ist erstattet. Entschuldigung!"}
_REFUSED = {"en": "I may not refund this.", "de": "Das darf ich leider nicht erstatten."}


async def support_model(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the completion that follows on these messages, as OpenAI's API has it."""
    said = [message for message in messages if message["role"] == "assistant"]
    if not said:
        return _asking(len(messages), "refund", _wanted(messages))
    outputs = [str(message["content"]) for message in messages if message["role"] == "tool"]
    was_paid = "is paid back" in outputs[0]
    if len(said) == 1 and was_paid:
        return _asking(len(messages), "note_on_ticket", {"status": outputs[0]})
    is_german = re.search(r"language: (de|German)\b", str(messages[0]["content"]))
    language = "de" if is_german else "en"
    answer = (_REFUNDED if was_paid else _REFUSED)[language]
    return _completion(len(messages), {"role": "assistant", "content": answer})


def _wanted(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what the customer wants to have refunded, from her own words."""
    text = next(str(message["content"]) for message in messages if message["role"] == "user")
    order, amount = re.search(r"[Oo]rder (\d+)", text), re.search(r"\d+\.\d\d", text)
    return {"order": int(order[1]) if order else 0, "amount": amount[0] if amount else "0"}


def _asking(number: int, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"call-{number}", "type": "function", "function": function}
    return _completion(number, {"role": "assistant", "content": None, "tool_calls": [call]})


def _completion(number: int, message: Mapping[str, Any]) -> Mapping[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {
        "id": f"completion-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [choice],
    }
