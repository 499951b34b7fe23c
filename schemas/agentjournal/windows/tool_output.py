"""Long output of a tool, cut to its head and its tail by the output alone."""

from __future__ import annotations

MAX_CHARACTERS = 20_000
_HEAD = 0.6  # of what is kept: what failed is often said first, and how it ended last


def cut_output(text: str, where: str, most: int = MAX_CHARACTERS) -> str:
    """Return `text`, or its head and tail with a marker between when it has over `most` characters.

    `where` says where the whole is. The same text is always cut the same, so a window that was
    sent stays the beginning of the next.
    """
    if len(text) <= most:
        return text
    head = _to_line_end(text[: int(most * _HEAD)])
    tail = _from_line_start(text[len(text) - (most - int(most * _HEAD)) :])
    left_out = text[len(head) : len(text) - len(tail)]
    lines, characters = left_out.count("\n"), len(left_out)
    marker = f"[{lines:,} lines, {characters:,} characters left out; whole in {where}]"
    return f"{head}\n{marker}\n{tail}"


def _to_line_end(text: str) -> str:
    end = text.rfind("\n", len(text) // 2)
    return text if end < 0 else text[:end]


def _from_line_start(text: str) -> str:
    start = text.find("\n", 0, len(text) // 2)
    return text[start + 1 :]
