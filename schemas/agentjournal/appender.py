"""Appends from the call to the receipt: sent in order, asked for again, never falsely failed."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from agentjournal.errors import AppendOutcomeUnknown, Unavailable
from agentjournal.ids import StreamId
from agentjournal.partitions import partition_of
from agentjournal.pending import Pending
from agentjournal.ports import Inbox, Outbox
from agentjournal.receipts import Answer, Receipt
from agentjournal.requests import Request

_TICK_S = 0.25
# Far below the 256 appends that the sequencer remembers of a stream: a repeat is always known.
MOST_UNSETTLED = 64


class Appender:
    """Sends appends and settles them by the answers that come back."""

    def __init__(
        self, outbox: Outbox, inbox_to: Callable[[Callable[[list[Answer]], None]], Inbox]
    ) -> None:
        """`inbox_to` makes the inbox, given what it is to call with the answers that arrive."""
        self._outbox = outbox
        self._inbox = inbox_to(self._deliver)
        self._of_stream: defaultdict[StreamId, list[Pending]] = defaultdict(list)
        self._ticker: asyncio.Task[None] | None = None
        self._closing: asyncio.Future[None] | None = None  # done once the log is closed

    @property
    def reply_to(self) -> str:
        return self._inbox.channel

    async def submit(self, stream: StreamId, request: Request, timeout_s: float) -> Pending:
        """Put an append on its way, behind the earlier ones of its stream.

        The very same append may be on its way already, from a call that gave up: then it is that
        one that is returned. Raises Unavailable when no answer could arrive, or earlier appends
        have no outcome in time: nothing was sent then.
        """
        if self._closing is not None and self._closing.done():
            raise Unavailable("the log", "it is closed")
        await self._inbox.ready(timeout_s)
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_future()
            self._ticker = asyncio.create_task(self._ask_again())
        deadline = asyncio.get_running_loop().time() + timeout_s
        while True:
            same = self._outbox.find(stream, request.append_id)
            if same is not None and same.is_of(request):
                return same
            # One that expects a version, or reuses an id, can only be judged once every earlier one
            # has an outcome.
            alone = request.expected_version is not None or same is not None
            earlier = self._of_stream[stream]
            if len(earlier) < (1 if alone else MOST_UNSETTLED):
                break
            await self._wait_for_one(earlier, deadline)
        pending = Pending(request, stream, partition_of(stream.encode()))
        earlier.append(pending)
        pending.outcome.add_done_callback(lambda _: self._settled(pending))
        self._outbox.put(pending)
        return pending

    async def receipt(self, pending: Pending, timeout_s: float) -> Receipt:
        """Wait for the outcome.

        Raises what the refusal says, AppendOutcomeUnknown when no answer came in time, Unavailable
        when nothing was ever sent.
        """
        if await self._done(pending.outcome, timeout_s):
            return pending.outcome.result()
        if not pending.attempts:
            why = self._outbox.trouble or f"no answer in {timeout_s:g} s"
            self._drop(pending)
            pending.fail(Unavailable("Kafka", why))  # also for others who wait for it
            return pending.outcome.result()
        raise AppendOutcomeUnknown(
            pending.request.append_id, timeout_s, lambda: self._retry(pending, timeout_s)
        )

    async def handed_over(self, pending: Pending, timeout_s: float) -> None:
        """Return once Kafka has the request. Raises Unavailable, AppendOutcomeUnknown."""
        if await self._done(pending.in_log, timeout_s):
            pending.in_log.result()
        else:
            await self.receipt(pending, 0)

    async def close(self) -> None:
        """Stop; an append without an outcome stays unknown, and who waits for it is told so."""
        if self._closing is not None and not self._closing.done():
            self._closing.set_result(None)
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)
        await self._outbox.close()
        await self._inbox.close()

    async def _done(self, future: asyncio.Future[Any], timeout_s: float) -> bool:
        """Wait until `future` is done, though not beyond the closing of the log."""
        waiting = [future] if self._closing is None else [future, self._closing]
        await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        return future.done()

    async def _retry(self, pending: Pending, timeout_s: float) -> Receipt:
        if not pending.outcome.done():
            self._outbox.again(pending)
        return await self.receipt(pending, timeout_s)

    async def _wait_for_one(self, earlier: Sequence[Pending], deadline: float) -> None:
        left = deadline - asyncio.get_running_loop().time()
        waiting = [pending.outcome for pending in earlier]
        done, _ = await asyncio.wait(
            waiting, timeout=max(0, left), return_when=asyncio.FIRST_COMPLETED
        )
        if not done:
            raise Unavailable("the sequencer", "earlier appends have no outcome yet")
        await asyncio.sleep(0)  # let their callbacks take them off the list

    def _deliver(self, answers: list[Answer]) -> None:
        for answer in answers:
            pending = self._outbox.find(answer.stream, answer.append_id)
            if pending is not None:
                pending.settle(answer)

    def _settled(self, pending: Pending) -> None:
        self._drop(pending)
        if not self._of_stream[pending.stream]:
            del self._of_stream[pending.stream]

    def _drop(self, pending: Pending) -> None:
        self._outbox.forget(pending)
        with contextlib.suppress(ValueError):
            self._of_stream[pending.stream].remove(pending)

    async def _ask_again(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            now = asyncio.get_running_loop().time()
            for pending in self._outbox.unsettled():
                if pending.overdue(now):
                    self._outbox.again(pending)
