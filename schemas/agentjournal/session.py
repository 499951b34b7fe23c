"""A session: load what it has come to, and show it to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from agentjournal.errors import AppendRejected, SessionNotFound, StreamDeleted
from agentjournal.events import ConversationRewound, LeaseAcquired, SessionEnded, SessionResumed
from agentjournal.forks import ForkTooDeepError, forked
from agentjournal.ids import new_event_id, stream_id
from agentjournal.leasing import Keeper, checked_length, process_name, take_when_free
from agentjournal.loading import KeptState, check_place, stored_state
from agentjournal.outgoing import checked_id
from agentjournal.receipts import Receipt
from agentjournal.resuming import Resuming
from agentjournal.session_handoffs import SessionHandoffs
from agentjournal.session_plans import SessionPlans
from agentjournal.session_recall import SessionRecall
from agentjournal.state import SessionState
from agentjournal.windows.compaction import CompactionRequest, compaction_of
from agentjournal.windows.tokens import Count, default_count
from agentjournal.windows.tool_output import MAX_CHARACTERS
from agentjournal.windows.window import Window, WindowFormat, WindowOptions, Windows

if TYPE_CHECKING:
    from agentjournal.checkpoints import CheckpointPolicy
    from agentjournal.memory.extractors import Extracting
    from agentjournal.memory.promoting import Promotion
    from agentjournal.run import Run
    from agentjournal.run_checkpoints import Snapshot


class Session(SessionRecall, SessionPlans, SessionHandoffs):
    """One session. Making a handle writes nothing; its appends keep their order."""

    async def window(
        self,
        *,
        max_tokens: int | None = None,
        trim_to: float = 0.7,
        format: WindowFormat = "openai-chat",  # noqa: A002 - the field's word
        count: Count | None = None,
        max_output: int = MAX_CHARACTERS,
        timeout_s: float = 5.0,
    ) -> Window:
        """Return the conversation as a model's API takes it, in at most `max_tokens` tokens.

        Nothing is cut until the budget is passed; then whole turns go, oldest first, until at most
        `trim_to` of it is used, so that between two cuts each window begins with the one before.
        System and developer messages, summaries and the last turn stay. One tool's output is shown
        up to `max_output` characters, head and tail. `count` replaces the tokenizer.

        Raises what `load` raises, WindowTooSmall when what must be kept does not fit, ValueError
        for options that make no sense.
        """
        options = WindowOptions(max_tokens, trim_to, format, max_output)
        reached = await self._reached(None, timeout_s, fresh=True)
        state = await self._kept.current(self._servers.views, self.stream)
        return self._windows.window(self._noted(state, reached), options, count)

    def resume(
        self,
        *,
        worker: str | None = None,
        lease_s: float = 60.0,
        wait_s: float = 0.0,
        timeout_s: float = 30.0,
        checkpoints: CheckpointPolicy | None = None,
        checkpoint: Snapshot | None = None,
    ) -> Resuming:
        """Take the session's lease and go on: `async with session.resume() as run`.

        The run holds the lease, renews it, and gives it back at the end; `await session.resume()`
        gives one to release oneself. `worker` is a name that no other worker has, by default one of
        this handle's or this process's. While another worker holds the lease, up to `wait_s` are
        spent waiting for it. Messages that an earlier worker streamed and died over are recorded as
        incomplete. `checkpoints` says when to save what `checkpoint()` returns.

        Entering raises LeaseHeld, and what `append` and `load` raise; ValueError for a length that
        is no length.
        """
        name = worker or self._writer.worker or process_name()
        if (checkpoints is None) != (checkpoint is None):
            raise ValueError("`checkpoints` says when, `checkpoint` what to save: give both")
        waits = wait_s, timeout_s
        resuming = Resuming(self, checked_id("worker", name), checked_length(lease_s), waits)
        if checkpoints is not None and checkpoint is not None:
            resuming.saving = checkpoints, checkpoint
        return resuming

    async def taken(
        self,
        worker: str,
        lease_s: float,
        wait_s: float,
        timeout_s: float,
        make: Callable[[Session, SessionState, Keeper], Run] | None = None,
    ) -> Run:
        """Return the run that `resume` is for, made by `make` if that is given."""
        from agentjournal.run import Run  # noqa: PLC0415 - it holds a session

        receipt = await take_when_free(self, worker, lease_s, wait_s, timeout_s)
        lease = LeaseAcquired(holder=worker, fence=receipt.first_version, lease_s=lease_s)
        writer = replace(self._writer, worker=worker, fence=lease.fence)
        held = Session(self.stream, self._servers, writer, self._start)
        held.go_on(receipt, self._note, self._windows, self._kept)
        keeper = Keeper(held, lease)
        keeper.start()
        try:
            abandoned = await held.record_abandoned()
            last = abandoned[-1] if abandoned else receipt
            state = await held.state_before(last, timeout_s)
            run = (make or Run)(held, state.copied(), keeper)
            if run.state.status == "expired":
                await run.append(SessionResumed(worker=worker))  # and its notes are back
            await run.deliver()
        except BaseException:
            await keeper.release()
            raise
        return run

    def go_on(
        self,
        last: Receipt,
        note: Callable[[Receipt], object],
        windows: Windows,
        kept: KeptState,
    ) -> None:
        """Take over what another handle of the session knows, and `note` for it what is written."""
        self._note(last)
        self._notes_to = note
        self._windows, self._kept = windows, kept

    async def state_before(self, last: Receipt, timeout_s: float) -> SessionState:
        """Return the state with all that was written before `last`, the lease if nothing else.

        That itself is missing where the read models do not show it yet.
        """
        with suppress(SessionNotFound):
            state = await self._kept.current(self._servers.views, self.stream)
            # It has the version after all that: nothing else can be before it.
            if state.version >= last.first_version - 1:
                return state
        await self._reached(None, timeout_s, fresh=True)
        return await self._kept.current(self._servers.views, self.stream)

    async def compact(  # noqa: PLR0913 - a keyword for each thing one may ask for
        self,
        *,
        summary: str,
        keep_last: int = 4,
        carried: Sequence[tuple[str, str]] = (),
        carry_identifiers: bool = False,
        summarised_by: str = "caller",
        force: bool = False,
        count: Count | None = None,
    ) -> Receipt:
        """Let `summary` stand for all but the last `keep_last` messages; the log keeps everything.

        `carried` are (kind, value) to be kept word for word; with `carry_identifiers` account and
        order numbers, amounts, paths, dates and addresses that the summary leaves out are among
        them. A call and its results are never parted: more than `keep_last` may stay.

        Raises CompactionRefused when the summary is empty, there is nothing to cover, or an
        identifier would be lost and neither `carry_identifiers` nor `force` is given;
        VersionConflict when the session moved on meanwhile, and what `load` and `append` raise.
        """
        asked = CompactionRequest(
            summary, keep_last, carried, carry_identifiers, summarised_by, force
        )
        state = await self.load()
        event = compaction_of(state, asked, count or default_count())
        return await self.append(event, expected_version=state.version)

    async def rewind(self, to_version: int, *, reason: str = "rewound") -> Receipt:
        """Let nothing that was said after `to_version` count any more: undo, or edit and go on.

        Calls that were made stay made. Raises ValueError when the session has no such version,
        VersionConflict when it moved on meanwhile, and what `load` and `append` raise.
        """
        state = await self.load()
        if not 0 <= to_version <= state.version:
            raise ValueError(f"to_version={to_version} is not between 0 and {state.version}")
        event = ConversationRewound(to_version=to_version, reason=reason)
        return await self.append(event, expected_version=state.version)

    async def fork(
        self,
        *,
        at: int | datetime | None = None,
        session_id: str | None = None,
        title: str | None = None,
        agent: str | None = None,
        timeout_s: float = 30.0,
    ) -> Session:
        """Begin a session that goes on from where this one is, or was `at` a version or a moment.

        Nothing is copied: what the fork is loaded as begins with the messages, calls and summaries
        of this one, at versions up to 0. It has this one's user, entities, limits and TTL, and its
        title and agent unless others are given. Both go on without each other; calls that are open
        stay this one's.

        Raises what `load` raises of this session, StreamDeleted, SessionMismatch when it is another
        user's than this handle's, VersionConflict when there is a session `session_id`, ValueError
        for version 0, AppendRejected when it is a fork of too many forks or `session_id` is none,
        and what `append` raises.
        """
        check_place(at)
        await self._reached(at, timeout_s, fresh=True)
        try:
            state = await stored_state(self._servers.views, self.stream, at, forks=1)
        except ForkTooDeepError as error:
            raise AppendRejected("at", str(error)) from None
        now = state if at is None else await self._kept.current(self._servers.views, self.stream)
        if now.status == "deleted":
            raise StreamDeleted(self.stream)  # what it said is not to be said again elsewhere
        start = forked(state, self._start, title=title, agent=agent)
        named = new_event_id() if session_id is None else session_id
        stream = stream_id("session", self.tenant, named)
        fork = Session(stream, self._servers, self._writer, start)
        await fork.append(start, expected_version=0, timeout_s=timeout_s)
        return fork

    async def promote(
        self,
        *,
        extracting: Extracting | None = None,
        dry_run: bool = False,
        timeout_s: float = 30.0,
    ) -> Promotion:
        """Learn what is worth keeping of the session, in the streams of those it is about.

        The role `promoter` does so when the session ends, expires or is idle; whoever is first, a
        session is promoted once through its last statement. With `dry_run` nothing is appended, and
        a session is read again that was promoted. `extracting` replaces the extractor, which goes
        by rules, and asks a model as well where the settings name one.

        Raises SessionNotFound, StreamDeleted, NotConfigured when the settings name slots or a model
        that are not right, NotCaughtUp when the read models stay behind for `timeout_s`, what an
        extractor of your own raises, and what `append` raises.
        """
        from agentjournal.memory.promoter import Promoter  # noqa: PLC0415 - it loads the rules

        promoter = Promoter(self._servers, extracting)
        done = await promoter.promote(self.stream, dry_run=dry_run, timeout_s=timeout_s)
        if done.receipt is not None:
            begun = self._begun
            self._note(done.receipt)
            self._begun = begun  # whose session it is was not asked: the next append does
        return done.promotion

    async def end(self, *, reason: str | None = None, timeout_s: float = 30.0) -> Receipt:
        """End the session. Raises what `append` raises."""
        return await self.append(SessionEnded(reason=reason), timeout_s=timeout_s)
