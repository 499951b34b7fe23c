"""The way in: `connect()` gives a log, a log gives sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from agentjournal.counters import Counter
from agentjournal.errors import AppendRejected
from agentjournal.events import Entity, Limit, Limits, SessionStarted
from agentjournal.events.decode import rejection
from agentjournal.handle import Servers
from agentjournal.ids import stream_id
from agentjournal.leasing import checked_length, process_name
from agentjournal.limits import limits_of
from agentjournal.locks import PREFIX, Locking
from agentjournal.log_memory import DEFAULT_AGENT, LogMemory
from agentjournal.outgoing import Redact, checked_id
from agentjournal.ports import Runnable, SessionInfo
from agentjournal.receipts import Receipt
from agentjournal.session import Session
from agentjournal.settings import Settings, find_settings
from agentjournal.task import Task

if TYPE_CHECKING:
    from agentjournal.working import Working

_PAGE = 200


class Log(LogMemory):
    """A connected log. Close it, or use `async with agentjournal.connect() as log`."""

    def __init__(
        self, settings: Settings, redact: Redact | None = None, *, servers: Servers | None = None
    ) -> None:
        """`servers` are those to use in place of the ones that the settings name."""
        self.settings = settings
        if servers is None:
            # Their drivers are loaded for those who use them: a log in memory needs none.
            from agentjournal.servers import servers_of  # noqa: PLC0415 - as said

            servers = servers_of(settings, redact)
        self._servers = servers

    def session(  # noqa: PLR0913 - a keyword for each thing a session may begin with
        self,
        session_id: str,
        *,
        user: str | None = None,
        agent: str | None = None,
        task: str | None = None,
        title: str | None = None,
        worker: str | None = None,
        ttl_s: float | None = None,
        limits: Limits | Mapping[str, Limit | int] | None = None,
        entities: Sequence[Entity] = (),
    ) -> Session:
        """Return a handle of a session; nothing is written before its first append.

        A session that has not begun begins with what is said here; of one that has, ask for
        another title, TTL, limits or entities with the event `SessionUpdated`. It expires after
        `ttl_s` idle seconds. `limits` names those that are not its tenant's: `{"events": 1_000}` is
        warned of, `{"events": Limit(maximum=1_000, policy="refuse")}` is where the log refuses
        more. `entities` are accounts and projects that it is about, beside its user: whose memory
        it adds to.

        Raises AppendRejected when an id is empty, too long, or holds control characters, or when
        there is no such limit.
        """
        stream = stream_id("session", self.settings.tenant, session_id)
        name = agent or DEFAULT_AGENT
        try:
            start = SessionStarted(
                user=user,
                agent=name,
                task_id=task,
                title=title,
                ttl_s=ttl_s,
                limits=None if limits is None else limits_of(limits),
                entities=list(entities),
            )
        except ValidationError as error:
            raise rejection(error) from None
        except ValueError as error:
            raise AppendRejected("limits", str(error)) from None
        return Session(stream, self._servers, self._writer(agent, worker), start)

    def task(self, task_id: str, *, agent: str | None = None, worker: str | None = None) -> Task:
        """Return a handle of a task; nothing is written before its first append.

        A task has plans, notes and checkpoints of its own, which any session may go on with.
        Raises AppendRejected when an id is empty, too long, or holds control characters.
        """
        stream = stream_id("task", self.settings.tenant, task_id)
        return Task(stream, self._servers, self._writer(agent, worker))

    def lock(
        self,
        name: str,
        *,
        ttl_s: float = 30.0,
        wait_s: float | None = None,
        holder: str | None = None,
    ) -> Locking:
        """Hold the tenant's lock `name`: `async with log.lock("deploy") as lock`.

        Waits while another holds it, up to `wait_s` if given, and renews it until it is left. When
        the holder dies, others get it after `ttl_s`. `lock.fence` goes along to what is written.

        Entering raises LeaseHeld after `wait_s`, and what `append` raises; ValueError for a time
        that is none, AppendRejected when the name cannot be one.
        """
        who = checked_id("holder", holder or process_name())
        task = self.task(f"{PREFIX}{name}")
        return Locking(name, task, who, checked_length(ttl_s), wait_s)

    async def sessions(
        self,
        *,
        user: str | None = None,
        status: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> AsyncIterator[SessionInfo]:
        """Yield up to `limit` sessions of the tenant, the latest active first.

        `after` is the id of the last session of an earlier page. Raises Unavailable.
        """
        while limit > 0:
            page = await self._servers.views.sessions(
                tenant=self.settings.tenant,
                user=user,
                status=status,
                limit=min(limit, _PAGE),
                after=after,
            )
            for info in page:
                yield info
            if len(page) < min(limit, _PAGE):
                return
            limit -= len(page)
            after = page[-1].session_id

    def work(
        self,
        *,
        agent: str,
        concurrency: int = 1,
        lease_s: float = 60.0,
        poll_s: float = 1.0,
        worker: str | None = None,
    ) -> Working:
        """Yield runs of an agent's sessions that need a worker, for ever.

        A session needs one when a turn of it is open and its lease has passed, when a user's
        message waits, an answer came or a time is due: see the view `runnable`. Leave each run,
        with `async with run`; the next one comes while fewer than `concurrency` are on. Every
        `poll_s` seconds it is looked for more. A session that was left by an error, or that still
        needs a worker for the same thing, is tried again after a second, then two, up to five
        minutes. `Working.run(function)` does all of this with a function.

        Iterating raises Unavailable when the servers cannot be reached at first; ValueError for
        numbers that make no sense.
        """
        from agentjournal.working import Pace, Source, Working  # noqa: PLC0415 - it makes runs

        who, agent = checked_id("worker", worker or process_name()), checked_id("agent", agent)
        servers, tenant = self._servers, self.settings.tenant

        async def find(without: list[str], most: int) -> list[Runnable]:
            now = servers.now()
            return await servers.work.runnable(tenant, agent, now, without=without, most=most)

        def session(session_id: str) -> Session:
            return self.session(session_id, agent=agent, worker=who)

        source = Source(find, session, who, checked_length(lease_s))
        return Working(source, Pace(concurrency, poll_s))

    def counter(self, name: str, *, window_s: float = 60.0) -> Counter:
        """Return a counter of what happens in `window_s` seconds; it may be lost at any time.

        Raises AppendRejected when the name is no id, ValueError when the window is not between
        0.1 s and a year.
        """
        return Counter(self._servers.counters, self.settings.tenant, name, window_s)

    async def caught_up(self, receipt: Receipt, *, timeout_s: float = 5.0) -> None:
        """Return once every read model shows the append.

        Raises NotCaughtUp after `timeout_s`, StreamParked when a projection stopped at the stream.
        """
        await self._servers.views.wait_for_input(receipt, timeout_s)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; an append without an outcome stays unknown."""
        await self._servers.live.close()
        await self._servers.counters.close()
        await self._servers.appender.close()
        await self._servers.ends.close()
        await self._servers.notes.close()
        await self._servers.views.close()


class Connecting:
    """What `connect()` returns: await it for a log, or use it with `async with`."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def __await__(self) -> Generator[Any, None, Log]:
        return self._ready().__await__()

    async def _ready(self) -> Log:
        return self._log

    async def __aenter__(self) -> Log:
        return self._log

    async def __aexit__(self, *_: object) -> None:
        await self._log.close()

    def __repr__(self) -> str:
        return f"<agentjournal.connect() to {self._log.settings.kafka}: await it>"


def connect(  # noqa: PLR0913 - a keyword for each thing one may give
    *,
    kafka: str | None = None,
    postgres: str | None = None,
    redis: str | None = None,
    tenant: str | None = None,
    redact: Redact | None = None,
    artifacts: str | None = None,
    traces: bool | None = None,
) -> Connecting:
    """Return a log to await, or to use with `async with`; nothing is contacted yet.

    Addresses come from the arguments, else from AGENTJOURNAL_KAFKA, _POSTGRES, _REDIS and _TENANT,
    else from the stack folder `.agentjournal/` found upwards. `redact` is called with every event
    before it is encoded, and returns the event to write. `artifacts` is where values over 64 KiB
    are kept, a folder or `s3://bucket/prefix`: else AGENTJOURNAL_ARTIFACTS, else `artifacts` in the
    stack folder if the servers are its own, else they stay in their events. `traces` says whether
    appends are spans of OpenTelemetry: else AGENTJOURNAL_TRACES, `on` or `off`, else they are not.
    Raises NotConfigured.
    """
    settings = find_settings(kafka=kafka, postgres=postgres, redis=redis, tenant=tenant)
    settings = replace(
        settings,
        artifacts=artifacts or settings.artifacts,
        traces=settings.traces if traces is None else traces,
    )
    return Connecting(Log(settings, redact))
