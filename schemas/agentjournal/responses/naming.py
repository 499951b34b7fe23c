"""Names that the same content always gets, and names that are not taken."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable

from agentjournal.ids import MAX_ID_CHARACTERS

_NOT_IN_IDS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def as_id(text: str) -> str:
    """Return `text` as a name of 1 to 255 characters; one that had to be changed stays unique."""
    fit = _NOT_IN_IDS.sub("_", text)
    if fit == text and 1 <= len(text) <= MAX_ID_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{fit[: MAX_ID_CHARACTERS - len(digest) - 1]}-{digest}"


def free_id(wanted: str, *taken: Container[str]) -> str:
    """Return `wanted` as an id, with a number behind it where that one is taken."""
    name = wanted = as_id(wanted)
    nth = 1
    while any(name in each for each in taken):
        nth += 1
        name = f"{wanted[: MAX_ID_CHARACTERS - 12]}-{nth}"
    return name


def derived_id(pieces: Iterable[bytes]) -> str:
    """Return the id of what `pieces` say, a UUID of version 8 (RFC 9562)."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    bits = int.from_bytes(digest.digest()[:16])
    bits = bits & ~(0xF << 76) & ~(0x3 << 62) | (0x8 << 76) | (0x2 << 62)
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
