"""The append request: what a client writes to the `appends` topic, key = the stream id.

The value is one line of JSON (the header), a newline, then the bytes of every event's `data`, one
after the other, cut by the `size` of each. So nobody between the caller and the log ever decodes
and re-encodes `data`: the bytes that were written are the bytes that are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

FORMAT = 1
MAX_EVENTS = 1_000
MAX_REQUEST_BYTES = 900_000


class NewEvent(NamedTuple):
    """An event on its way to the log: attributes of its envelope, and `data` as exact bytes."""

    id: str
    type: str
    data: bytes
    schemaversion: int = 1
    time: str | None = None  # the client's clock, ISO 8601: information, never order
    tokens: int | None = None  # of its text, as the client counted them
    correlationid: str | None = None
    causationid: str | None = None
    traceparent: str | None = None


class Request(NamedTuple):
    """One atomic batch for one stream.

    `expected_version` 0 means that the stream must not exist; None means that any version will do.
    `start` is put first by the sequencer when the stream is empty, and else only checked.
    """

    append_id: str
    events: Sequence[NewEvent]
    source: str
    attempt: int = 1
    expected_version: int | None = None
    fence: int | None = None
    reply_to: str | None = None
    agent: str | None = None
    worker: str | None = None
    start: NewEvent | None = None
    dataencoding: str = "json"

    def with_attempt(self, attempt: int) -> Request:
        """Return the same request as its `attempt`-th sending."""
        return self._replace(attempt=attempt)

    def encoded(self) -> bytes:
        """Return the record value for the `appends` topic."""
        header = {
            "format": FORMAT,
            "appendid": self.append_id,
            "attempt": self.attempt,
            "expectedversion": self.expected_version,
            "fence": self.fence,
            "replyto": self.reply_to,
            "source": self.source,
            "agent": self.agent,
            "worker": self.worker,
            "dataencoding": self.dataencoding,
            "start": None if self.start is None else _header_of(self.start),
            "events": [_header_of(event) for event in self.events],
        }
        header = {name: value for name, value in header.items() if value is not None}
        return b"".join((orjson.dumps(header), b"\n", *self._blobs()))

    def _blobs(self) -> Iterator[bytes]:
        if self.start is not None:
            yield self.start.data
        for event in self.events:
            yield event.data


def _header_of(event: NewEvent) -> dict[str, Any]:
    header: dict[str, Any] = {
        "id": event.id,
        "type": event.type,
        "schemaversion": event.schemaversion,
        "size": len(event.data),
    }
    for name in ("time", "tokens", "correlationid", "causationid", "traceparent"):
        if (value := getattr(event, name)) is not None:
            header[name] = value
    return header


class RequestError(ValueError):
    """The record is not a request: `path` and `reason` say where and why, in fixed words."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class _Fields(NamedTuple):
    kinds: dict[str, type]  # bool is not an int here
    required: frozenset[str]
    most: tuple[int, str]  # the largest integer, and the same in words
    plans: dict[tuple[str | type, ...], _Plan]  # by names and types, in the order they came


class _Plan(NamedTuple):
    """What is left to check of an object whose names and types were found to be right."""

    texts: Callable[[dict[str, Any]], tuple[str, ...]]
    integers: Callable[[dict[str, Any]], tuple[int, ...]]


_HEADER = _Fields(
    {
        "format": int,
        "appendid": str,
        "attempt": int,
        "expectedversion": int,
        "fence": int,
        "replyto": str,
        "source": str,
        "agent": str,
        "worker": str,
        "dataencoding": str,
        "start": dict,
        "events": list,
    },
    frozenset({"format", "appendid", "attempt", "source", "events"}),
    (2**53, "2**53"),
    {},
)
_EVENT = _Fields(
    {
        "id": str,
        "type": str,
        "schemaversion": int,
        "size": int,
        "time": str,
        "tokens": int,
        "correlationid": str,
        "causationid": str,
        "traceparent": str,
    },
    frozenset({"id", "type", "schemaversion", "size"}),
    (2**31 - 1, "2**31 - 1"),  # an integer of a CloudEvent has 32 bits
    {},
)
_MAX_TEXT = 8_192  # characters of every attribute: more than the longest ids take when encoded
_MAX_PLANS = 1_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")  # what no text of a CloudEvent holds


def decode_request(value: bytes) -> Request:
    """Return the request in a record value.

    Raises RequestError. Its words depend on the bytes alone, never on a library's wording, since
    every sequencer must refuse alike.
    """
    line, newline, blobs = value.partition(b"\n")
    if not newline:
        raise RequestError("header", "no newline after the header")
    try:
        header = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise RequestError("header", "is not JSON in UTF-8") from None
    if not isinstance(header, dict):
        raise RequestError("header", "is not an object")
    _check("header", header, _HEADER)
    if header["format"] != FORMAT:
        raise RequestError("header.format", f"is not {FORMAT}")
    start, events, used = _cut(header, blobs)
    if used != len(blobs):
        raise RequestError("header.events", "sizes do not add up to the bytes that follow")
    get = header.get
    return Request(  # in the order of its fields: by name takes half as long again
        header["appendid"],
        events,
        header["source"],
        header["attempt"],
        get("expectedversion"),
        get("fence"),
        get("replyto"),
        get("agent"),
        get("worker"),
        start,
        get("dataencoding", "json"),
    )


def _cut(header: dict[str, Any], blobs: bytes) -> tuple[NewEvent | None, list[NewEvent], int]:
    if not header["events"]:
        raise RequestError("header.events", "is empty")
    if len(header["events"]) > MAX_EVENTS:
        raise RequestError("header.events", f"has more than {MAX_EVENTS} events")
    at, start = 0, None
    if "start" in header:
        start, at = _event("header.start", header["start"], blobs, at)
    events: list[NewEvent] = []
    for index, item in enumerate(header["events"]):
        event, at = _event(f"header.events[{index}]", item, blobs, at)
        events.append(event)
    return start, events, at


def _event(path: str, item: Any, blobs: bytes, at: int) -> tuple[NewEvent, int]:
    if type(item) is not dict:
        raise RequestError(path, "is not an object")
    _check(path, item, _EVENT)
    get = item.get
    end = at + item["size"]
    if end > len(blobs):
        raise RequestError(f"{path}.size", "goes beyond the end of the record")
    return NewEvent(
        item["id"],
        item["type"],
        blobs[at:end],
        item["schemaversion"],
        get("time"),
        get("tokens"),
        get("correlationid"),
        get("causationid"),
        get("traceparent"),
    ), end


def _check(path: str, item: dict[str, Any], fields: _Fields) -> None:
    """Raise RequestError when `item` does not have the fields that it must and may have.

    Clients write few combinations of names and types, and each is looked at in full only once.
    """
    plan = fields.plans.get((*item, *map(type, item.values())))
    if plan is not None:
        texts, integers = plan.texts(item), plan.integers(item)
        joined = "".join(texts)
        if (
            len(joined) <= _MAX_TEXT
            and "" not in texts
            and joined.isascii()
            and joined.isprintable()
            and min(integers) >= 0
            and max(integers) <= fields.most[0]
        ):
            return
    _check_in_full(path, item, fields)
    if len(fields.plans) < _MAX_PLANS:
        fields.plans[(*item, *map(type, item.values()))] = _Plan(
            # Both kinds have two required fields at least, so that the getters give tuples.
            itemgetter(*(name for name in item if fields.kinds[name] is str)),
            itemgetter(*(name for name in item if fields.kinds[name] is int)),
        )


def _check_in_full(path: str, item: dict[str, Any], fields: _Fields) -> None:
    for name, value in item.items():
        kind = fields.kinds.get(name)
        if kind is None:
            raise RequestError(path, "has a field that this format does not know")
        if type(value) is not kind:
            raise RequestError(f"{path}.{name}", f"is not {_WORD[kind]}")
        if isinstance(value, str):
            if not 0 < len(value) <= _MAX_TEXT:
                raise RequestError(f"{path}.{name}", f"must have 1 to {_MAX_TEXT} characters")
            if not (value.isascii() and value.isprintable()) and _CONTROL.search(value):
                raise RequestError(f"{path}.{name}", "holds control characters")
        elif isinstance(value, int) and not 0 <= value <= fields.most[0]:
            raise RequestError(f"{path}.{name}", f"is not between 0 and {fields.most[1]}")
    if not item.keys() >= fields.required:
        first = min(fields.required - item.keys())
        raise RequestError(f"{path}.{first}", "is missing")


_WORD: dict[type, str] = {
    str: "text",
    int: "a whole number",
    dict: "an object",
    list: "an array",
}


def content_digest(events: Sequence[NewEvent]) -> bytes:
    """Return 8 bytes that tell one batch's content from another's under the same append id.

    Covers type, schema version and the caller's data; not the time, ids or trace, which a retry
    may make anew.
    """
    parts: list[bytes] = []
    for event in events:
        data = event.data
        parts += b"%s\0%d\0%d\0" % (event.type.encode(), event.schemaversion, len(data)), data
    return hashlib.sha256(b"".join(parts)).digest()[:8]
