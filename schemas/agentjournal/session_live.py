"""A session while something happens in it: messages that are being written, and who watches."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Sequence

from agentjournal.drafts import (
    ABANDONED_S,
    Draft,
    KeptDraft,
    append_id_of,
    is_abandoned,
)
from agentjournal.errors import AppendIdReused, LimitExceeded, Unavailable
from agentjournal.events import Event, TextPart
from agentjournal.events.message import Role
from agentjournal.ids import new_event_id
from agentjournal.limits import outcomes
from agentjournal.receipts import Receipt
from agentjournal.session_memory import SessionMemory
from agentjournal.streaming import StreamedMessage, message_of
from agentjournal.tails import LiveItem


class SessionLive(SessionMemory):
    """Streams messages, and follows the session."""

    def stream_message(
        self,
        role: Role = "assistant",
        *,
        message_id: str | None = None,
        name: str | None = None,
        model_call_id: str | None = None,
        unredacted: bool = False,
    ) -> StreamedMessage:
        """Return a message to write piece by piece, for `async with`.

        Pieces go through Redis only, to those who follow with `live()`; the end of the block
        appends the whole message, with status `incomplete` when it ends by an exception or is
        cancelled. Where the log has a `redact`, which sees whole events only, nothing is streamed
        unless `unredacted` is set.

        Raises AppendRejected when an argument is not valid.
        """
        servers = self._servers
        draft = Draft(
            secrets.token_hex(8),
            message_id or new_event_id(),
            role,
            name,
            model_call_id,
            self._writer.fence,
        )
        message_of(draft, (), "complete")  # refuses what could not be recorded in the end
        is_shown = servers.redact is None or unredacted
        return StreamedMessage(
            self.stream,
            draft,
            servers.live.drafts if is_shown else None,
            self._record_streamed,
            servers.live.finish,
        )

    def live(self, *, after: int = 0) -> AsyncGenerator[LiveItem]:
        """Yield the events with version > `after` as they are recorded, and `Delta`s between them.

        It does not end. Who begins in the middle of a message gets what was streamed of it so far
        in one delta. A `message.added` supersedes the deltas of its `message_id`, of which the last
        may never come. Without Redis there are events only.

        All who follow in this process share one reader. One that is slow misses no event, and gets
        larger deltas. Raises ValueError for a version below 0, StreamParked, Unavailable when
        Postgres is away or the log is closed: follow again after the last version.
        """
        if after < 0:
            raise ValueError(f"after={after} is below 0")
        return self._servers.live.follow(self.stream, after, deltas=True)

    async def record_abandoned(self, *, idle_s: float = ABANDONED_S) -> list[Receipt]:
        """Record, as `incomplete`, messages whose writer died in the middle; return the receipts.

        Abandoned is what nobody was heard of for `idle_s` seconds, or what was begun under an
        earlier lease than the one of this handle. Each is recorded once, whoever asks, and only
        what Redis still has of it; one that a limit refuses is left there for who comes when there
        is room. Raises NotCaughtUp, and what `append` raises.
        """
        live = self._servers.live
        try:
            kept = (await live.drafts.kept([self.stream])).get(self.stream, ())
        except Unavailable:
            return []  # they can be recorded later
        fence = self._writer.fence
        abandoned = [each for each in kept if is_abandoned(each, idle_s, fence)]
        if not abandoned:
            return []
        await self._catch_up(5.0)
        ids = [append_id_of(each.draft.message_id) for each in abandoned]
        recorded = await live.stored.appended(self.stream, ids)
        receipts: list[Receipt] = []
        for each in sorted(abandoned, key=lambda one: one.idle_s):  # of one message the latest
            if append_id_of(each.draft.message_id) not in recorded:
                try:
                    receipts += await self._record_draft(each)
                except LimitExceeded:  # no reason to keep anybody from the session
                    continue
            await live.drafts.drop(self.stream, each.draft.draft_id)
        return receipts

    async def _record_draft(self, kept: KeptDraft) -> list[Receipt]:
        message = message_of(kept.draft, [TextPart(text=kept.text)], "incomplete")
        append_id = append_id_of(kept.draft.message_id)
        try:
            return [await self.append(message, append_id=append_id)]
        except AppendIdReused:
            return []  # its writer was there after all, and has recorded it

    async def _record_streamed(self, events: Sequence[Event], append_id: str) -> Receipt:
        return await self._said(events, append_id)

    async def _said(self, events: Sequence[Event], append_id: str | None = None) -> Receipt:
        """Append what a model said; where a limit refuses it, what the call came to is recorded."""
        try:
            return await self.append(events, append_id=append_id)
        except LimitExceeded:
            if ended := outcomes(events):
                await self.append(ended)
            raise
