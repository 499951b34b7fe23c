"""Names that the same content always gets: ids of events, sessions and calls."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentjournal.codec import encode
from agentjournal.ids import MAX_ID_CHARACTERS

_NOT_IN_IDS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Seed:
    """What the ids of one session's events are derived from, besides the events themselves.

    `name` is the file's, `key` the session's own within the file: neither changes when the file
    grows.
    """

    format: str
    name: str
    key: str

    def event_id(self, index: int, content: bytes) -> str:
        """Return the id of the `index`-th event, a UUID of version 8 (RFC 9562)."""
        digest = hashlib.sha256()
        for piece in (self.format, self.name, self.key, str(index)):
            digest.update(piece.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(content)
        bits = int.from_bytes(digest.digest()[:16])
        bits = bits & ~(0xF << 76) & ~(0x3 << 62) | (0x8 << 76) | (0x2 << 62)
        text = f"{bits:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def content_of(value: Any) -> bytes:
    """Return bytes that are the same for equal values; the order of an object's fields is none."""
    if isinstance(value, Mapping):
        value = {name: value[name] for name in sorted(value)}
    return hashlib.sha256(encode(value)).digest()


def as_id(text: str) -> str:
    """Return `text` as a name of 1 to 255 characters; one that had to be changed stays unique."""
    fit = _NOT_IN_IDS.sub("_", text)
    if fit == text and 1 <= len(text) <= MAX_ID_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{fit[: MAX_ID_CHARACTERS - len(digest) - 1]}-{digest}"
