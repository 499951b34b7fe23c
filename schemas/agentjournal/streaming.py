"""A message while it is written: streamed as it grows, and one event at its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Literal, Self, TypeAlias

from pydantic import ValidationError

from agentjournal.codec import encode
from agentjournal.drafts import BEAT_S, Draft, Drafts, append_id_of
from agentjournal.errors import (
    AgentJournalError,
    AppendIdReused,
    AppendRejected,
    MessageAbandoned,
    Unavailable,
)
from agentjournal.events import Event, MessageAdded, Part, TextPart, ToolCallPart
from agentjournal.events.decode import rejection
from agentjournal.ids import StreamId
from agentjournal.receipts import Receipt

PUBLISH_S = 0.1  # between two publications of a message, at least
_OUTAGE_PAUSE_S = 0.5
# Written as JSON. More of a message is neither streamed nor kept for a crash: what is kept must fit
# into an append.
MOST_STREAMED_BYTES = 500_000

Record: TypeAlias = Callable[[Sequence[Event], str], Awaitable[Receipt]]  # events, append id
Keep: TypeAlias = Callable[[asyncio.Future[Receipt]], None]


class StreamedMessage:
    """A message that is being written. Use it with `async with session.stream_message() as …`."""

    def __init__(
        self, stream: StreamId, draft: Draft, drafts: Drafts | None, record: Record, keep: Keep
    ) -> None:
        """`drafts` is None where nothing is streamed; `keep` holds what must come to its end."""
        self._stream, self._draft, self._record, self._keep = stream, draft, record, keep
        self._recording: asyncio.Future[Receipt] | None = None
        self._closed: list[Part] = []  # parts before the text that is being written
        self._text: list[str] = []
        self._shown = _Shown(stream, draft, drafts)

    @property
    def message_id(self) -> str:
        """The id that the message is recorded under."""
        return self._draft.message_id

    @property
    def receipt(self) -> Receipt | None:
        """The receipt of the message, once it is recorded."""
        done = self._recording
        is_recorded = done is not None and done.done() and not done.cancelled()
        return done.result() if done is not None and is_recorded and not done.exception() else None

    def recorded_by(self, record: Record) -> Self:
        """Let `record` append the message, and what goes along with it, in place of the session."""
        self._record = record
        return self

    async def write(self, text: str) -> None:
        """Add to the text. It is shown a moment later, together with what follows until then.

        Raises AppendRejected when it is no text, ValueError when the message is finished.
        """
        _refuse_other(text)
        self._refuse_finished()
        if text:
            self._text.append(text)
            self._shown.add(text)
        await asyncio.sleep(0)  # a model that is always ahead must not hold up what shows it

    def add(self, part: Part) -> None:
        """Add a part behind what was written: a tool call, reasoning, media.

        It is not streamed. Raises AppendRejected when it is no part, ValueError when the message
        is finished.
        """
        self._refuse_finished()
        checked = message_of(self._draft, [part], "complete").parts
        self._close_text()
        self._closed += checked

    async def finish(self, *, parts: Sequence[Part] = (), events: Sequence[Event] = ()) -> Receipt:
        """Record the message, with `events` behind it in the same append; return its receipt.

        The end of the block does the same. Raises what `append` raises, MessageAbandoned when
        another worker took it for abandoned and recorded what there was.
        """
        for part in parts:
            self.add(part)
        self._refuse_finished()
        self._close_text()
        try:
            return await self._recorded("complete", self._closed, events)
        except AppendRejected:
            self._recording = None  # nothing was: it may be corrected
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            if self._recording is None:
                await self.finish()
            return
        try:
            await self._cut_off()
        except AgentJournalError as failure:
            error.add_note(f"message {self.message_id} is not known to be recorded: {failure}")

    async def _cut_off(self) -> None:
        """Record what there is; the calls that it asks for are left out, since none is to run."""
        if self._recording is not None:
            await asyncio.wait({self._recording})  # its failure, if it is one, was raised there
            return
        self._close_text()
        parts = [part for part in self._closed if not isinstance(part, ToolCallPart)]
        if parts:
            await self._recorded("incomplete", parts, ())
        else:
            await self._shown.end()

    def _recorded(
        self,
        status: Literal["complete", "incomplete"],
        parts: Sequence[Part],
        events: Sequence[Event],
    ) -> Awaitable[Receipt]:
        """Record it in a task of its own: who is cancelled, even again and again, loses nothing."""
        recording = asyncio.ensure_future(self._appended(status, parts, events))
        self._recording = recording
        self._keep(recording)
        recording.add_done_callback(lambda done: done.cancelled() or done.exception())
        return asyncio.shield(recording)

    async def _appended(
        self,
        status: Literal["complete", "incomplete"],
        parts: Sequence[Part],
        events: Sequence[Event],
    ) -> Receipt:
        await self._shown.end()
        message = message_of(self._draft, parts, status)
        try:
            receipt = await self._record([message, *events], append_id_of(self.message_id))
        except AppendIdReused:
            await self._shown.drop()
            raise MessageAbandoned(self._stream, self.message_id) from None
        await self._shown.drop()
        return receipt

    def _close_text(self) -> None:
        if self._text:
            self._closed.append(TextPart(text="".join(self._text)))
            self._text = []

    def _refuse_finished(self) -> None:
        if self._recording is not None:
            raise ValueError(f"message {self.message_id} is finished")


class _Shown:
    """What is streamed of a message: a task publishes what was added, some times a second."""

    def __init__(self, stream: StreamId, draft: Draft, drafts: Drafts | None) -> None:
        self._stream, self._draft, self._drafts = stream, draft, drafts
        self._text = ""
        self._published = 0
        self._room = MOST_STREAMED_BYTES
        self._news, self._over = asyncio.Event(), asyncio.Event()
        self._is_away = False  # the store, when it was last tried
        self._task: asyncio.Task[None] | None = None

    def add(self, text: str) -> None:
        """Show more."""
        if self._drafts is None or self._room < 0:
            return
        self._room -= len(encode(text))
        if self._room < 0:
            return
        self._text += text
        self._news.set()
        if self._task is None:
            self._task = asyncio.create_task(self._publish(self._drafts))

    async def end(self) -> None:
        """Show the rest, and nothing more."""
        self._over.set()
        self._news.set()
        if self._task is not None:
            await asyncio.wait({self._task})

    async def drop(self) -> None:
        """Forget it: the message is recorded."""
        if self._drafts is not None and self._task is not None and not self._is_away:
            await self._drafts.drop(self._stream, self._draft.draft_id)

    async def _publish(self, drafts: Drafts) -> None:
        while not self._over.is_set():
            await self._put(drafts)
            await _within(_OUTAGE_PAUSE_S if self._is_away else PUBLISH_S, self._over)
            if self._published == len(self._text):
                await _within(BEAT_S, self._news)  # then there is only to say that it is there
            self._news.clear()
        if self._published < len(self._text) and not self._is_away:
            await self._put(drafts)

    async def _put(self, drafts: Drafts) -> None:
        text = self._text
        try:
            await drafts.put(self._stream, self._draft, text, self._published)
        except Unavailable:
            self._is_away = True
        else:
            self._is_away, self._published = False, len(text)


async def _within(time_s: float, event: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(time_s):
            await event.wait()


def _refuse_other(text: object) -> None:
    if not isinstance(text, str):  # a library may call something else a delta
        raise AppendRejected("text", f"is a {type(text).__name__}, not text")


def message_of(
    draft: Draft, parts: Sequence[Part], status: Literal["complete", "incomplete"]
) -> MessageAdded:
    """Return the event of a draft. Raises AppendRejected."""
    try:
        return MessageAdded(
            message_id=draft.message_id,
            role=draft.role,
            name=draft.name,
            model_call_id=draft.model_call_id,
            parts=list(parts),
            status=status,
        )
    except ValidationError as error:
        raise rejection(error) from None
