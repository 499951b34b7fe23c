"""A page that watches a session, as a browser does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from types import TracebackType
from typing import Self

from agentjournal import Delta, Log, Recorded, Session
from tests.servers import eventually, inside


class Page:
    """Follows from a version on; what is written now is in `shown`, by the message's id."""

    def __init__(self, session: Session, *, after: int = 0) -> None:
        self.events: list[Recorded] = []
        self.deltas: list[Delta] = []
        self.shown: dict[str, str] = {}
        self._session, self._after = session, after
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait({self._task})
        if not self._task.cancelled() and error is None:
            self._task.result()

    async def shows(self, texts: dict[str, str], *, timeout_s: float = 20) -> None:
        """Return once these messages are being written, and no others."""
        await self._eventually(lambda: self.shown == texts, timeout_s)

    async def has(self, count: int, *, timeout_s: float = 20) -> None:
        """Return once it has so many events."""
        await self._eventually(lambda: len(self.events) == count, timeout_s)

    async def _eventually(self, look: Callable[[], bool], timeout_s: float) -> None:
        def looked() -> bool:
            if self._task is not None and self._task.done():
                self._task.result()
            return look()

        await eventually(looked, timeout_s=timeout_s)

    async def _watch(self) -> None:
        """Show what comes. What does not follow what is shown is a fault of the log's."""
        async with aclosing(self._session.live(after=self._after)) as items:
            async for item in items:
                if isinstance(item, Delta):
                    self._show(item)
                else:
                    self._take(item)

    def _show(self, delta: Delta) -> None:
        self.deltas.append(delta)
        have = self.shown.get(delta.message_id, "")
        assert delta.offset == len(have), f"{delta} comes behind {have!r}"
        self.shown[delta.message_id] = have + delta.text

    def _take(self, recorded: Recorded) -> None:
        before = self.events[-1].version if self.events else self._after
        assert recorded.version == before + 1
        self.events.append(recorded)
        if recorded.type == "message.added":
            self.shown.pop(recorded.data["message_id"], None)


async def messages(session: Session) -> list[tuple[str, str]]:
    return [(m.text, m.status) for m in (await session.load()).messages]


async def drafts_of(log: Log, session: Session) -> dict[str, str]:
    """Return what is kept of messages that are being written, by their ids."""
    kept = await inside(log).live.drafts.kept([session.stream])
    return {each.draft.message_id: each.text for each in kept.get(session.stream, ())}


async def until_kept(log: Log, session: Session, whole: dict[str, str]) -> None:
    async with asyncio.timeout(10):
        while await drafts_of(log, session) != whole:  # noqa: ASYNC110 - what is kept says nothing
            await asyncio.sleep(0)
