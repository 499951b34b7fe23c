"""The canonical records of an append: what is the same in all of them is written only once.

The attributes stand in the order that the envelope gives; they are put together as text, since
making an object of each record first takes twice as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import orjson

from agentjournal.envelope import iso_time, seal
from agentjournal.ids import Milliseconds, Position, StreamId, Version
from agentjournal.requests import NewEvent, Request


class BatchPlace(NamedTuple):
    """Where a batch stands: its stream, its request's position and moment, the rules in force."""

    stream: StreamId
    position: Position
    timestamp_ms: Milliseconds
    rules: int


def build_records(
    place: BatchPlace,
    request: Request,
    batch: Sequence[NewEvent],
    version: Version,
    prevhash: str,
) -> tuple[list[bytes], str]:
    """Return the records of a batch that follows `version` and `prevhash`, and the last hash."""
    source, stream = _json(request.source), _json(place.stream)
    encoding, after = _json(request.dataencoding), _after_index(place, request, len(batch))
    started = len(batch) > len(request.events)
    records: list[bytes] = []
    for index, event in enumerate(batch):
        version = Version(version + 1)
        attributes = _TEMPLATE % (
            orjson.dumps(event.id),
            source,
            _json(event.type),
            stream,
            event.schemaversion,
            encoding,
            version,
            index,
            after,
            _given(event, is_start=started and index == 0),
        )
        record, prevhash = seal(attributes, event.data, prevhash)
        records.append(record)
    return records, prevhash


_TEMPLATE = (
    b'{"specversion":"1.0","id":%b,"source":%b,"type":%b,"subject":%b,'
    b'"datacontenttype":"application/json","schemaversion":%d,"dataencoding":%b,'
    b'"version":"%d","index":%d%b%b'
)


def _after_index(place: BatchPlace, request: Request, size: int) -> bytes:
    written = b',"appendid":%b,"size":%d,"inputposition":"%d","recordedat":"%b","rules":%d' % (
        orjson.dumps(request.append_id),
        size,
        place.position,
        iso_time(place.timestamp_ms).encode(),
        place.rules,
    )
    if request.agent is not None:
        written += b',"agent":%b' % _json(request.agent)
    if request.worker is not None:
        written += b',"worker":%b' % _json(request.worker)
    if request.fence is not None:
        written += b',"fence":"%d"' % request.fence
    return written


def _given(event: NewEvent, *, is_start: bool) -> bytes:
    """Return what an event may carry besides, where it does."""
    _, _, _, _, time, *rest = event
    written = b"" if time is None else b',"time":%b' % orjson.dumps(time)
    if rest != _NOTHING:
        given = {n: v for n, v in zip(_REST_NAMES, rest, strict=True) if v is not None}
        written += b"," + orjson.dumps(given)[1:-1]
    return written + b',"start":true' if is_start else written


_REST_NAMES = NewEvent._fields[NewEvent._fields.index("tokens") :]
_NOTHING = [None] * len(_REST_NAMES)


@lru_cache(maxsize=16_384)
def _json(text: str) -> bytes:
    """Return as JSON what comes again and again: types, streams, sources, agents."""
    return orjson.dumps(text)
