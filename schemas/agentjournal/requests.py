"""The append request: what a client writes to the `appends` topic, key = the stream id.

The value is one line of JSON (the header), a newline, then the bytes of every event's `data`, one
after the other, cut by the `size` of each. So nobody between the caller and the log ever decodes
and re-encodes `data`: the bytes that were written are the bytes that are kept.

The header is an array, each value in its place, null where there is none:

    [format, appendid, attempt, expectedversion, fence, replyto, source, agent, worker,
     dataencoding, start, [event, …]]

with `start` and each event in turn an array:

    [id, type, schemaversion, size, time, tokens, correlationid, causationid, traceparent]
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import product
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
    tokens: int | None = None  # of its text, about, as its writer states them
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
        header = [
            FORMAT,
            self.append_id,
            self.attempt,
            self.expected_version,
            self.fence,
            self.reply_to,
            self.source,
            self.agent,
            self.worker,
            self.dataencoding,
            None if self.start is None else _header_of(self.start),
            [_header_of(event) for event in self.events],
        ]
        return b"".join((orjson.dumps(header), b"\n", *self._blobs()))

    def _blobs(self) -> Iterator[bytes]:
        if self.start is not None:
            yield self.start.data
        for event in self.events:
            yield event.data


def _header_of(event: NewEvent) -> list[Any]:
    id_, event_type, data, schemaversion, *rest = event
    return [id_, event_type, schemaversion, len(data), *rest]


class RequestError(ValueError):
    """The record is not a request: `path` and `reason` say where and why, in fixed words."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class _Field(NamedTuple):
    name: str
    kind: type  # bool is not an int here
    is_required: bool = False


class _Form:
    """What an array of the header holds, in this order."""

    def __init__(self, *fields: _Field, most: tuple[int, str]) -> None:
        self.fields = fields
        self.most = most  # the largest integer, and the same in words
        self.types = frozenset(
            product(*((f.kind,) if f.is_required else (f.kind, type(None)) for f in fields))
        )
        self.integers = itemgetter(*(at for at, f in enumerate(fields) if f.kind is int))


_HEADER = _Form(
    _Field("format", int, is_required=True),
    _Field("appendid", str, is_required=True),
    _Field("attempt", int, is_required=True),
    _Field("expectedversion", int),
    _Field("fence", int),
    _Field("replyto", str),
    _Field("source", str, is_required=True),
    _Field("agent", str),
    _Field("worker", str),
    _Field("dataencoding", str, is_required=True),
    _Field("start", list),
    _Field("events", list, is_required=True),
    most=(2**53, "2**53"),
)
_EVENT = _Form(
    _Field("id", str, is_required=True),
    _Field("type", str, is_required=True),
    _Field("schemaversion", int, is_required=True),
    _Field("size", int, is_required=True),
    _Field("time", str),
    _Field("tokens", int),
    _Field("correlationid", str),
    _Field("causationid", str),
    _Field("traceparent", str),
    most=(2**31 - 1, "2**31 - 1"),  # an integer of a CloudEvent has 32 bits
)
_MAX_TEXT = 8_192  # characters of every attribute: more than the longest ids take when encoded
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
    is_plain = _is_plain(line)
    _check("header", header, _HEADER, is_plain=is_plain)
    number, append_id, attempt, expected, fence, *rest = header
    reply_to, source, agent, worker, encoding, start, listed = rest
    if number != FORMAT:
        raise RequestError("header.format", f"is not {FORMAT}")
    if not listed:
        raise RequestError("header.events", "is empty")
    if len(listed) > MAX_EVENTS:
        raise RequestError("header.events", f"has more than {MAX_EVENTS} events")
    at, begun = 0, None
    if start is not None:
        begun, at = _event("header.start", start, blobs, at, is_plain=is_plain)
    events: list[NewEvent] = []
    for item in listed:
        event, at = _event(f"header.events[{len(events)}]", item, blobs, at, is_plain=is_plain)
        events.append(event)
    if at != len(blobs):
        raise RequestError("header.events", "sizes do not add up to the bytes that follow")
    return Request(  # in the order of its fields: by name takes half as long again
        append_id,
        events,
        source,
        attempt,
        expected,
        fence,
        reply_to,
        agent,
        worker,
        begun,
        encoding,
    )


def _event(path: str, item: Any, blobs: bytes, at: int, *, is_plain: bool) -> tuple[NewEvent, int]:
    _check(path, item, _EVENT, is_plain=is_plain)
    id_, event_type, schemaversion, size, time, tokens, correlation, causation, trace = item
    end = at + size
    if end > len(blobs):
        raise RequestError(f"{path}.size", "goes beyond the end of the record")
    data = blobs[at:end]
    return NewEvent(
        id_, event_type, data, schemaversion, time, tokens, correlation, causation, trace
    ), end


def _is_plain(line: bytes) -> bool:
    """Return whether one can see that every text in the header is right without looking at each."""
    return (
        line.isascii()
        and b"\\" not in line
        and b'""' not in line
        and line.decode().isprintable()
        and (len(line) <= _MAX_TEXT or max(map(len, line.split(b'"'))) <= _MAX_TEXT)
    )


def _check(path: str, item: Any, form: _Form, *, is_plain: bool) -> None:
    """Raise RequestError when `item` is not what the form says."""
    if is_plain and type(item) is list and tuple(map(type, item)) in form.types:
        most = form.most[0]
        for number in form.integers(item):
            if number is not None and not 0 <= number <= most:
                break
        else:
            return
    _check_each(path, item, form)


def _check_each(path: str, item: Any, form: _Form) -> None:
    if type(item) is not list:
        raise RequestError(path, "is not an array")
    if len(item) != len(form.fields):
        raise RequestError(path, f"does not have {len(form.fields)} values")
    for field, value in zip(form.fields, item, strict=True):
        if value is None and not field.is_required:
            continue
        place = f"{path}.{field.name}"
        if type(value) is not field.kind:
            raise RequestError(place, "is missing" if value is None else _NOT[field.kind])
        if isinstance(value, str):
            if not 0 < len(value) <= _MAX_TEXT:
                raise RequestError(place, f"must have 1 to {_MAX_TEXT} characters")
            if not (value.isascii() and value.isprintable()) and _CONTROL.search(value):
                raise RequestError(place, "holds control characters")
        elif isinstance(value, int) and not 0 <= value <= form.most[0]:
            raise RequestError(place, f"is not between 0 and {form.most[1]}")


_NOT: dict[type, str] = {
    str: "is not text",
    int: "is not a whole number",
    list: "is not an array",
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
