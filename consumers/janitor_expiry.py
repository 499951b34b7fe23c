"""Expiry: what is asked of the log, when it is decided and shows, and what became of it.

Nothing is decided here for good: the log does, by the broker's clock and the version that was seen.
So a message in the same moment wins, and asking twice, or by two janitors at once, expires once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from agentjournal.events import Event, SessionExpired
from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.outgoing import outgoing
from agentjournal.requests import Request

AGENT = "janitor"  # in whose name it appends


class Idle(NamedTuple):
    """A session that was idle for its TTL, at the version that the read models show it at."""

    stream: StreamId
    partition: Partition
    version: Version
    ttl_s: int  # that applies


class Asked(NamedTuple):
    """A request on its way, and where it belongs."""

    stream: StreamId
    partition: Partition
    request: Request


class Progress(NamedTuple):
    """How far a partition is decided, and how far a read model shows it."""

    next_input: Position  # as the sequencer saved it last
    next_output: Position
    input_position: Position  # of the last request that shows
    next_position: Position  # in `events`: the next to read


class State(NamedTuple):
    """A session as the read models show it."""

    version: Version
    status: str


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of sessions that were asked to expire."""

    sent: int = 0
    expired: int = 0
    lost: int = 0  # to activity: something happened first
    refused: frozenset[StreamId] = frozenset()  # they are as they were

    def plus(self, other: Tally) -> Tally:
        """Return both together."""
        return Tally(
            self.sent + other.sent,
            self.expired + other.expired,
            self.lost + other.lost,
            self.refused | other.refused,
        )


def asked(
    stream: StreamId,
    partition: Partition,
    event: Event,
    append_id: str,
    expected_version: Version | None = None,
) -> Asked:
    """Return the request that appends an event to a session; nobody waits for its receipt."""
    _, tenant, _ = stream.split("/")
    request = Request(
        append_id=append_id,
        events=outgoing("session", event, None),
        source=f"/{tenant}/{AGENT}",
        expected_version=expected_version,
        agent=AGENT,
    )
    return Asked(stream, partition, request)


def expiry_of(idle: Idle) -> Asked:
    """Return the request by which a session expires; made again, it asks for the very same."""
    stream, partition, version, ttl_s = idle
    event = SessionExpired(idle_s=ttl_s)
    return asked(stream, partition, event, f"expire-{version}", version)


def bursts_of(asked: Sequence[Asked], size: int) -> Iterator[list[Asked]]:
    """Return requests in turn from each partition, `size` at a time; in order within each."""
    waiting: dict[Partition, list[Asked]] = {}
    for each in asked:
        waiting.setdefault(each.partition, []).append(each)
    turns = [each for turn in zip_longest(*waiting.values()) for each in turn if each is not None]
    return (turns[at : at + size] for at in range(0, len(turns), size))


def unsettled(
    last: Mapping[Partition, Position], progress: Mapping[Partition, Progress]
) -> set[Partition]:
    """Return the partitions whose request at `last` is not decided yet, or does not show.

    One that was accepted shows by its position. Of one that was refused nothing ever shows: then
    it takes what the sequencer saved behind it, and all that it had decided by then.
    """
    return {
        partition
        for partition, position in last.items()
        if (at := progress.get(partition)) is None
        or (
            at.input_position < position
            and (at.next_input <= position or at.next_position < at.next_output)
        )
    }


def tally(sent: Sequence[Idle], now: Mapping[StreamId, State]) -> Tally:
    """Return what became of sessions, once whatever was decided shows."""
    expired, lost, refused = 0, 0, set[StreamId]()
    for idle in sent:
        state = now.get(idle.stream)
        if state is None or state.version == idle.version:
            refused.add(idle.stream)
        elif state.status == "expired":
            expired += 1
        else:
            lost += 1
    return Tally(len(sent), expired, lost, frozenset(refused))
