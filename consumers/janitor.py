"""The janitor: expires sessions that are idle, and tells of limits and of requests nobody decides.

One is active at a time, by who is alive; others stand by. Two that both take themselves for it do
no harm: they ask for the same, and the log takes it once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from agentjournal.alerts import AlertSink
from agentjournal.envelope import iso_time
from agentjournal.errors import Unavailable
from agentjournal.ids import Milliseconds, Partition, Position, StreamId
from consumers.janitor_expiry import (
    Asked,
    Idle,
    Progress,
    State,
    Tally,
    bursts_of,
    expiry_of,
    tally,
    unsettled,
)
from consumers.janitor_limits import (
    Active,
    LimitRow,
    Looked,
    Over,
    Place,
    Untold,
    alert_of,
    warning_of,
)
from consumers.ownership import Membership
from consumers.stopping import pause
from consumers.watch import Watch
from streams.ports import OutageError

_LOG = structlog.get_logger()

# A scan passes over all sessions that some tenant's TTL would let expire, and who looks for what is
# to be told passes over all that was told. So it pauses for so many times as long as the last one
# took, and each is a tenth of a core's work for the database at most.
_PAUSES = 9

FAULT_POINTS = ("found", "sent", "settled", "measured", "warned", "shown", "alerted", "told")


class Requests(Protocol):
    """The topic of requests."""

    async def send(self, requests: Sequence[Asked]) -> Mapping[Partition, Position]:
        """Return where the last request of each partition went. Raises OutageError."""
        ...


class JanitorModels(Protocol):
    """The read models, and what the janitor keeps beside them."""

    async def configure(self, limits: Iterable[LimitRow]) -> None: ...
    async def idle(self, *, most: int, margin_s: float, without: Sequence[str]) -> list[Idle]: ...
    async def progress(self, projection: str) -> Mapping[Partition, Progress]: ...
    async def states(self, streams: Sequence[str]) -> Mapping[StreamId, State]: ...
    async def places(self) -> list[Place]: ...
    async def looked(self, place: Place) -> None: ...
    async def active(self, place: Place) -> list[Active]: ...
    async def over(self, sessions: Sequence[Active]) -> list[Over]: ...
    async def untold(self, *, overdue_s: float, most: int) -> list[Untold]: ...
    async def told(self, untold: Sequence[Untold]) -> None: ...


@dataclass(frozen=True, slots=True)
class JanitorOptions:
    """How the janitor paces itself."""

    scan_every_s: float = 2.0
    look_every_s: float = 10.0  # at limits, and at what waits for people
    page: int = 500  # sessions of a partition that are looked at together
    # Requests that are sent at a time. The next ones follow when those before the last show: an
    # append of somebody waits behind two bursts at most, however slow the log is.
    burst: int = 150
    later_s: float = 3.0  # that other partitions may show later what a user did
    look_page: int = 1_000  # sessions that are measured at a time
    margin_s: float = 2.0  # by which the broker's clock may be behind that of Postgres
    refused_pause_s: float = 60.0  # before one that did not expire is asked again as it is
    overdue_s: float = 86_400.0  # that a person may take to decide
    heartbeat_s: float = 1.0
    poll_s: float = 0.01
    outage_pause_s: float = 0.5


@dataclass(frozen=True, slots=True)
class JanitorPorts:
    """What the janitor reads and writes."""

    models: JanitorModels
    requests: Requests
    alerts: AlertSink
    membership: Membership
    watch: Watch = field(default_factory=lambda: Watch("janitor"))


class _NotMineError(Exception):
    """It is to end, or another janitor is active: nothing more is to be asked for."""


class Janitor:
    """Scans again and again while it is the active one."""

    def __init__(
        self,
        ports: JanitorPorts,
        limits: Sequence[LimitRow],
        options: JanitorOptions | None = None,
        fault: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ports, self._limits = ports, limits
        self._options = options or JanitorOptions()
        self._fault = fault
        self._stop = asyncio.Event()
        self._refused: dict[StreamId, float] = {}  # until when each is left alone
        self._looked = Looked(self._options.later_s)
        self._is_active = False
        self._scan_s = self._look_s = 0.0  # that the last ones took
        self._last_heartbeat = self._last_look = float("-inf")

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; wait where a server is away."""
        self._stop = stop
        while not stop.is_set():
            try:
                await self._turn()
                pause_s = max(self._options.scan_every_s, _PAUSES * self._scan_s)
                await self._pause(pause_s)
            except _NotMineError:
                continue
            except (OutageError, Unavailable) as trouble:
                _LOG.warning("starting_over", reason=str(trouble), kind=type(trouble).__name__)
                self._ports.watch.starts_over(trouble)
                self._is_active = False  # the limits are written anew
                await asyncio.sleep(self._options.outage_pause_s)
        try:
            await self._ports.membership.leave()
        except OutageError as trouble:
            _LOG.warning("left_without_word", reason=str(trouble))

    async def _turn(self) -> None:
        await self._check()
        await self._expire()
        look_every_s = max(self._options.look_every_s, _PAUSES * self._look_s)
        if time.monotonic() - self._last_look >= look_every_s:
            await self._warn()
            await self._alert()
            self._last_look = time.monotonic()

    async def _pause(self, seconds: float) -> None:
        """Wait, and be seen to be alive meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            await self._check()
            await pause(min(left, self._options.heartbeat_s), self._stop)

    async def _check(self) -> None:
        """Return once this janitor is the active one. Raises _NotMineError when it is to stop."""
        while not self._stop.is_set():
            now = time.monotonic()
            if now - self._last_heartbeat >= self._options.heartbeat_s:
                self._last_heartbeat = now
                membership = self._ports.membership
                await self._become(membership.member in (await membership.heartbeat())[:1])
                self._ports.watch.health.works()  # who stands by does what he is there for, too
            if self._is_active:
                return
            await pause(self._options.heartbeat_s, self._stop)
        raise _NotMineError

    async def _become(self, is_active: bool) -> None:
        was_active, self._is_active = self._is_active, False
        if is_active and not was_active:
            await self._ports.models.configure(self._limits)
            _LOG.info("janitor_active")
        self._is_active = is_active
        if was_active and not is_active:
            _LOG.info("janitor_stands_by")
            raise _NotMineError

    async def _expire(self) -> None:
        """Let all sessions expire that are idle, a page at a time."""
        total, models = Tally(), self._ports.models
        while True:
            await self._check()
            began_s = time.monotonic()
            found = await models.idle(
                most=self._options.page,
                margin_s=self._options.margin_s,
                without=self._left_alone(),
            )
            self._scan_s = time.monotonic() - began_s
            if not found:
                break
            self._fault("found")
            await self._settle([expiry_of(idle) for idle in found], "conversation")
            states = await models.states([idle.stream for idle in found])
            page = tally(found, states)
            until = time.monotonic() + self._options.refused_pause_s
            self._refused |= dict.fromkeys(page.refused, until)
            total = total.plus(page)
            self._fault("settled")
            _LOG.info(
                "sessions_expired",
                found=total.sent,
                expired=total.expired,
                lost=total.lost,
                refused=len(total.refused),
            )

    def _left_alone(self) -> list[StreamId]:
        """Return the sessions that did not expire just now."""
        now = time.monotonic()
        self._refused = {stream: until for stream, until in self._refused.items() if until > now}
        return sorted(self._refused)

    async def _settle(self, asked: Sequence[Asked], projection: str) -> None:
        """Send requests, a few at a time, so that appends of others go between.

        Returns once all are decided, and a projection shows it.
        """
        before: Mapping[Partition, Position] = {}
        for burst in bursts_of(asked, self._options.burst):
            last = await self._ports.requests.send(burst)
            await self._shown(before, projection)
            before = last
        self._fault("sent")
        await self._shown(before, projection)

    async def _shown(self, last: Mapping[Partition, Position], projection: str) -> None:
        """Return once requests are decided, and a projection shows it."""
        while unsettled(last, await self._ports.models.progress(projection)):
            await self._check()
            await pause(self._options.poll_s, self._stop)

    async def _warn(self) -> None:
        """Look at the sessions in which something happened, and tell of limits they are over."""
        size, models = self._options.look_page, self._ports.models
        for place in await models.places():
            began_s = time.monotonic()
            active = await models.active(place)
            for at in range(0, len(active), size):
                await self._check()
                over = await models.over(active[at : at + size])
                self._fault("measured")
                if over:
                    await self._settle([warning_of(each) for each in over], "limits")
                    _LOG.info("limits_exceeded", count=len(over))
                    self._fault("warned")
            settled = self._looked.at(place, began_s)
            if settled is not None:
                await models.looked(settled)

    async def _alert(self) -> None:
        """Raise an alert of what there was none of yet."""
        options, ports = self._options, self._ports
        while True:
            began_s = time.monotonic()
            untold = await ports.models.untold(overdue_s=options.overdue_s, most=options.look_page)
            self._look_s = time.monotonic() - began_s
            if not untold:
                break
            await self._check()
            self._fault("shown")
            at = iso_time(Milliseconds(round(time.time() * 1_000)))
            await ports.alerts.write([alert_of(each, at) for each in untold])
            self._fault("alerted")
            await ports.models.told(untold)
            self._fault("told")
