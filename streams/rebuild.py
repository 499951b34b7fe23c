"""Heads from the canonical log: what it holds already need not be decided again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from agentjournal.codec import decode
from agentjournal.envelope import unseal
from agentjournal.errors import IntegrityError
from agentjournal.ids import Milliseconds, Partition, Position, StreamId, Version
from agentjournal.requests import NewEvent, content_digest
from streams.head import EMPTY, Head, Seen, id_digest, remember_append, status_after, user_after
from streams.leases import lease_after
from streams.lifetime import STATING, lifetime_after
from streams.partition_fold import Stored


class Rebuild:
    """Takes the records of a partition in their order, and keeps the heads they give.

    `next_input` is where the fold goes on, `next_output` the position after the last whole batch,
    `last` its last record. `tail` holds the records of a batch that has not come in whole: they
    are met again when its request is folded. `changed` names the streams that have other heads now.
    """

    def __init__(
        self,
        partition: Partition,
        next_output: Position,
        next_input: Position = Position(0),
    ) -> None:
        self.heads: dict[StreamId, Head] = {}
        self.changed: set[StreamId] = set()
        self.next_input, self.next_output = next_input, next_output
        self.last: Stored | None = None
        self.order: tuple[int, int] = (next_input, -1)  # of the last record that was no repeat
        self.tail: list[Stored] = []
        self._partition = partition
        # Of the batch that is coming in: its stream and head, its events, the last one's hash.
        self._stream, self._head = StreamId(""), EMPTY
        self._batch: list[tuple[dict[str, Any], bytes]] = []
        self._hash = ""

    def put(self, heads: Mapping[StreamId, Head | None]) -> None:
        """Take heads as they were before the request at `next_input`; None: the stream is empty."""
        self.heads.update((stream, head) for stream, head in heads.items() if head is not None)

    def add(self, stored: Stored) -> None:
        """Take the next record; a repeat changes nothing.

        Raises IntegrityError when its hash is not that of its bytes, or when it does not follow on
        what its stream has come to.
        """
        attributes, data, prevhash, found = unseal(stored.record, self._partition, stored.position)
        order = int(attributes["inputposition"]), attributes["index"]
        if order <= self.order:
            return
        self.order = order
        if not self.tail:
            self._stream = StreamId(attributes["subject"])
            self._head = self.heads.get(self._stream, EMPTY)
        version = self._head.version + len(self.tail) + 1
        expected = self._hash if self.tail else self._head.hash
        if prevhash != expected or attributes["version"] != str(version):
            raise IntegrityError(
                f"{attributes['subject']} version {attributes['version']} (partition "
                f"{self._partition}, position {stored.position}) does not follow on version "
                f"{version - 1}, which its stream has come to"
            )
        self._hash = found
        self.tail.append(stored)
        self._batch.append((attributes, data))
        if len(self.tail) == attributes["size"]:
            self._take_batch(stored)

    def _take_batch(self, last: Stored) -> None:
        after, position = self._after(self._head)
        self.heads[self._stream] = after
        self.changed.add(self._stream)
        self.next_input = Position(position + 1)
        self.next_output, self.last = Position(last.position + 1), last
        self.tail, self._batch = [], []

    def _after(self, head: Head) -> tuple[Head, Position]:
        """Return the head with the batch in it, and the position of the batch's request."""
        status, user, data_bytes, tokens = head.status, head.user, head.data_bytes, head.tokens
        last = self._batch[-1][0]
        at_ms = _milliseconds(last["recordedat"])
        lifetime = head.lifetime if head.version else head.lifetime._replace(started_ms=at_ms)
        mine: list[NewEvent] = []
        for attributes, data in self._batch:
            event_type: str = attributes["type"]
            if event_type.startswith("session."):
                status = status_after(status, event_type)
                body = decode(data) if event_type in STATING else {}
                user = user_after(user, event_type, body)
                lifetime = lifetime_after(lifetime, event_type, body)
            data_bytes += len(data)
            tokens += attributes.get("tokens") or 0
            if not attributes.get("start"):
                mine.append(NewEvent("", event_type, data, attributes["schemaversion"]))
        fence = None if (written := last.get("fence")) is None else int(written)
        lease = lease_after(head.lease, fence, self._lease_events(), at_ms)
        version, position = Version(int(last["version"])), Position(int(last["inputposition"]))
        first = Version(version + 1 - len(mine))
        seen = Seen(content_digest(mine), first, len(mine), position)
        after = head._replace(
            version=version,
            hash=self._hash,
            status=status,
            user=user,
            last_activity_ms=at_ms,
            data_bytes=data_bytes,
            tokens=tokens,
            lease_fence=lease.fence,
            lease_until_ms=lease.until_ms,
            lease_ms=lease.length_ms,
            lease_holder=lease.holder,
            started_ms=lifetime.started_ms,
            ttl_ms=lifetime.ttl_ms,
            limits=lifetime.limits,
            appends=remember_append(head.appends, id_digest(last["appendid"]), seen),
        )
        return after, position

    def _lease_events(self) -> list[tuple[str, dict[str, Any]]]:
        return [
            (attributes["type"], decode(data))
            for attributes, data in self._batch
            if attributes["type"].startswith("lease.")
        ]


@lru_cache(maxsize=1_024)
def _milliseconds(recorded_at: str) -> Milliseconds:
    return Milliseconds(round(datetime.fromisoformat(recorded_at).timestamp() * 1_000))
