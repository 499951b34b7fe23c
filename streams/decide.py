"""The fold of the sequencer: one request and its stream's head give one outcome, for ever the same.

No clock, no randomness, no look-up: the broker's timestamp comes with the request. So a second
sequencer that folds the same input writes the same bytes, and its repeats are harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from agentjournal.errors import AppendRejected
from agentjournal.ids import Milliseconds, Partition, Position, StreamId, Version, parse_stream
from agentjournal.partitions import partition_of
from agentjournal.receipts import Answer, Receipt, Refusal
from agentjournal.requests import (
    NewEvent,
    Request,
    RequestError,
    content_digest,
    decode_request,
)
from streams.checks import RefusedError, check_head, typed
from streams.head import (
    EMPTY,
    Head,
    Seen,
    find_append,
    id_digest,
    remember_append,
    status_after,
    user_after,
)
from streams.leases import lease_after
from streams.lifetime import ALWAYS, exceeded, is_within, lifetime_after
from streams.records import BatchPlace, build_records
from streams.rules import Rules

_RECORD_OVERHEAD = 100  # bytes of framing a Kafka record needs at most, besides key and value


class Input(NamedTuple):
    """A record of the `appends` topic."""

    position: Position
    timestamp_ms: Milliseconds  # LogAppendTime: the broker's clock
    key: bytes | None
    value: bytes | None


class Outcome(NamedTuple):
    """What became of one request.

    `head` is the stream's head afterwards, None when there is no stream to speak of. `records` go
    to the `events` topic in this order. A refusal that nobody could mend by asking again, or that
    tells of a lost race, is `dead`. `answer` is for the client that asked on `reply_to`.
    """

    stream: StreamId | None
    head: Head | None
    records: Sequence[bytes]
    reply_to: str | None
    answer: Answer | None
    dead: Refusal | None


# A conflict is mended by deciding again; its letter says who lost a race, to whom it concerns.
_DEAD_REASONS = frozenset(
    {"rejected", "id_reused", "deleted", "mismatch", "limit", "conflict", "lease_lost"}
)


def decide(rules: Rules, partition: Partition, given: Input, head: Head | None) -> Outcome:
    """Return the outcome of one request under `rules`; `head` None means an empty stream.

    The checks run in the order that the rules fix: partition, size and form, append id, status,
    fence, expected version, limits.
    """
    stream: StreamId | None = None
    request: Request | None = None
    try:
        stream, kind = _placed(rules, partition, given.key)
        request = _sized(rules, given.value)
        parsed = _formed(rules, kind, request)
        outcome = _folded(rules, stream, partition, given, (request, parsed), head or EMPTY)
    except RefusedError as refused:
        return _refusal(stream, head, request, refused.refusal)
    return outcome


def stream_of_key(key: bytes | None) -> StreamId | None:
    """Return the stream that a record's key names, or None when it names none."""
    return _parsed_key(key)[0] if key is not None else None


@lru_cache(maxsize=65_536)
def _parsed_key(key: bytes) -> tuple[StreamId | None, str]:
    try:
        stream = key.decode()
        return StreamId(stream), parse_stream(stream)[0]
    except (UnicodeDecodeError, AppendRejected):
        return None, ""


def _placed(rules: Rules, partition: Partition, key: bytes | None) -> tuple[StreamId, str]:
    stream, kind = (None, "") if key is None else _parsed_key(key)
    if key is None or stream is None:
        raise RefusedError(Refusal("rejected", "key", "is not a stream id"))
    if partition_of(key, rules.partitions) != partition:
        raise RefusedError(Refusal("rejected", "partition", "is not the one of this stream"))
    return stream, kind


def _sized(rules: Rules, value: bytes | None) -> Request:
    if value is None:
        raise RefusedError(Refusal("rejected", "request", "has no value"))
    if len(value) > rules.max_request_bytes:
        reason = f"is larger than {rules.max_request_bytes} bytes"
        raise RefusedError(Refusal("rejected", "request", reason))
    try:
        return decode_request(value)
    except RequestError as error:
        raise RefusedError(Refusal("rejected", error.path, error.reason)) from None


def _formed(rules: Rules, kind: str, request: Request) -> list[dict[str, Any]]:
    """Return the parsed `data` of every event, that of `start` first when there is one."""
    if request.dataencoding != "json":
        reason = f"rules {rules.number} know json only"
        raise RefusedError(Refusal("rejected", "dataencoding", reason))
    events = request.events
    if (start := request.start) is not None:
        if start.type != "session.started":
            raise RefusedError(Refusal("rejected", "start.type", "is not session.started"))
        events = (start, *events)
    parsed: list[dict[str, Any]] = []
    for event in events:
        body, fault = rules.check(kind, event.type, event.schemaversion, event.data)
        if fault is not None:
            index = len(parsed) - (start is not None)
            place = "start" if index < 0 else f"events[{index}]"
            path, reason = fault
            raise RefusedError(Refusal("rejected", f"{place}.{path}", reason))
        parsed.append(body)
    return parsed


def _folded(
    rules: Rules,
    stream: StreamId,
    partition: Partition,
    given: Input,
    formed: tuple[Request, list[dict[str, Any]]],
    head: Head,
) -> Outcome:
    request, parsed = formed
    events = request.events
    digest, append_digest = content_digest(events), id_digest(request.append_id)
    if (seen := find_append(head, append_digest)) is not None:
        if seen.digest != digest:
            raise RefusedError(Refusal("id_reused"))
        return _accepted((stream, partition), head, (), request, seen, duplicate=True)
    check_head(head, request, parsed, given.timestamp_ms)
    batch, bodies = _with_start(head, request, parsed)
    version = Version(head.version + len(batch))
    seen = Seen(digest, Version(version + 1 - len(events)), len(events), given.position)
    records, last_hash = _recorded(rules, stream, given, (request, batch), head)
    status, user, data_bytes, tokens = head.status, head.user, head.data_bytes, head.tokens
    lifetime = (
        head.lifetime if head.version else head.lifetime._replace(started_ms=given.timestamp_ms)
    )
    for event, body in zip(batch, bodies, strict=True):
        if event.type.startswith("session."):
            status = status_after(status, event.type)
            user = user_after(user, event.type, body)
            lifetime = lifetime_after(lifetime, event.type, body)
        data_bytes += len(event.data)
        tokens += event.tokens or 0
    if lifetime.limits:
        size = version, data_bytes, tokens, given.timestamp_ms - lifetime.started_ms
        if not is_within(lifetime.limits, *size) and not ALWAYS.issuperset(e.type for e in events):
            raise RefusedError(exceeded(lifetime.limits, size))
    lease = head.lease
    if request.fence is not None or any(event.type.startswith("lease.") for event in events):
        lease = lease_after(lease, request.fence, typed(request, parsed), given.timestamp_ms)
    after = Head(  # in the order of its fields: by name takes half as long again
        version,
        last_hash,
        status,
        user,
        given.timestamp_ms,
        data_bytes,
        tokens,
        *lease,
        *lifetime,
        remember_append(head.appends, append_digest, seen),
    )
    return _accepted((stream, partition), after, records, request, seen, duplicate=False)


def _with_start(
    head: Head, request: Request, parsed: list[dict[str, Any]]
) -> tuple[list[NewEvent], list[dict[str, Any]]]:
    events = list(request.events)
    if request.start is None:
        return events, parsed
    if head.version or events[0].type == "session.started":
        return events, parsed[1:]
    return [request.start, *events], parsed


def _recorded(
    rules: Rules,
    stream: StreamId,
    given: Input,
    request_and_batch: tuple[Request, list[NewEvent]],
    head: Head,
) -> tuple[list[bytes], str]:
    """Return the canonical records of a batch, and the hash of the last."""
    request, batch = request_and_batch
    place = BatchPlace(stream, given.position, given.timestamp_ms, rules.number)
    records, last_hash = build_records(place, request, batch, head.version, head.hash)
    if sum(map(len, records)) + (len(stream) + _RECORD_OVERHEAD) * len(batch) > (
        rules.max_records_bytes
    ):
        reason = f"its records are larger than {rules.max_records_bytes} bytes together"
        raise RefusedError(Refusal("rejected", "request", reason))
    return records, last_hash


def _accepted(
    where: tuple[StreamId, Partition],
    head: Head,
    records: Sequence[bytes],
    request: Request,
    seen: Seen,
    *,
    duplicate: bool,
) -> Outcome:
    stream, partition = where
    _, first, size, position = seen
    append_id = request.append_id
    receipt = Receipt(
        stream, partition, position, first, Version(first + size - 1), duplicate, append_id
    )
    answer = Answer(stream, append_id, request.attempt, receipt)
    return Outcome(stream, head, records, request.reply_to, answer, None)


def _refusal(
    stream: StreamId | None, head: Head | None, request: Request | None, refusal: Refusal
) -> Outcome:
    answer, reply_to = None, None
    if stream is not None and request is not None:
        answer = Answer(stream, request.append_id, request.attempt, refusal)
        reply_to = request.reply_to
    dead = refusal if _is_dead(refusal, request) else None
    return Outcome(stream, head, (), reply_to, answer, dead)


def _is_dead(refusal: Refusal, request: Request | None) -> bool:
    """Whether somebody is to be told for good; a session that was to expire and went on is fine."""
    if refusal.reason == "conflict" and request is not None:
        return request.events[0].type != "session.expired"
    return refusal.reason in _DEAD_REASONS
