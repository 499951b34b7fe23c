"""Calls that a model asked for, brought to their ends: run, found out about, tried again, denied.

Nothing here is done twice: a call is recorded before its effect and after it, and one that was cut
off in between is found out about first, under the key that the outside system knows it by.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from agentjournal.approvals import Allowed, Ask, Denied, Lapsed, MustAsk, Wait, verdict
from agentjournal.calls import Call, again, not_done, settled
from agentjournal.errors import AgentJournalError, NeedsVerification, VersionConflict
from agentjournal.events import Event, ToolFailed, ToolFailure
from agentjournal.execution_state import unanswered
from agentjournal.ids import Version
from agentjournal.outcomes import NOT_DONE, ToolError, failure_of, is_unknown, shown_failure
from agentjournal.receipts import Receipt
from agentjournal.retrying import is_not_done, retry_wait, to_do, uncertain_s
from agentjournal.run_handoffs import RunHandoffs
from agentjournal.run_state import OwnEvent
from agentjournal.state import SessionState
from agentjournal.stored import written_time
from agentjournal.tool_calls import REDACTED_ARGUMENTS, UNKNOWN_CODE, ToolCall
from agentjournal.tools import Tool, parsed

MOST_TRIES = 3  # of a call whose outcome stays unknown, in one run


async def finish(run: RunHandoffs, tools: Mapping[str, Tool], concurrency: int) -> None:
    """Bring the open calls of a run's session to their ends, as `Run.finish_open_calls` says."""
    if concurrency < 1:
        raise ValueError(f"concurrency={concurrency} is below 1")
    while True:
        answered = run.state.answered_version
        if not await _is_waiting(run, tools, concurrency):
            return
        await run.catch_up()
        # A message that came is for the model; an answer that came while other calls ran would
        # else be waited for, for ever.
        if unanswered(run.state) or await run.wait(since=answered):
            return


async def _is_waiting(run: RunHandoffs, tools: Mapping[str, Tool], concurrency: int) -> bool:
    """Bring the open calls to their ends, as far as it goes; return whether one waits."""
    slots = asyncio.Semaphore(concurrency)
    errors: list[Exception] = []

    async def one(call: ToolCall) -> _Left:
        finishing = _Finishing(run, call, tools.get(call.tool))
        async with slots:
            left = await finishing.finish(sorted(tools))
        if finishing.error is not None:
            errors.append(finishing.error)
        return left

    tasks = [asyncio.create_task(one(call)) for call in to_do(run.state, run.unknown, tools)]
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
    return any(why == "waiting" for _, why in left)


_How: TypeAlias = Literal["ended", "waiting", "unknown"]
_Left: TypeAlias = tuple[ToolCall, _How]  # a call, and how it was left


class _Finishing:
    """One call on its way to its end. What it records is folded here at once.

    The run's own state may be behind: of calls that go on at once the later may be recorded first.
    """

    def __init__(self, run: RunHandoffs, call: ToolCall, tool: Tool | None) -> None:
        self._run, self._tool, self._call_id = run, tool, call.call_id
        self._mine = SessionState(run.session.stream, calls={call.call_id: call})
        self._tries = 0
        self.error: Exception | None = None  # of a verifier that could not tell

    @property
    def _call(self) -> ToolCall:
        return self._mine.calls[self._call_id]

    async def finish(self, names: Sequence[str]) -> _Left:
        """Return the call as it was left; `names` are those of the tools that there are."""
        tool = self._tool
        how = await (self._without_tool(names) if tool is None else self._with(tool))
        return self._call, how

    async def _without_tool(self, names: Sequence[str]) -> _How:
        if self._call.attempt:
            return "unknown"
        there = ", ".join(names) or "none"
        message = f"there is no tool {self._call.tool!r}; there are: {there}"
        await self._refuse(ToolFailure(type="invalid_arguments", message=message))
        return "ended"

    async def _with(self, tool: Tool) -> _How:
        while True:
            call = self._call
            if call.outcome == "completed":
                return "ended"
            if call.outcome == "open" and call.attempt:
                if self._tries >= MOST_TRIES or self._runs_on() or not await self._find_out(tool):
                    return "unknown"
                if self._call.outcome != "open":
                    continue
                if self._call.is_redacted:
                    return "unknown"  # it may have happened, and cannot be run again
            elif call.outcome == "failed" and not is_not_done(call):
                if (wait_s := retry_wait(tool.retry, call)) is None:
                    return "ended"
                await self._run.session.time.sleep(wait_s)
            if await self._attempt(tool) == "waiting":
                return "waiting"

    def _runs_on(self) -> bool:
        """Whether a thread that was given up still works on the call."""
        thread = self._run.threads.get(self._call_id)
        return thread is not None and not thread.done()

    async def _attempt(self, tool: Tool) -> _How | None:
        """Run the call once, if it may run; what came of it is in the call."""
        call = self._call
        if call.is_redacted:
            await self._refuse(REDACTED_ARGUMENTS)
            return None
        try:
            arguments = tool.check(parsed(call.arguments_text))
            text, approval_id = call.arguments_text, None
            if (ask := tool.asks(arguments)) is not None:
                answer = await self._allowed(ask)
                if not isinstance(answer, Allowed):
                    return answer
                text, approval_id = answer.arguments_text, answer.approval_id
            new = self._next(tool, text, approval_id)
            arguments = tool.check(parsed(text), new)
        except ToolError as error:
            await self._refuse(failure_of(error))
            return None
        if (violation := self._run.refusal(call.call_id, call.tool)) is not None:
            await self._refuse(violation.tool_failure())
            return None
        await self._run_once(new, tool, arguments)
        return None

    async def _run_once(self, new: Call, tool: Tool, arguments: Mapping[str, Any]) -> None:
        going = self._run.going
        going.add(new.call_id)
        self._run.begun.add(new.call_id)
        try:
            if not await self._begin(new):
                return
            try:
                returned = await tool.run(arguments, self._left)
            except BaseException as error:
                if not is_unknown(error, new.effect, tool.unknown_on):
                    await new.fail(error)
                elif not isinstance(error, Exception) or isinstance(error, AgentJournalError):
                    raise
                else:
                    self._tries += 1
            else:
                if new.outcome is None:
                    await new.complete(returned)
        finally:
            going.discard(new.call_id)

    async def _begin(self, new: Call) -> bool:
        """Record that an attempt begins; False when somebody gave the call an outcome meanwhile."""
        run = self._run
        if new.attempt == 1:
            await new.begin(self._append)
            return True
        while True:
            state = await run.refresh()
            held, mine = state.calls.get(self._call_id), self._call
            if held is not None and (held.outcome, held.attempt) != (mine.outcome, mine.attempt):
                self._mine.calls[self._call_id] = held
                return False
            try:
                await new.begin(self._append, state.version)
            except VersionConflict:
                continue
            return True

    def _left(self, thread: asyncio.Future[Any]) -> None:
        self._run.threads[self._call_id] = thread

    async def _find_out(self, tool: Tool) -> bool:
        """Return whether one may go on with the call, which was cut off."""
        call_id = self._call_id
        if tool.verify is not None:
            try:
                found = await self._verified(tool)
            except AgentJournalError:
                raise  # the log could not be asked, not the verifier
            except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it cannot tell
                self.error = error
                return False
            event = not_done(call_id)
            if found is not NOT_DONE:
                event = settled(call_id, output=found, settled_by="verifier")
            await self._append([event])
            return True
        if tool.on_unknown == "fail":
            said = "it was cut off, and nobody knows whether it happened"
            failure = ToolFailure(message=said, code=UNKNOWN_CODE)
            await self._append([settled(call_id, error=failure, settled_by="policy")])
            return True
        return tool.on_unknown == "retry"

    async def _verified(self, tool: Tool) -> Any:
        call = self._call
        held = self._next(tool, call.arguments_text, None)
        held.attempt = call.attempt
        found = await tool.verified(call.arguments, held)
        if found is NOT_DONE:
            await self._wait_until_certain(call)
            found = await tool.verified(call.arguments, held)
        return found

    async def _wait_until_certain(self, call: ToolCall) -> None:
        """Wait until a worker that was stopped in the middle of the call cannot fire any more."""
        run = self._run
        state = await run.refresh()  # the times of the broker
        left_s = uncertain_s(state, state.calls.get(call.call_id, call), run.held_s)
        await run.session.time.sleep(left_s)

    async def _allowed(self, ask: Ask) -> Allowed | Literal["waiting"] | None:
        """Return whether the call may run: None when it was denied, and this is recorded."""
        run = self._run
        found = verdict(run.state, self._call, ask, run.moment)
        if isinstance(found, Lapsed):
            await run.lapse()  # an answer that came in time is read by this
            found = verdict(run.state, self._call, ask, run.moment)
        match found:
            case Allowed():
                return found
            case Denied(failure):
                await self._refuse(failure)
                return None
            case MustAsk(event):
                await self._append([event])
            case Wait() | Lapsed():
                pass
        return "waiting"

    async def _refuse(self, failure: ToolFailure) -> None:
        """Record that the call ended without having been run."""
        event = ToolFailed(
            call_id=self._call_id,
            attempt=self._call.attempt + 1,
            error=failure,
            output=shown_failure(failure),
        )
        await self._append([event])

    def _next(self, tool: Tool, text: str, approval_id: str | None) -> Call:
        run, call = self._run, self._call
        new = Call(
            run.session.stream,
            call.tool,
            text,
            call_id=call.call_id,
            effect=tool.effect,
            lease_s=tool.timeout_s or run.lease_s,
            approval_id=approval_id,
        )
        return again(call, new)

    async def _append(
        self, events: Sequence[Event], /, *, expected_version: int | None = None
    ) -> Receipt:
        receipt = await self._run.append(events, expected_version=expected_version)
        at = written_time(self._run.session.now())
        for version, event in enumerate(events, receipt.first_version):
            self._mine.apply(OwnEvent(Version(version), event, at))
        return receipt
