"""The text of a file, and where each character of it stands in the file's bytes."""

from __future__ import annotations

import re

_NO_UTF8 = re.compile("[\udc80-\udcff]")  # what stands for a byte that is no UTF-8
REPLACEMENT = "\ufffd"


class Source:
    """A file as text: each byte that is no UTF-8 became U+FFFD, everything else is exact."""

    def __init__(self, raw: bytes) -> None:
        self._escaped = raw.decode("utf-8", "surrogateescape")  # one character for a bad byte too
        self.size = len(raw)
        self._asked, self._answered = 0, 0
        self.text, self.replaced = _NO_UTF8.subn(REPLACEMENT, self._escaped)

    @property
    def first_replaced(self) -> int | None:
        """The offset of the first byte that is no UTF-8."""
        found = _NO_UTF8.search(self._escaped)
        return None if found is None else self.offset(found.start())

    def offset(self, index: int) -> int:
        """Return the offset in bytes of the character at `index`."""
        if index < self._asked:
            self._asked, self._answered = 0, 0
        between = self._escaped[self._asked : index]
        self._answered += len(between.encode("utf-8", "surrogateescape"))
        self._asked = index
        return self._answered
