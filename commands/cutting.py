"""Long text as its head and its tail."""

from __future__ import annotations

from typing import NamedTuple

HEAD_LINES, TAIL_LINES = 10, 5
HEAD_CHARACTERS, TAIL_CHARACTERS = 1_200, 600


class Cut(NamedTuple):
    """What is shown of a text, and how much is not: between head and tail nothing else stands."""

    head: str
    missing_lines: int
    missing_characters: int
    tail: str


def cut(text: str) -> Cut:
    """Return `text` whole as the head when it is short, else its first and its last lines."""
    head = _first_lines(text, HEAD_LINES)[:HEAD_CHARACTERS]
    tail = _last_lines(text[len(head) :], TAIL_LINES)[-TAIL_CHARACTERS:]
    missing = text[len(head) : len(text) - len(tail)]
    if not missing.strip():
        return Cut(text, 0, 0, "")
    return Cut(head.removesuffix("\n"), missing.count("\n"), len(missing), tail)


def missing_line(of: Cut) -> str:
    """Return the line that stands between head and tail."""
    characters = f"{of.missing_characters:,} character{_s(of.missing_characters)}"
    lines = f"{of.missing_lines:,} line{_s(of.missing_lines)}, " if of.missing_lines else ""
    return f"… {lines}{characters} not shown (--full shows all)"


def _first_lines(text: str, count: int) -> str:
    end = -1
    for _ in range(count):
        end = text.find("\n", end + 1)
        if end < 0:
            return text
    return text[: end + 1]


def _last_lines(text: str, count: int) -> str:
    start = len(text.rstrip("\n"))
    for _ in range(count):
        start = text.rfind("\n", 0, start)
        if start < 0:
            return text
    return text[start + 1 :]


def _s(count: int) -> str:
    return "" if count == 1 else "s"
