# Made from the asynchronous classes by `python -m commands.sync_stub`.

from asyncio import Future
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Self

import agentjournal
from agentjournal.asking import Decision
from agentjournal.cached_results import CachedResult
from agentjournal.calls import Appends
from agentjournal.checkpoints import CheckpointPolicy
from agentjournal.constraints import Violation
from agentjournal.context import Context
from agentjournal.envelope import Recorded
from agentjournal.errors import AgentJournalError
from agentjournal.events import (
    Constraints,
    Entity,
    Event,
    Failure,
    HandoffRequested,
    LeaseAcquired,
    Limit,
    Limits,
    Money,
    Part,
    PlannedStep,
    Retry,
    SessionStarted,
    StepCompleted,
    StepFailed,
    StepStarted,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
)
from agentjournal.events.fields import Id, Ordinal, Span
from agentjournal.events.message import Role
from agentjournal.events.tool import Effect, SettledBy
from agentjournal.execution_state import Approval, Handoff, Question
from agentjournal.handle import Time
from agentjournal.handoffs import Mode
from agentjournal.ids import StreamId, Version
from agentjournal.loading import StoredEvents
from agentjournal.locks import Lock
from agentjournal.memory.candidates import Cardinality, Kind
from agentjournal.memory.explaining import FactSource
from agentjournal.memory.extractors import Extracting
from agentjournal.memory.known import EntityState, Fact
from agentjournal.memory.promoting import Promotion
from agentjournal.memory.recalls import Recalled
from agentjournal.outgoing import Redact
from agentjournal.plan_rules import Undo
from agentjournal.planning import PlanState, StepState
from agentjournal.plans import AnyStep
from agentjournal.ports import SessionInfo
from agentjournal.receipts import Receipt
from agentjournal.run import EndReason
from agentjournal.run_checkpoints import Snapshot
from agentjournal.settings import Settings
from agentjournal.state import Message, SessionState
from agentjournal.streaming import Record
from agentjournal.subscriptions import Parked
from agentjournal.tails import LiveItem
from agentjournal.task_state import TaskState
from agentjournal.tool_calls import ToolCall
from agentjournal.tools import Tools
from agentjournal.windows.tokens import Count
from agentjournal.windows.window import Window, WindowFormat, Windows

def connect(
    *,
    kafka: str | None = ...,
    postgres: str | None = ...,
    redis: str | None = ...,
    tenant: str | None = ...,
    redact: Redact | None = ...,
    artifacts: str | None = ...,
    traces: bool | None = ...,
) -> Log: ...
def log_of(log: agentjournal.Log) -> Log: ...

class AppendOutcomeUnknown(agentjournal.AppendOutcomeUnknown):
    def retry(self) -> Receipt: ...  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]

class Log:
    settings: Settings
    def subscribe(
        self,
        *,
        group: str,
        types: Collection[str] | None = ...,
        tenants: Collection[str] | None = ...,
        start: Literal["earliest", "latest"] = ...,
        member: str | None = ...,
    ) -> Generator[Recorded]: ...
    def service(
        self,
        name: str,
        *,
        types: Collection[str] | None = ...,
        tenants: Collection[str] | None = ...,
        start: Literal["earliest", "latest"] = ...,
        retry: Retry | None = ...,
        timeout_s: float = ...,
        concurrency: int = ...,
        most_parked: int = ...,
        member: str | None = ...,
    ) -> Service: ...
    def memory(
        self,
        *,
        user: str | None = ...,
        account: str | None = ...,
        project: str | None = ...,
        agent: str | None = ...,
    ) -> Memory: ...
    def context(
        self,
        *,
        session: str | None = ...,
        task: str | None = ...,
        user: str | None = ...,
        account: str | None = ...,
        project: str | None = ...,
        timeout_s: float = ...,
    ) -> Context: ...
    def session(
        self,
        session_id: str,
        *,
        user: str | None = ...,
        agent: str | None = ...,
        task: str | None = ...,
        title: str | None = ...,
        worker: str | None = ...,
        ttl_s: float | None = ...,
        limits: Limits | Mapping[str, Limit | int] | None = ...,
        entities: Sequence[Entity] = ...,
    ) -> Session: ...
    def task(
        self,
        task_id: str,
        *,
        agent: str | None = ...,
        worker: str | None = ...,
    ) -> Task: ...
    def lock(
        self,
        name: str,
        *,
        ttl_s: float = ...,
        wait_s: float | None = ...,
        holder: str | None = ...,
    ) -> _Locking: ...
    def sessions(
        self,
        *,
        user: str | None = ...,
        status: str | None = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> Generator[SessionInfo]: ...
    def work(
        self,
        *,
        agent: str,
        concurrency: int = ...,
        lease_s: float = ...,
        poll_s: float = ...,
        worker: str | None = ...,
    ) -> Working: ...
    def counter(
        self,
        name: str,
        *,
        window_s: float = ...,
    ) -> Counter: ...
    def caught_up(
        self,
        receipt: Receipt,
        *,
        timeout_s: float = ...,
    ) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: object,
        /,
    ) -> None: ...

class Service:
    def run(
        self,
        handler: Callable[[Recorded], object],
        *,
        stop_s: float = ...,
    ) -> None: ...
    def stop(self) -> None: ...
    def parked(self) -> list[Parked]: ...
    def redrive(
        self,
        *streams: str,
    ) -> list[Parked]: ...

class Memory:
    stream: StreamId
    tenant: str
    id: str
    def append(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        expected_version: int | None = ...,
        append_id: str | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def enqueue(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        append_id: str | None = ...,
        timeout_s: float = ...,
    ) -> PendingAppend: ...
    def events(
        self,
        *,
        after: int = ...,
        follow: bool = ...,
    ) -> Generator[Recorded]: ...
    @property
    def begins(self) -> bool: ...
    @property
    def redacts(self) -> bool: ...
    @property
    def written_at(self) -> float: ...
    @property
    def time(self) -> Time: ...
    def now(self) -> datetime: ...
    def likely_version(self) -> int: ...
    def recall(
        self,
        query: str,
        *,
        k: int | None = ...,
        max_tokens: int | None = ...,
        count: Count | None = ...,
    ) -> list[Recalled]: ...
    @property
    def entity(self) -> Entity: ...
    def remember(
        self,
        attribute: str,
        value: Any,
        *,
        kind: Kind | None = ...,
        cardinality: Cardinality | None = ...,
        role: Literal["user", "developer"] = ...,
        quote: str | None = ...,
        confidence: float = ...,
        valid_from: datetime | None = ...,
        valid_to: datetime | None = ...,
        timeout_s: float = ...,
    ) -> str: ...
    def facts(
        self,
        *,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        timeout_s: float = ...,
    ) -> list[Fact]: ...
    def history(
        self,
        *,
        known_at: datetime | None = ...,
        timeout_s: float = ...,
    ) -> list[Fact]: ...
    def load(
        self,
        *,
        timeout_s: float = ...,
    ) -> EntityState: ...
    def forget(
        self,
        fact: Fact | str | None = ...,
        *,
        attribute: str | None = ...,
        quote: str | None = ...,
        reason: str = ...,
        by: str = ...,
        timeout_s: float = ...,
    ) -> list[Fact]: ...
    def explain(
        self,
        fact: Fact | str,
        *,
        timeout_s: float = ...,
    ) -> list[FactSource]: ...

class Session:
    stream: StreamId
    tenant: str
    id: str
    def decide(
        self,
        fn: Decision,
        /,
        *,
        attempts: int = ...,
        timeout_s: float = ...,
    ) -> Receipt | None: ...
    def request_approval(
        self,
        question: str,
        /,
        *,
        call_id: str | None = ...,
        tool: str | None = ...,
        arguments: Any = ...,
        choices: Sequence[str] | None = ...,
        expires_in_s: float | None = ...,
        expires_at: datetime | str | None = ...,
        requested_of: str | None = ...,
        approval_id: str | None = ...,
    ) -> Approval: ...
    def request_input(
        self,
        question: str,
        /,
        *,
        schema: Any = ...,
        input_id: str | None = ...,
    ) -> Question: ...
    def hand_off(
        self,
        to_agent: str,
        task: str,
        /,
        *,
        mode: Mode = ...,
        context: Sequence[Any] = ...,
        tools: Sequence[str] | None = ...,
        max_tool_calls: int | None = ...,
        deadline_in_s: float | None = ...,
        deadline_at: datetime | str | None = ...,
        max_tokens: int | None = ...,
        max_cost: Money | None = ...,
        handoff_id: str | None = ...,
        child_session_id: str | None = ...,
    ) -> Handoff: ...
    def append(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        expected_version: int | None = ...,
        append_id: str | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def enqueue(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        append_id: str | None = ...,
        timeout_s: float = ...,
    ) -> PendingAppend: ...
    def events(
        self,
        *,
        after: int = ...,
        follow: bool = ...,
    ) -> Generator[Recorded]: ...
    @property
    def begins(self) -> bool: ...
    @property
    def redacts(self) -> bool: ...
    @property
    def written_at(self) -> float: ...
    @property
    def time(self) -> Time: ...
    def now(self) -> datetime: ...
    def likely_version(self) -> int: ...
    def set_note(
        self,
        key: str,
        value: Any,
        *,
        ttl_s: float | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def delete_note(
        self,
        key: str,
        *,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def notes(
        self,
        *,
        timeout_s: float = ...,
    ) -> Mapping[str, Any]: ...
    def cached_result(
        self,
        tool: str,
        arguments: Any,
        *,
        max_age_s: float,
        reads_environment: bool = ...,
        timeout_s: float = ...,
    ) -> CachedResult | None: ...
    def stream_message(
        self,
        role: Role = ...,
        *,
        message_id: str | None = ...,
        name: str | None = ...,
        model_call_id: str | None = ...,
        unredacted: bool = ...,
    ) -> StreamedMessage: ...
    def live(
        self,
        *,
        after: int = ...,
    ) -> Generator[LiveItem]: ...
    def record_abandoned(
        self,
        *,
        idle_s: float = ...,
    ) -> list[Receipt]: ...
    def save_artifact(
        self,
        name: str,
        value: Any,
        media_type: str | None = ...,
        *,
        call_id: str | None = ...,
    ) -> str: ...
    def artifact(
        self,
        digest: str,
    ) -> bytes: ...
    def file_changed(
        self,
        path: str,
        *,
        before: bytes | None,
        after: bytes | None,
        reason: Literal["create", "edit", "delete", "revert"] | None = ...,
        call_id: str | None = ...,
    ) -> Receipt: ...
    def environment_changed(
        self,
        *,
        variables: Mapping[str, str] | None = ...,
        allow: Collection[str] = ...,
        **fields: Any,
    ) -> Receipt: ...
    def current(
        self,
        *,
        timeout_s: float = ...,
    ) -> SessionState: ...
    def call(
        self,
        tool: str,
        arguments: Any,
        /,
        *,
        effect: Effect = ...,
        call_id: str | None = ...,
        lease_s: float = ...,
        unknown_on: tuple[type[BaseException], ...] = ...,
    ) -> _Calling: ...
    def record(
        self,
        response: Any,
        /,
        *,
        duration_ms: float = ...,
        request_model: str | None = ...,
        attempt: int = ...,
    ) -> Receipt: ...
    def inbox(self) -> list[Message]: ...
    def settle(
        self,
        call_id: str,
        *,
        output: Any = ...,
        error: str | BaseException | ToolFailure | None = ...,
        settled_by: SettledBy = ...,
        evidence: Any = ...,
    ) -> ToolCall: ...
    def grant(
        self,
        approval_id: str,
        *,
        by: str,
        comment: str | None = ...,
        edited_arguments: Any = ...,
    ) -> Approval: ...
    def deny(
        self,
        approval_id: str,
        *,
        by: str,
        comment: str | None = ...,
    ) -> Approval: ...
    def provide_input(
        self,
        input_id: str,
        value: Any,
        /,
        *,
        by: str,
    ) -> Question: ...
    def accept_handoff(
        self,
        handoff_id: str | None = ...,
    ) -> None: ...
    def complete_handoff(
        self,
        summary: str,
        /,
        *,
        data: Any = ...,
        usage: Any = ...,
    ) -> Handoff: ...
    def fail_handoff(
        self,
        error: BaseException | str | Failure,
        /,
    ) -> Handoff: ...
    def beside(
        self,
        session_id: str,
        start: SessionStarted,
    ) -> Self: ...
    @property
    def agent(self) -> str | None: ...
    def event_at(
        self,
        version: int,
        *,
        timeout_s: float = ...,
    ) -> Event | None: ...
    def save_checkpoint(
        self,
        state: Any,
        label: str | None = ...,
        schema_version: int = ...,
        *,
        checkpoint_id: str | None = ...,
        timeout_s: float = ...,
    ) -> str: ...
    def restore_checkpoint(
        self,
        checkpoint_id: str | None = ...,
        *,
        keep: int | None = ...,
        timeout_s: float = ...,
    ) -> Any: ...
    def plan(
        self,
        goal: str,
        /,
        steps: Sequence[PlannedStep],
        *,
        plan_id: str | None = ...,
    ) -> Plan: ...
    def load_plan(
        self,
        plan_id: str,
    ) -> Plan: ...
    def plans_now(self) -> tuple[Version, Mapping[str, PlanState]]: ...
    def record_decision(
        self,
        question: str,
        choice: Any,
        reason: str,
        *,
        by: str | None = ...,
        alternatives: Sequence[Any] | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def load(
        self,
        *,
        at: int | datetime | None = ...,
        fresh: bool = ...,
        timeout_s: float = ...,
    ) -> SessionState: ...
    def recall(
        self,
        query: str | None = ...,
        *,
        max_tokens: int = ...,
        k: int | None = ...,
        count: Count | None = ...,
        timeout_s: float = ...,
    ) -> str: ...
    def window(
        self,
        *,
        max_tokens: int | None = ...,
        trim_to: float = ...,
        format: WindowFormat = ...,
        count: Count | None = ...,
        max_output: int = ...,
        timeout_s: float = ...,
    ) -> Window: ...
    def resume(
        self,
        *,
        worker: str | None = ...,
        lease_s: float = ...,
        wait_s: float = ...,
        timeout_s: float = ...,
        checkpoints: CheckpointPolicy | None = ...,
        checkpoint: Snapshot | None = ...,
    ) -> Run: ...
    def taken(
        self,
        worker: str,
        lease_s: float,
        wait_s: float,
        timeout_s: float,
        make: Callable[[Session, SessionState, _Keeper], Run] | None = ...,
    ) -> Run: ...
    def go_on(
        self,
        last: Receipt,
        note: Callable[[Receipt], object],
        windows: Windows,
        kept: _KeptState,
    ) -> None: ...
    def state_before(
        self,
        last: Receipt,
        timeout_s: float,
    ) -> SessionState: ...
    def compact(
        self,
        *,
        summary: str,
        keep_last: int = ...,
        carried: Sequence[tuple[str, str]] = ...,
        carry_identifiers: bool = ...,
        summarised_by: str = ...,
        force: bool = ...,
        count: Count | None = ...,
    ) -> Receipt: ...
    def rewind(
        self,
        to_version: int,
        *,
        reason: str = ...,
    ) -> Receipt: ...
    def fork(
        self,
        *,
        at: int | datetime | None = ...,
        session_id: str | None = ...,
        title: str | None = ...,
        agent: str | None = ...,
        timeout_s: float = ...,
    ) -> Session: ...
    def promote(
        self,
        *,
        extracting: Extracting | None = ...,
        dry_run: bool = ...,
        timeout_s: float = ...,
    ) -> Promotion: ...
    def end(
        self,
        *,
        reason: str | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...

class Task:
    stream: StreamId
    tenant: str
    id: str
    def append(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        expected_version: int | None = ...,
        append_id: str | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def enqueue(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        append_id: str | None = ...,
        timeout_s: float = ...,
    ) -> PendingAppend: ...
    def events(
        self,
        *,
        after: int = ...,
        follow: bool = ...,
    ) -> Generator[Recorded]: ...
    @property
    def begins(self) -> bool: ...
    @property
    def redacts(self) -> bool: ...
    @property
    def written_at(self) -> float: ...
    @property
    def time(self) -> Time: ...
    def now(self) -> datetime: ...
    def likely_version(self) -> int: ...
    def current(
        self,
        *,
        timeout_s: float = ...,
    ) -> TaskState: ...
    def save_checkpoint(
        self,
        state: Any,
        label: str | None = ...,
        schema_version: int = ...,
        *,
        checkpoint_id: str | None = ...,
        timeout_s: float = ...,
    ) -> str: ...
    def restore_checkpoint(
        self,
        checkpoint_id: str | None = ...,
        *,
        keep: int | None = ...,
        timeout_s: float = ...,
    ) -> Any: ...
    def plan(
        self,
        goal: str,
        /,
        steps: Sequence[PlannedStep],
        *,
        plan_id: str | None = ...,
    ) -> Plan: ...
    def load_plan(
        self,
        plan_id: str,
    ) -> Plan: ...
    def plans_now(self) -> tuple[Version, Mapping[str, PlanState]]: ...
    def record_decision(
        self,
        question: str,
        choice: Any,
        reason: str,
        *,
        by: str | None = ...,
        alternatives: Sequence[Any] | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def set_note(
        self,
        key: str,
        value: Any,
        *,
        ttl_s: float | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def delete_note(
        self,
        key: str,
        *,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def load(
        self,
        *,
        fresh: bool = ...,
        timeout_s: float = ...,
    ) -> TaskState: ...
    def notes(
        self,
        *,
        timeout_s: float = ...,
    ) -> Mapping[str, Any]: ...
    def lease(
        self,
        *,
        worker: str | None = ...,
        lease_s: float = ...,
        wait_s: float = ...,
        timeout_s: float = ...,
    ) -> _TaskLease: ...
    def taken(
        self,
        worker: str,
        lease_s: float,
        waits: tuple[float, float],
    ) -> tuple[Task, _Keeper]: ...
    def go_on(
        self,
        last: Receipt,
        written_at: float,
    ) -> None: ...

class _Locking:
    def __enter__(self) -> Lock: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: object,
        /,
    ) -> None: ...

class Working:
    def stop(self) -> None: ...
    def run(
        self,
        function: Callable[[Run], object],
        *,
        stop_s: float = ...,
    ) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Run: ...

class Counter:
    name: str
    window_s: float
    def incr(
        self,
        by: int = ...,
    ) -> int: ...
    def value(self) -> int: ...

class PendingAppend:
    @property
    def append_id(self) -> str: ...
    def receipt(
        self,
        *,
        timeout_s: float = ...,
    ) -> Receipt: ...

class StreamedMessage:
    @property
    def message_id(self) -> str: ...
    @property
    def receipt(self) -> Receipt | None: ...
    def recorded_by(
        self,
        record: Record,
    ) -> Self: ...
    def write(
        self,
        text: str,
    ) -> None: ...
    def add(
        self,
        part: Part,
    ) -> None: ...
    def finish(
        self,
        *,
        parts: Sequence[Part] = ...,
        events: Sequence[Event] = ...,
    ) -> Receipt: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: object,
        /,
    ) -> None: ...

class _Calling:
    def __enter__(self) -> Call: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: object,
        /,
    ) -> None: ...

class Plan:
    plan_id: str
    @property
    def state(self) -> PlanState: ...
    def refresh(self) -> PlanState: ...
    def next(
        self,
        *,
        wait_s: float = ...,
    ) -> list[StepState]: ...
    def changes_at(self) -> datetime | None: ...
    def run(
        self,
        step: AnyStep,
        *,
        lease_s: float = ...,
        unknown_on: tuple[type[BaseException], ...] = ...,
    ) -> _Attempting: ...
    def settle(
        self,
        step: AnyStep,
        *,
        output: Any = ...,
        error: BaseException | str | Failure | None = ...,
        settled_by: SettledBy = ...,
        evidence: Any = ...,
    ) -> StepState: ...
    def skip(
        self,
        step: AnyStep,
        reason: str,
    ) -> None: ...
    def revise(
        self,
        steps: Sequence[PlannedStep],
        reason: str,
    ) -> None: ...
    def complete(self) -> None: ...
    def abandon(
        self,
        reason: str,
    ) -> None: ...
    def roll_back(
        self,
        compensations: Mapping[str, Undo | None],
        *,
        reason: str = ...,
        effect: Effect | None = ...,
        lease_s: float = ...,
        wait_s: float = ...,
    ) -> PlanState: ...

class Run:
    session: Session
    state: SessionState
    worker: Id
    fence: Ordinal
    lease_s: Span
    going: set[str]
    calling: set[str]
    begun: set[str]
    threads: dict[str, Future[Any]]
    def decide(
        self,
        fn: Decision,
        /,
        *,
        attempts: int = ...,
    ) -> Receipt | None: ...
    def request_approval(
        self,
        question: str,
        /,
        *,
        call_id: str | None = ...,
        tool: str | None = ...,
        arguments: Any = ...,
        choices: Sequence[str] | None = ...,
        expires_in_s: float | None = ...,
        expires_at: datetime | str | None = ...,
        requested_of: str | None = ...,
        approval_id: str | None = ...,
    ) -> Approval: ...
    def request_input(
        self,
        question: str,
        /,
        *,
        schema: Any = ...,
        input_id: str | None = ...,
    ) -> Question: ...
    def hand_off(
        self,
        to_agent: str,
        task: str,
        /,
        *,
        mode: Mode = ...,
        context: Sequence[Any] = ...,
        tools: Sequence[str] | None = ...,
        max_tool_calls: int | None = ...,
        deadline_in_s: float | None = ...,
        deadline_at: datetime | str | None = ...,
        max_tokens: int | None = ...,
        max_cost: Money | None = ...,
        handoff_id: str | None = ...,
        child_session_id: str | None = ...,
    ) -> Handoff: ...
    @property
    def answered(self) -> bool: ...
    @property
    def waiting(self) -> bool: ...
    @property
    def inbox(self) -> list[Message]: ...
    @property
    def completed(self) -> list[ToolCall]: ...
    @property
    def failed(self) -> list[ToolCall]: ...
    @property
    def unknown(self) -> list[ToolCall]: ...
    @property
    def open(self) -> list[ToolCall]: ...
    @property
    def held_s(self) -> float: ...
    def refresh(
        self,
        *,
        timeout_s: float = ...,
    ) -> SessionState: ...
    def append(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        expected_version: int | None = ...,
        append_id: str | None = ...,
    ) -> Receipt: ...
    def catch_up(self) -> None: ...
    def release(self) -> None: ...
    def abandon(self) -> None: ...
    @property
    def moment(self) -> datetime: ...
    def approval(
        self,
        approval_id: str,
    ) -> Approval: ...
    def allows(
        self,
        tool: str,
        arguments: Any,
    ) -> bool: ...
    def question(
        self,
        input_id: str,
    ) -> Question: ...
    def wait(
        self,
        *,
        since: int | None = ...,
    ) -> bool: ...
    def begin_turn(self) -> None: ...
    def lapse(self) -> None: ...
    @property
    def handoff(self) -> HandoffRequested | None: ...
    def deliver(self) -> None: ...
    @property
    def constraints(self) -> Constraints: ...
    def check_constraints(self) -> None: ...
    def refusal(
        self,
        call_id: str,
        tool: str,
    ) -> Violation | None: ...
    def check_call(
        self,
        call: Call,
    ) -> None: ...
    def save_by(
        self,
        policy: CheckpointPolicy,
        snapshot: Snapshot,
    ) -> None: ...
    def save_checkpoint(
        self,
        state: Any = ...,
        *,
        label: str | None = ...,
    ) -> str: ...
    def restore_checkpoint(
        self,
        checkpoint_id: str | None = ...,
    ) -> Any: ...
    def say(
        self,
        content: str | Sequence[Part],
        /,
        *,
        message_id: str | None = ...,
    ) -> Receipt | None: ...
    def record(
        self,
        response: Any,
        /,
        *,
        duration_ms: float | None = ...,
        request_model: str | None = ...,
        attempt: int = ...,
    ) -> Receipt: ...
    def stream_message(
        self,
        role: Role = ...,
        *,
        message_id: str | None = ...,
        model_call_id: str | None = ...,
        unredacted: bool = ...,
    ) -> StreamedMessage: ...
    def window(
        self,
        *,
        max_tokens: int | None = ...,
        trim_to: float = ...,
        format: WindowFormat = ...,
        count: Count | None = ...,
        max_output: int = ...,
        timeout_s: float = ...,
    ) -> Window: ...
    def end_turn(
        self,
        reason: EndReason = ...,
        *,
        error: Failure | None = ...,
        resume_at: str | None = ...,
    ) -> Receipt | None: ...
    def finish_open_calls(
        self,
        tools: Tools,
        /,
        *,
        concurrency: int = ...,
    ) -> None: ...
    def call(
        self,
        tool: str,
        arguments: Any,
        /,
        *,
        effect: Effect = ...,
        call_id: str | None = ...,
        lease_s: float | None = ...,
        unknown_on: tuple[type[BaseException], ...] = ...,
    ) -> _Calling: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: object,
        /,
    ) -> None: ...

class _Keeper:
    handle: _Appending
    lease: LeaseAcquired
    lost: AgentJournalError | None
    recorded: Callable[[Event, Receipt], None] | None
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def release(self) -> None: ...

class _KeptState:
    def current(
        self,
        stored: StoredEvents,
        stream: StreamId,
    ) -> SessionState: ...

class _TaskLease:
    def __enter__(self) -> Task: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: object,
        /,
    ) -> None: ...

class Call:
    stream: StreamId
    tool: str
    arguments_text: str
    call_id: str
    lease_s: float
    effect: Effect
    attempt: int
    group: int
    approval_id: str | None
    idempotency_key: str
    outcome: ToolCompleted | ToolFailed | None
    @property
    def arguments(self) -> Any: ...
    def begin(
        self,
        append: Appends,
        expected_version: int | None = ...,
    ) -> Self: ...
    def complete(
        self,
        output: Any = ...,
        *,
        result: Any = ...,
    ) -> Receipt: ...
    def fail(
        self,
        error: BaseException | str | ToolFailure,
        *,
        output: str | None = ...,
    ) -> Receipt: ...

class _Attempting:
    def __enter__(self) -> Attempt: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: object,
        /,
    ) -> None: ...

class _Appending:
    stream: StreamId
    def append(
        self,
        events: Event,
        /,
        *,
        expected_version: int | None = ...,
        timeout_s: float = ...,
    ) -> Receipt: ...
    def likely_version(self) -> int: ...
    @property
    def begins(self) -> bool: ...
    @property
    def written_at(self) -> float: ...
    @property
    def time(self) -> Time: ...

class Attempt:
    step: StepState
    effect: Effect
    outcome: StepCompleted | StepFailed | None
    begun: StepStarted
    stream: StreamId
    @property
    def step_id(self) -> str: ...
    @property
    def idempotency_key(self) -> str: ...
    def complete(
        self,
        result: Any = ...,
        *,
        also: Sequence[Event] = ...,
    ) -> Receipt: ...
    def fail(
        self,
        error: BaseException | str | Failure,
    ) -> Receipt: ...
