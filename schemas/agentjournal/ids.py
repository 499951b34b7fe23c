"""Names and numbers with a meaning: streams, versions, positions, partitions."""

from __future__ import annotations

import os
import time
from typing import NewType
from urllib.parse import quote, unquote

from agentjournal.errors import AppendRejected

StreamId = NewType("StreamId", str)  # "session/<tenant>/<id>", each part percent-encoded
Version = NewType("Version", int)  # index of an event in its stream, from 1; 0 = no events
Position = NewType("Position", int)  # offset in a partition; what is stored is the next to read
Partition = NewType("Partition", int)
Milliseconds = NewType("Milliseconds", int)  # since the epoch, by the broker's clock

STREAM_KINDS = ("session", "task", "user", "account", "project")
MAX_ID_CHARACTERS = 255
# An index of Postgres holds entries of up to 2,704 bytes, to which it compresses this much
# percent-encoded text. Reached only by two long ids outside the Basic Multilingual Plane at once.
MAX_STREAM_BYTES = 4_096


def stream_id(kind: str, tenant: str, name: str) -> StreamId:
    """Return the stream of `name`, percent-encoded: `session/acme/s-42`.

    Raises AppendRejected when an id is empty, longer than 255 characters, or holds control
    characters or text that UTF-8 cannot carry, or when both together are longer than a key may be.
    """
    if kind not in STREAM_KINDS:
        raise AppendRejected("stream", f"kind {kind!r} is not one of {', '.join(STREAM_KINDS)}")
    stream = f"{kind}/{_encoded('tenant', tenant)}/{_encoded('id', name)}"
    if len(stream) > MAX_STREAM_BYTES:
        raise AppendRejected(
            "stream", f"takes {len(stream):,} bytes percent-encoded, at most {MAX_STREAM_BYTES:,}"
        )
    return StreamId(stream)


def parse_stream(stream: str) -> tuple[str, str, str]:
    """Return (kind, tenant, id) of a stream id, decoded.

    Raises AppendRejected when `stream` is not the one spelling that `stream_id` gives.
    """
    kind, _, rest = stream.partition("/")
    tenant, slash, name = rest.partition("/")
    if not slash:
        raise AppendRejected("stream", f"{stream!r} is not <kind>/<tenant>/<id>")
    parsed = kind, unquote(tenant), unquote(name)
    if stream_id(*parsed) != stream:
        raise AppendRejected("stream", f"{stream!r} is not percent-encoded in the one way we write")
    return parsed


def _encoded(what: str, text: str) -> str:
    if not 1 <= len(text) <= MAX_ID_CHARACTERS:
        raise AppendRejected(what, f"must have 1 to {MAX_ID_CHARACTERS} characters")
    if any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text):
        raise AppendRejected(what, f"{text!r} holds control characters")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise AppendRejected(what, f"{text!r} holds half of a surrogate pair") from None


def new_event_id() -> str:
    """Return a new UUIDv7 (RFC 9562): its first 48 bits are the time in milliseconds."""
    bits = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    bits = bits & ~(0xF << 76) & ~(0x3 << 62) | (0x7 << 76) | (0x2 << 62)
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
