"""What a client needs from the outside; adapters are named for their technology."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.pending import Pending
from agentjournal.receipts import Receipt
from agentjournal.requests import Request
from agentjournal.stored import Page
from agentjournal.working_memory import NoteCache

# The projections that are read. What events are read from is one alone: who reads no more than that
# waits for nothing else, since another read model may be new in this release, or being rebuilt.
EVENTS = ("events",)
READ_FOR_RESULTS = ("events", "results")
READ_FOR_NOTES = ("events", "memory")
READ_FOR_FACTS = ("events", "facts")


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A row of the view `sessions`."""

    tenant: str
    session_id: str
    user_id: str | None
    agent: str | None
    title: str | None
    status: str
    started_at: datetime | None
    last_activity_at: datetime
    version: int
    messages: int
    input_tokens: int
    output_tokens: int
    open_calls: int


@dataclass(frozen=True, slots=True)
class Runnable:
    """A session that needs a worker: what for, and the version of the event that it comes from."""

    session_id: str
    reason: str
    version: int
    head_version: int  # of the session's last event


class Outbox(Protocol):
    """Sends pending appends to the log, in the order they were put in within a partition."""

    trouble: BaseException | None  # why nothing gets through, when nothing does

    def put(self, pending: Pending) -> None:
        """Take an append. None of the same stream and append id may be unsettled."""
        ...

    def again(self, pending: Pending) -> None:
        """Send an append once more: its answer is overdue."""
        ...

    def forget(self, pending: Pending) -> None:
        """Drop an append: it is settled, or it never left and nobody wants it any more."""
        ...

    def find(self, stream: StreamId, append_id: str) -> Pending | None:
        """Return the unsettled append of this id, or None."""
        ...

    def unsettled(self) -> Iterable[Pending]:
        """Return all appends without an outcome, in order within a partition."""
        ...

    async def close(self) -> None: ...


class Inbox(Protocol):
    """Where answers to appends arrive."""

    channel: str  # what requests name as the place to answer to

    async def ready(self, timeout_s: float) -> None:
        """Return once answers would arrive. Raises Unavailable."""
        ...

    async def close(self) -> None: ...


class Appends(Protocol):
    """The way of appends into the log, and of their outcomes back."""

    @property
    def reply_to(self) -> str: ...

    async def submit(self, stream: StreamId, request: Request, timeout_s: float) -> Pending:
        """Put an append on its way, behind the earlier ones of its stream. Raises Unavailable."""
        ...

    async def receipt(self, pending: Pending, timeout_s: float) -> Receipt:
        """Wait for the outcome. Raises what the refusal says, AppendOutcomeUnknown, Unavailable."""
        ...

    async def handed_over(self, pending: Pending, timeout_s: float) -> None:
        """Return once the log has the request. Raises Unavailable, AppendOutcomeUnknown."""
        ...

    async def close(self) -> None: ...


class Views(Protocol):
    """The read models: streams, sessions, and how far projections are."""

    def read_stream(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncGenerator[Recorded]:
        """Yield the events of a stream with version > `after`, in order. Raises StreamParked."""
        ...

    def read_pages(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncGenerator[Page]:
        """Yield the events of a stream with version > `after`, in order, and where it ends.

        There is a page when the stream has events, though none of them be asked for.
        Raises StreamParked.
        """
        ...

    async def head(self, stream: StreamId) -> tuple[Version, str] | None:
        """Return (version, hash) of the stream's last event, None when it has none."""
        ...

    async def wait_for_input(
        self, receipt: Receipt, timeout_s: float, *, projections: Sequence[str] | None = None
    ) -> None:
        """Return once `projections`, None for every one, show the append.

        Raises NotCaughtUp after `timeout_s`, StreamParked.
        """
        ...

    async def wait_for_output(
        self,
        partition: Partition,
        position: Position,
        timeout_s: float,
        *,
        projections: Sequence[str] | None = None,
    ) -> None:
        """Return once `projections` have read up to `position` of the log. Raises NotCaughtUp."""
        ...

    async def sessions(
        self, *, tenant: str, user: str | None, status: str | None, limit: int, after: str | None
    ) -> list[SessionInfo]:
        """Return sessions, the latest active first, those behind session `after` if it is given."""
        ...

    async def close(self) -> None: ...


class Results(Protocol):
    """Results of tools, found by what was called."""

    async def latest(
        self,
        tenant: str,
        call: tuple[str, str],  # tool and digest
        max_age_s: float,
        only_session: str | None,
    ) -> tuple[str, Version] | None:
        """Return session and version of the latest result, None when there is none.

        Only of a session that still has its environment, if one is given.
        """
        ...


class Work(Protocol):
    """Sessions that need a worker."""

    async def runnable(
        self, tenant: str, agent: str, as_of: datetime, *, without: Collection[str], most: int
    ) -> list[Runnable]:
        """Return at most `most` sessions of an agent that need a worker, and that nobody has.

        The longest waiting first, those in `without` left out. Raises Unavailable.
        """
        ...


class Notes(NoteCache, Protocol):
    """The cache of notes, which may hold none."""

    async def close(self) -> None: ...


class Ends(Protocol):
    """Where the canonical log ends now."""

    async def end_of(self, partition: Partition, *, timeout_s: float = 5.0) -> Position:
        """Return the position after the last event. Raises Unavailable."""
        ...

    async def close(self) -> None: ...
