"""What the meter remembers of sessions: when they were last heard of, their leases, their loops."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection
from dataclasses import dataclass

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, StreamId, Version


@dataclass(slots=True)
class Session:
    """A session or a task that something happened in."""

    tenant: str
    partition: Partition
    last_ms: int = 0
    fence: int | None = None  # of the lease that was taken last
    lease_ms: int = 0
    lease_until_ms: int = 0
    repeated: tuple[str, str] | None = None  # tool and digest of the arguments
    repeats: int = 0
    last_call: str = ""
    since: Version = Version(0)  # of the first of the repeats

    def extend(self, fence: int | None, at_ms: int) -> None:
        """Let a lease last longer, since something was written under it."""
        if fence is not None and fence == self.fence:
            self.lease_until_ms = max(self.lease_until_ms, at_ms + self.lease_ms)

    def acquire(self, fence: int, at_ms: int, lease_ms: int) -> None:
        """Let a worker have the session."""
        self.fence, self.lease_ms, self.lease_until_ms = fence, lease_ms, at_ms + lease_ms

    def holds(self, fence: int | None, at_ms: int) -> bool:
        """Return whether this is the fence of a lease that has not passed."""
        return fence is not None and fence == self.fence and at_ms < self.lease_until_ms

    def repeat(self, tool: str, digest: str, call_id: str, version: Version) -> int:
        """Return how many calls in a row are the same, this one among them.

        Another attempt of the same call is none more.
        """
        if self.repeated != (tool, digest):
            self.repeated, self.repeats, self.since = (tool, digest), 1, version
        elif call_id != self.last_call:
            self.repeats += 1
        else:
            return 0
        self.last_call = call_id
        return self.repeats

    def interrupt(self) -> None:
        """Let the next call be the first of its kind."""
        self.repeated, self.repeats = None, 0


class Sessions:
    """The sessions heard of last, up to a number of them."""

    def __init__(self, most: int, active_s: float) -> None:
        self._most, self._active_ms = most, round(active_s * 1_000)
        self._sessions: OrderedDict[StreamId, Session] = OrderedDict()
        self.forgotten = 0  # while they were active

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, stream: StreamId) -> Session | None:
        """Return what is remembered of a session."""
        return self._sessions.get(stream)

    def heard(self, recorded: Recorded, tenant: str, at_ms: int) -> Session:
        """Return the session of an event, which is the last one heard of now."""
        session = self._sessions.get(recorded.stream)
        if session is None:
            session = self._sessions[recorded.stream] = Session(tenant, recorded.partition)
            if len(self._sessions) > self._most:
                _, oldest = self._sessions.popitem(last=False)
                self.forgotten += oldest.last_ms > at_ms - self._active_ms
        else:
            self._sessions.move_to_end(recorded.stream)
        session.last_ms = max(session.last_ms, at_ms)
        session.extend(recorded.fence, at_ms)
        return session

    def forget(self, stream: StreamId) -> None:
        """Remember nothing of a session that is over."""
        self._sessions.pop(stream, None)

    def active(self, now_ms: int) -> Counter[str]:
        """Return how many sessions of each tenant were heard of lately."""
        since = now_ms - self._active_ms
        return Counter(
            session.tenant
            for stream, session in self._sessions.items()
            if session.last_ms > since and stream.startswith("session/")
        )

    def keep(self, partitions: Collection[Partition]) -> None:
        """Forget the sessions of all other partitions: another meter hears of them now."""
        for stream in [s for s, each in self._sessions.items() if each.partition not in partitions]:
            del self._sessions[stream]
