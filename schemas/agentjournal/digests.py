"""Canonical digests of a call: equal for the same tool and arguments, or the same attempt."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from agentjournal.codec import encode
from agentjournal.ids import StreamId


def arguments_digest(tool: str, arguments: Any) -> str:
    """Return the digest that calls of `tool` with the same arguments have in common.

    It is the SHA-256 of the tool's name, a NUL, and the arguments in the exact JSON of the log,
    without spaces and with the keys of every object in the order of their UTF-8; so neither the
    order of keys nor the way that a model wrote its JSON matters. `1` and `1.0` are not the same.

    Raises AppendRejected when the arguments hold what cannot be written.
    """
    canonical = orjson.dumps(orjson.loads(encode(arguments)), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(tool.encode() + b"\0" + canonical).hexdigest()


def idempotency_key(stream: StreamId, what: str, group: int) -> str:
    """Return the key under which an outside system knows an effect: 32 hexadecimal digits.

    `what` is the call or the step, like `call:c-1`. Every attempt of a `group` has the same key: a
    recorded failure begins the next group, an unknown outcome does not. Equal in any process.
    """
    return hashlib.sha256(f"{stream}\0{what}\0{group}".encode()).hexdigest()[:32]
