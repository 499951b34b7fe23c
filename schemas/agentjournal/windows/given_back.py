"""What a recorded answer has beside our words, for the API that gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentjournal.events import Record, ToolCallPart


def beside(part: Record, name: str) -> dict[str, Any]:
    """Return the fields that stand under `name` beside those of a part, none if there are none."""
    held = (part.model_extra or {}).get(name)
    return dict(held) if isinstance(held, Mapping) else {}


def is_custom(call: ToolCallPart) -> bool:
    """Return whether a call's arguments are no JSON but text: OpenAI's custom tools."""
    return (call.model_extra or {}).get("call_type") == "custom"
