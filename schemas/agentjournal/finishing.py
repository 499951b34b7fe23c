"""Calls that a model asked for, brought to their ends: run, found out about, tried again, denied.

Nothing here is done twice: a call is recorded before its effect and after it, and one that was cut
off in between is found out about first, under the key that the outside system knows it by.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agentjournal.approvals import Allowed, Ask, Denied, Lapsed, Wait, verdict
from agentjournal.calls import Call, not_done, settled
from agentjournal.errors import AgentJournalError, NeedsVerification
from agentjournal.events import Event, Retry, ToolFailed, ToolFailure, TurnEnded
from agentjournal.outcomes import NOT_DONE, ToolError, failure_of, is_unknown, shown_failure
from agentjournal.run_state import Known
from agentjournal.tool_calls import NOT_DONE_CODE, ToolCall, next_group
from agentjournal.tools import Tool
from agentjournal.turns import asked_for

MOST_TRIES = 3  # of a call whose outcome stays unknown, in one run


async def finish(run: Known, tools: Mapping[str, Tool], concurrency: int) -> None:
    """Bring the open calls of a run's session to their ends, as `Run.finish_open_calls` says."""
    if concurrency < 1:
        raise ValueError(f"concurrency={concurrency} is below 1")
    slots = asyncio.Semaphore(concurrency)

    errors: list[Exception] = []

    async def one(call: ToolCall) -> _Left:
        finishing = _Finishing(run, tools.get(call.tool), sorted(tools))
        async with slots:
            left = await finishing.finish(call)
        if finishing.error is not None:
            errors.append(finishing.error)
        return left

    tasks = [asyncio.create_task(one(call)) for call in _to_do(run, tools)]
    try:
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    for each in ended:
        if isinstance(each, BaseException):
            raise each
    left = [each for each in ended if not isinstance(each, BaseException)]
    unknown = [call for call, why in left if why == "unknown"]
    if unknown:
        cause = errors[0] if errors else None
        raise NeedsVerification(run.session.stream, unknown) from cause
    if any(why == "waiting" for _, why in left) and run.state.turn_id is not None:
        await run.append(TurnEnded(turn_id=run.state.turn_id, reason="waiting"))


_Left = tuple[ToolCall, str]  # a call, and how it was left: ended, waiting or unknown


def _to_do(run: Known, tools: Mapping[str, Tool]) -> list[ToolCall]:
    asked = asked_for(run.state)
    names = {call.call_id for call in asked}
    cut_off = [c for c in run.state.open_calls if c.attempt and c.call_id not in names]
    return [
        call
        for call in (*cut_off, *asked)
        if call.outcome == "open"
        or (call.tool in tools and retry_wait(tools[call.tool].retry, call) is not None)
    ]


def retry_wait(retry: Retry | None, call: ToolCall) -> float | None:
    """Return how many seconds to wait before a failed call is tried again; None: it is not."""
    # What was refused without having been run would be refused again.
    if retry is None or call.outcome != "failed" or call.error is None or not call.attempt:
        return None
    if call.error.type in _REFUSED and call.error.type not in retry.on:
        return None
    failures = next_group(call) - 1
    if failures >= retry.max_attempts:
        return None
    if retry.on and call.error.type not in retry.on and call.error.code not in retry.on:
        return None
    waits = retry.backoff_s or [0]
    return float(waits[min(failures, len(waits)) - 1])


_REFUSED = frozenset({"denied", "invalid_arguments"})


class _Finishing:
    """One call on its way to its end."""

    def __init__(self, run: Known, tool: Tool | None, names: Sequence[str]) -> None:
        self._run, self._tool, self._names = run, tool, names
        self._tries = 0
        self.error: Exception | None = None  # of a verifier that could not tell

    async def finish(self, call: ToolCall) -> _Left:
        """Return the call as it was left."""
        tool = self._tool
        if tool is None:
            return await self._without_tool(call)
        while True:
            if call.outcome == "completed":
                return call, "ended"
            if call.outcome == "open" and call.attempt:
                if not await self._find_out(call, tool):
                    return call, "unknown"
                call = self._now(call)
                if call.outcome == "completed" or _is_final(call, tool):
                    return call, "ended"
            elif call.outcome == "failed" and not _is_not_done(call):
                wait_s = retry_wait(tool.retry, call)
                if wait_s is None:
                    return call, "ended"
                await asyncio.sleep(wait_s)
            if (left := await self._attempt(call, tool)) is not None:
                return left
            call = self._now(call)

    async def _without_tool(self, call: ToolCall) -> _Left:
        if call.attempt:
            return call, "unknown"
        there = ", ".join(self._names) or "none"
        message = f"there is no tool {call.tool!r}; there are: {there}"
        await self._refuse(call, ToolFailure(type="invalid_arguments", message=message))
        return self._now(call), "ended"

    async def _attempt(self, call: ToolCall, tool: Tool) -> _Left | None:
        """Run the call once; return how it is left, or None when it has an outcome, or none."""
        try:
            arguments = tool.check(_parsed(call.arguments_text))
            text, approval_id = call.arguments_text, None
            if (question := tool.asks(arguments)) is not None:
                allowed = await self._allowed(call, question)
                if not isinstance(allowed, Allowed):
                    return self._now(call), "ended" if allowed is None else "waiting"
                text, approval_id = allowed.arguments_text, allowed.approval_id
            new = self._next(call, tool, text, approval_id)
            arguments = tool.check(_parsed(text), new)
        except ToolError as error:
            await self._refuse(call, failure_of(error))
            return self._now(call), "ended"
        await self._run_once(new, tool, arguments)
        self._tries += 1
        is_open = self._now(call).outcome == "open"
        return (self._now(call), "unknown") if is_open and self._tries >= MOST_TRIES else None

    async def _run_once(self, new: Call, tool: Tool, arguments: Mapping[str, Any]) -> None:
        run = self._run
        run.going.add(new.call_id)
        try:
            await new.begin(run.append)
            try:
                returned = await tool.run(arguments)
            except BaseException as error:
                if not is_unknown(error, new.effect, tool.unknown_on):
                    await new.fail(error)
                elif not isinstance(error, Exception) or isinstance(error, AgentJournalError):
                    raise
            else:
                if new.outcome is None:
                    await new.complete(returned)
        finally:
            run.going.discard(new.call_id)

    async def _find_out(self, call: ToolCall, tool: Tool) -> bool:
        """Return whether one may go on with a call that was cut off."""
        if tool.verify is not None:
            try:
                found = await self._verified(call, tool)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it cannot tell
                self.error = error
                return False
            event: Event = not_done(call.call_id)
            if found is not NOT_DONE:
                event = settled(call.call_id, output=found, settled_by="verifier")
            await self._run.append(event)
            return True
        if tool.on_unknown == "fail":
            said = "it was cut off, and nobody knows whether it happened"
            await self._run.append(settled(call.call_id, error=said, settled_by="policy"))
            return True
        return tool.on_unknown == "retry"

    async def _verified(self, call: ToolCall, tool: Tool) -> Any:
        held = self._next(call, tool, call.arguments_text, None)
        held.attempt = call.attempt
        found = await tool.verified(call.arguments, held)
        if found is NOT_DONE:
            await self._wait_until_certain(call)
            found = await tool.verified(call.arguments, held)
        return found

    async def _wait_until_certain(self, call: ToolCall) -> None:
        """Wait until a worker that was stopped in the middle of the call cannot fire any more.

        That is the call's own time after the lease ended under which it was begun.
        """
        run = self._run
        state = await run.refresh()  # the times of the broker
        lease = state.lease
        if lease is None or call.started_at is None:
            return
        over, now = _moment(call.started_at), _moment(lease.acquired_at)
        if (call.started_version or 0) < lease.fence and lease.previous_s:
            passed = _moment(lease.quiet_since) + timedelta(seconds=lease.previous_s)
            over = min(now, passed)
        certain = over + timedelta(seconds=call.lease_s or 0)
        now += timedelta(seconds=run.held_s)
        await asyncio.sleep(max(0.0, (certain - now).total_seconds()))

    async def _allowed(self, call: ToolCall, question: str) -> Allowed | Wait | None:
        """Return whether the call may run: None when it was denied, and this is recorded."""
        run = self._run
        match verdict(run.state, call, question, run.session.now()):
            case Ask(event):
                await run.append(event)
                return Wait(run.state.approvals[event.approval_id])
            case Lapsed(event):
                await run.append(event)
                return await self._allowed(call, question)
            case Denied(failure):
                await self._refuse(call, failure)
                return None
            case answer:
                return answer

    async def _refuse(self, call: ToolCall, failure: ToolFailure) -> None:
        """Record that a call ended without having been run."""
        event = ToolFailed(
            call_id=call.call_id,
            attempt=call.attempt + 1,
            error=failure,
            output=shown_failure(failure),
        )
        await self._run.append(event)

    def _next(self, call: ToolCall, tool: Tool, text: str, approval_id: str | None) -> Call:
        run, group = self._run, next_group(call)
        new = Call(
            run.session.stream,
            call.tool,
            text,
            call_id=call.call_id,
            effect=tool.effect,
            lease_s=tool.timeout_s or run.lease_s,
            attempt=call.attempt + 1,
            group=group,
            approval_id=approval_id,
        )
        if group == call.group and call.idempotency_key:
            new.idempotency_key = call.idempotency_key
        return new

    def _now(self, call: ToolCall) -> ToolCall:
        return self._run.state.calls.get(call.call_id, call)


def _parsed(text: str) -> Any:
    from agentjournal.codec import decode  # noqa: PLC0415 - only here

    try:
        return decode(text.encode())
    except ValueError:
        raise ToolError("the arguments are no JSON", type="invalid_arguments") from None


def _is_not_done(call: ToolCall) -> bool:
    return call.error is not None and call.error.code == NOT_DONE_CODE


def _is_final(call: ToolCall, tool: Tool) -> bool:
    return (
        call.outcome == "failed" and not _is_not_done(call) and retry_wait(tool.retry, call) is None
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
