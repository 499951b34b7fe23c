"""A log in memory: what users test their agents on, in milliseconds."""

from __future__ import annotations

from datetime import datetime

from agentjournal.artifacts import Artifacts
from agentjournal.handle import Servers, Time
from agentjournal.ids import parse_stream
from agentjournal.live import Live
from agentjournal.log import Log
from agentjournal.outgoing import Redact
from agentjournal.settings import Settings
from agentjournal.testing.appends import MemoryAppender, MemoryOutbox
from agentjournal.testing.clock import Clock
from agentjournal.testing.facts import MemoryFacts
from agentjournal.testing.live import MemoryCounters, MemoryDrafts, MemoryEvents
from agentjournal.testing.notes import MemoryNotes, NoNotes
from agentjournal.testing.recalls import MemoryRecalls
from agentjournal.testing.results import MemoryResults
from agentjournal.testing.subscriptions import MemorySubscriptions
from agentjournal.testing.views import MemoryEnds, MemoryViews
from agentjournal.testing.work import MemoryWork
from agentjournal.testing.world import World


class MemoryLog(Log):
    """A client of a log in memory; `beside()` gives another one of the same log."""

    def __init__(
        self,
        world: World,
        tenant: str,
        redact: Redact | None = None,
        artifacts: Artifacts | None = None,
    ) -> None:
        self._world, self._outbox = world, MemoryOutbox(world)
        self._subscriptions = MemorySubscriptions(world)
        servers = Servers(
            appender=MemoryAppender(self._outbox, self._outbox.inbox),
            views=MemoryViews(world, artifacts),
            ends=MemoryEnds(world),
            redact=redact,
            notes=NoNotes(),
            artifacts=artifacts,
            stored_notes=MemoryNotes(world),
            results=MemoryResults(world),
            subscriptions=self._subscriptions,
            live=Live(MemoryEvents(world), MemoryDrafts(world), artifacts),
            counters=MemoryCounters(world),
            work=MemoryWork(world),
            recalls=MemoryRecalls(world),
            facts=MemoryFacts(world),
            now=world.clock.now,
            time=Time(world.clock.monotonic, world.clock.sleep),
        )
        nowhere = Settings("in memory", "in memory", "in memory", tenant)
        super().__init__(nowhere, redact, servers=servers)

    @property
    def clock(self) -> Clock:
        """The broker's clock and the readers', which is yours to move."""
        return self._world.clock

    def beside(
        self, *, tenant: str | None = None, redact: Redact | None = None, artifacts: bool = True
    ) -> MemoryLog:
        """Return another client of the same log, as one in another process would be."""
        return MemoryLog(
            self._world,
            tenant or self.settings.tenant,
            redact or self._servers.redact,
            Artifacts(self._world.artifacts) if artifacts else None,
        )

    def streams(self) -> list[tuple[str, str, str]]:
        """Return kind, tenant and id of every stream in the log, of all tenants."""
        return [parse_stream(stream) for stream in self._world.streams]

    def pass_leases(self, seconds: float = 0.0) -> None:
        """Let time pass until no lease holds, and `seconds` more."""
        self.clock.advance_to(self._world.cores.lease_ends_ms())
        self.clock.advance(seconds)

    @property
    def on_their_way(self) -> int:
        """How many appends of this client the log has not decided on."""
        return self._outbox.on_their_way

    def cut(self, *, landed: int = 0) -> None:
        """Cut this client off, as a kill of its process does; nothing reaches the log any more.

        Of the appends that are on their way the first `landed` are in the log, the others are lost.
        """
        self._outbox.cut(landed)
        self._subscriptions.cut()


def memory_log(
    *,
    tenant: str = "default",
    redact: Redact | None = None,
    at: datetime | None = None,
    artifacts: bool = True,
) -> MemoryLog:
    """Return a new, empty log in memory, to be used with `async with`, or as it is.

    Its clock begins `at` a moment, by default now, and moves only when it is told to. Without
    `artifacts`, values over 64 KiB stay in their events. Raises NotConfigured where
    `agentjournal-server`, whose cores it is made of, is not installed.
    """
    world = World(Clock(at))
    return MemoryLog(world, tenant, redact, Artifacts(world.artifacts) if artifacts else None)
