"""The newest of a stream, kept once for all who follow it in a process; each of them is a place.

A follower that is slow holds up nobody and costs nothing: what has left the tail it reads where it
is stored, and of a message that grew meanwhile it gets one larger piece.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agentjournal.drafts import Delta, KeptDraft, Piece
from agentjournal.envelope import Recorded
from agentjournal.events import MessageAdded
from agentjournal.ids import Version

MOST_EVENTS, MOST_BYTES = 256, 1_000_000  # that a tail holds, but for a last event that is larger
_MOST_RECORDED = 256  # messages of which late pieces are known as late
_MOST_SEEN = 64  # drafts of which a follower's place is known

LiveItem: TypeAlias = Recorded | Delta


@dataclass(slots=True)
class _Open:
    message_id: str
    role: str
    text: str
    has_grown: bool = True  # since it was last looked whether


class Tail:
    """One stream: its last events, and the messages that are being written."""

    def __init__(self) -> None:
        self.version: Version | None = None  # of the last event that is known; None: not asked yet
        self.failure: Exception | None = None  # why nothing more will come
        self.changed = asyncio.Event()  # set at the next change, and replaced
        self.open: dict[str, _Open] = {}  # by draft
        self._events: deque[Recorded] = deque()
        self._bytes = 0
        self._recorded: deque[str] = deque(maxlen=_MOST_RECORDED)

    @property
    def is_new(self) -> bool:
        """Whether nobody has asked yet where the stream is."""
        return self.version is None and self.failure is None

    def begin(self, version: Version) -> None:
        """Start behind `version`: what is older is read where it is stored."""
        self.version = version
        self._tell()

    def extend(self, events: Iterable[Recorded]) -> None:
        """Take the events that follow; others are left for the next look."""
        for recorded in events:
            if self.version is None or recorded.version != self.version + 1:
                continue
            self.version = recorded.version
            self._events.append(recorded)
            self._bytes += len(recorded.raw_data)
            if recorded.type == MessageAdded.type:
                self._end(recorded)
        while len(self._events) > 1 and (
            len(self._events) > MOST_EVENTS or self._bytes > MOST_BYTES
        ):
            self._bytes -= len(self._events.popleft().raw_data)
        self._tell()

    def take(self, piece: Piece) -> bool:
        """Take a piece; return False when one is missing before it."""
        if piece.message_id in self._recorded:
            return True
        draft = self.open.get(piece.draft_id)
        have = 0 if draft is None else len(draft.text)
        if piece.offset > have:
            return False
        self._grow(piece.draft_id, piece.message_id, piece.role, piece.text[have - piece.offset :])
        self._tell()
        return True

    def restore(self, kept: Sequence[KeptDraft]) -> None:
        """Take drafts as they were kept, where that is more than is known."""
        for each in sorted(kept, key=lambda one: -one.idle_s):
            draft = each.draft
            if draft.message_id in self._recorded:
                continue
            known = self.open.get(draft.draft_id)
            more = each.text[0 if known is None else len(known.text) :]
            if more:
                self._grow(draft.draft_id, draft.message_id, draft.role, more)
        self._tell()

    def fail(self, failure: Exception) -> None:
        """Let every follower end with `failure`."""
        self.failure = failure
        self._tell()

    def forget_idle(self) -> None:
        """Forget drafts that did not grow since the last call; one that does is asked for anew."""
        self.open = {name: draft for name, draft in self.open.items() if draft.has_grown}
        for draft in self.open.values():
            draft.has_grown = False

    def events_after(self, version: int) -> Sequence[Recorded] | None:
        """Return the events behind `version`; None when those that follow are not here any more."""
        if self.version is None or version >= self.version:
            return ()
        if not self._events or self._events[0].version > version + 1:
            return None
        return [recorded for recorded in self._events if recorded.version > version]

    def _grow(self, draft_id: str, message_id: str, role: str, text: str) -> None:
        draft = self.open.get(draft_id)
        if draft is None:
            others = [name for name, one in self.open.items() if one.message_id == message_id]
            for name in others:  # the message is begun anew
                del self.open[name]
            draft = self.open[draft_id] = _Open(message_id, role, "")
        draft.text += text
        draft.has_grown = True

    def _end(self, recorded: Recorded) -> None:
        message_id = recorded.data["message_id"]
        self._recorded.append(message_id)
        self.open = {name: one for name, one in self.open.items() if one.message_id != message_id}

    def _tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class Place:
    """Where one follower is: behind which event, and how far in the messages being written."""

    def __init__(self, tail: Tail, after: int) -> None:
        self.after = after
        self._tail = tail
        self._seen: dict[str, int] = {}

    def advance(self, *, deltas: bool) -> Sequence[LiveItem] | None:
        """Return what is next, nothing when there is nothing yet; the place is behind it then.

        None: events that follow are to be read where they are stored. Raises what the tail failed
        with, once everything before has been returned.
        """
        events = self._tail.events_after(self.after)
        if events is None:
            return None
        if events:
            self.after = events[-1].version
            return events
        if self._tail.failure is not None:
            raise self._tail.failure.with_traceback(None)
        # Before the tail is where this follower is, a draft may be of a message that it has.
        is_there = self._tail.version is not None and self._tail.version >= self.after
        return self._deltas() if deltas and is_there else ()

    def _deltas(self) -> list[Delta]:
        found: list[Delta] = []
        for draft_id, draft in self._tail.open.items():
            seen = self._seen.get(draft_id, 0)
            if len(draft.text) > seen:
                found.append(Delta(draft.message_id, draft.role, draft.text[seen:], seen))
                self._seen.pop(draft_id, None)  # the latest comes last
                self._seen[draft_id] = len(draft.text)
        for draft_id in list(self._seen)[:-_MOST_SEEN]:
            del self._seen[draft_id]
        return found
