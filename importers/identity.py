"""Ids that the same content of a file always gets."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentjournal.codec import encode
from agentjournal.responses.naming import derived_id


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
        named = (self.format, self.name, self.key, str(index))
        pieces = (piece.encode("utf-8", "surrogatepass") + b"\0" for piece in named)
        return derived_id([*pieces, content])


def content_of(value: Any) -> bytes:
    """Return bytes that are the same for equal values; the order of an object's fields is none."""
    if isinstance(value, Mapping):
        value = {name: value[name] for name in sorted(value)}
    return hashlib.sha256(encode(value)).digest()
