"""Text that others wrote, as a terminal may safely show it: nothing in it moves the cursor.

Control characters, marks that turn the direction of writing, and halves of surrogate pairs come out
as escapes of letters and digits, like `\\x1b`.
"""

from __future__ import annotations

import re

# Line feed and tab stay. What is invisible but joins letters or emoji stays as well.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_SPACES = re.compile(r"[ \t\n]+")
ELLIPSIS = "…"


def harmless(text: str) -> str:
    """Return `text` with line breaks and tabs as they are, and every other control escaped."""
    return _HARMFUL.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str, most: int | None = None) -> str:
    """Return `text` harmless in one line, white space run together, cut to `most` characters."""
    if most is not None:
        text = text[: 4 * most + 100]  # what is cut off anyway need not be looked at
    line = _SPACES.sub(" ", harmless(text)).strip()
    if most is None or len(line) <= most:
        return line
    return line[: most - 1] + ELLIPSIS


def as_cell(text: str) -> str:
    """Return `text` harmless in one line, its spaces as they are."""
    return harmless(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
