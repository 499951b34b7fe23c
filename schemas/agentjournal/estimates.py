"""About how many tokens an event puts before a model: cheap enough to be said of every event."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.events import (
    Event,
    MessageAdded,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolSettled,
)
from agentjournal.events.parts import Part

_BYTES_A_TOKEN = 4  # of UTF-8: near for prose and code, and for scripts with three bytes a sign


def estimated_tokens(event: Event) -> int | None:
    """Return about how many tokens of text an event adds to a conversation, None for no text."""
    match event:
        case MessageAdded():
            size = _size_of(event.parts)
        case ToolCompleted() | ToolFailed() | ToolSettled():
            output = event.output
            size = len_utf8(output) if isinstance(output, str) else _size_of(output or ())
        case _:
            return None
    return -(-size // _BYTES_A_TOKEN)


def len_utf8(text: str) -> int:
    """Return how many bytes a text has as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _size_of(parts: Sequence[Part]) -> int:
    return sum(map(_size, parts))


def _size(part: Part) -> int:
    match part:
        case TextPart() | RefusalPart():
            return len_utf8(part.text)
        case ReasoningPart():
            return len_utf8(part.text or "")
        case ToolCallPart():
            return len_utf8(part.name) + len_utf8(part.arguments_text)
        case _:
            return 0
