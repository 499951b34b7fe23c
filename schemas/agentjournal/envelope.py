"""The canonical record: one CloudEvents 1.0 event in JSON, chained by hash.

Everything that the hash covers is a prefix of the record, and `data`, `prevhash` and `hash` come
last in this order: verifying needs no re-encoding, and `data` is cut out as the exact bytes that
the writer sent.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from time import gmtime
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from agentjournal.errors import IntegrityError
from agentjournal.ids import Milliseconds, Partition, Position, StreamId, Version

if TYPE_CHECKING:
    from agentjournal.events import Event

NO_HASH = "0" * 64  # prevhash of a stream's first event

_DATA = b',"data":'
_INDEX, _INPUT = b',"index":', b',"inputposition":"'
_PREVHASH = b',"prevhash":"'
_HASH = b',"hash":"'
_HASH_SIZE = len(_HASH) + 64 + len(b'"}')
_TAIL_SIZE = len(_PREVHASH) + 64 + len(b'"') + _HASH_SIZE


class Recorded(NamedTuple):
    """An event at its place in the log.

    `version` counts in the stream from 1. `position` is the record's offset in `partition` of the
    `events` topic, and `input_position` with `batch_index` its place in the order of decisions.
    `data` is the decoded value; `raw_data` the exact bytes that were written.
    """

    stream: StreamId
    version: Version
    type: str
    raw_data: bytes
    id: str
    source: str
    schema_version: int
    data_encoding: str
    append_id: str
    batch_index: int
    batch_size: int
    input_position: Position
    recorded_at: str  # ISO 8601, the broker's clock
    rules: int
    prevhash: str
    hash: str
    time: str | None = None
    tokens: int | None = None
    agent: str | None = None
    worker: str | None = None
    fence: int | None = None  # version of the event that took the lease it was written under
    correlation_id: str | None = None
    causation_id: str | None = None
    traceparent: str | None = None
    start: bool = False  # put first by the sequencer when the stream was empty
    partition: Partition = Partition(-1)
    position: Position = Position(-1)

    @property
    def order(self) -> tuple[int, int]:
        """Where first occurrences stand in their partition: (input position, index)."""
        return self.input_position, self.batch_index

    @property
    def data(self) -> Any:
        """The decoded value of the event, as the writer gave it."""
        from agentjournal.codec import decode  # noqa: PLC0415 - the codec imports nothing of ours

        return decode(self.raw_data)

    @property
    def event(self) -> Event:
        """The event as its model, at the schema version that this code knows.

        A type or a version without a model here is an UnknownEvent with all of its fields.
        Raises EventUnreadable.
        """
        from agentjournal.stored import event_of  # noqa: PLC0415 - the models come last

        return event_of(self)


def build_record(attributes: dict[str, Any], data: bytes, prevhash: str) -> tuple[bytes, str]:
    """Return (record, hash) of an event whose attributes are in the order they are written."""
    return seal(orjson.dumps(attributes)[:-1], data, prevhash)


def seal(attributes: bytes, data: bytes, prevhash: str) -> tuple[bytes, str]:
    """Return (record, hash); `attributes` is a JSON object without its closing brace."""
    covered = b'%b,"data":%b,"prevhash":"%b"' % (attributes, data, prevhash.encode())
    digest = hashlib.sha256(covered).hexdigest()
    return b'%b,"hash":"%b"}' % (covered, digest.encode()), digest


def parse_record(
    record: bytes, partition: Partition = Partition(-1), position: Position = Position(-1)
) -> Recorded:
    """Return the event in a record of the `events` topic; `data` stays bytes.

    Raises IntegrityError when the record is not one of ours or its hash is not that of its bytes.
    """
    a, data, prevhash, found = unseal(record, partition, position)
    try:
        get = a.get
        return Recorded(  # in the order of its fields: by name takes half as long again
            a["subject"],
            Version(int(a["version"])),
            a["type"],
            data,
            a["id"],
            a["source"],
            a["schemaversion"],
            a["dataencoding"],
            a["appendid"],
            a["index"],
            a["size"],
            Position(int(a["inputposition"])),
            a["recordedat"],
            a["rules"],
            prevhash,
            found,
            get("time"),
            get("tokens"),
            get("agent"),
            get("worker"),
            None if (fence := get("fence")) is None else int(fence),
            get("correlationid"),
            get("causationid"),
            get("traceparent"),
            get("start", False),
            partition,
            position,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"partition {partition}, position {position}: not a record of ours ({error})"
        ) from error


def unseal(
    record: bytes, partition: Partition = Partition(-1), position: Position = Position(-1)
) -> tuple[dict[str, Any], bytes, str, str]:
    """Return (attributes, data, prevhash, hash) of a record of the `events` topic.

    Raises IntegrityError when the record is not one of ours or its hash is not that of its bytes.
    """
    # An unescaped quote inside a JSON string cannot occur, so the first `,"data":` is the key.
    cut = record.find(_DATA)
    if cut < 0 or record[-_HASH_SIZE:-66] != _HASH or record[-2:] != b'"}':
        raise IntegrityError(f"partition {partition}, position {position}: not a record of ours")
    try:
        attributes: dict[str, Any] = orjson.loads(record[:cut] + b"}")
        found = record[-66:-2].decode()
        prevhash = record[-_TAIL_SIZE + len(_PREVHASH) : -_HASH_SIZE - 1].decode()
        if hashlib.sha256(record[:-_HASH_SIZE]).hexdigest() != found:
            raise IntegrityError(
                f"{attributes['subject']} version {attributes['version']} (partition {partition}, "
                f"position {position}): the hash is not that of the record's bytes"
            )
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityError(
            f"partition {partition}, position {position}: not a record of ours ({error})"
        ) from error
    return attributes, record[cut + len(_DATA) : -_TAIL_SIZE], prevhash, found


def record_order(record: bytes) -> tuple[int, int]:
    """Return (input position, index) of a record without verifying it.

    Raises ValueError when it is not one of ours.
    """
    # As with `data`: what is between unescaped quotes and commas is a key.
    index, position = record.index(_INDEX) + len(_INDEX), record.index(_INPUT) + len(_INPUT)
    return (
        int(record[position : record.index(b'"', position)]),
        int(record[index : record.index(b",", index)]),
    )


@lru_cache(maxsize=1_024)
def iso_time(ms: Milliseconds) -> str:
    """Return `2026-01-31T12:00:00.123Z` for milliseconds since the epoch."""
    seconds, rest = divmod(ms, 1_000)
    return f"{_iso_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=64)
def _iso_second(seconds: int) -> str:
    return "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*gmtime(seconds))
