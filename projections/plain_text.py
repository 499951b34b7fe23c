"""Text as Postgres can hold it: the exact value stays in the log, this is for reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_NUL_SHOWN = "\u2400"  # the symbol for NUL


def storable(text: Any) -> Any:
    """Return text without what Postgres refuses: NUL as its symbol, half surrogates as U+FFFD.

    Anything but text comes back as it is.
    """
    if not isinstance(text, str):
        return text
    if "\0" in text:
        text = text.replace("\0", _NUL_SHOWN)
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def plain_text(parts: Sequence[Any]) -> str:
    """Return the text of a message's or an output's parts, a line break between two."""
    texts = [part["text"] for part in parts if isinstance(part, dict) and _has_text(part)]
    return "\n".join(texts)


def _has_text(part: dict[str, Any]) -> bool:
    return part.get("type") in {"text", "refusal"} and isinstance(part.get("text"), str)
