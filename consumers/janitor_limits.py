"""Limits: which are configured, what is written when one is exceeded, and what alerts say."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from agentjournal.alerts import Alert, AlertKind, raised
from agentjournal.errors import AppendRejected
from agentjournal.events import LimitExceeded
from agentjournal.events.fields import MAX_INTEGER
from agentjournal.ids import Partition, StreamId, parse_stream, stream_id
from agentjournal.limits import ConfiguredLimits, TenantLimits
from agentjournal.partitions import partition_of
from consumers.janitor_expiry import AGENT, Asked, asked


class LimitRow(NamedTuple):
    """A limit as the database is told of it."""

    tenant: str  # empty: of those that have none of their own
    name: str
    maximum: float
    policy: str | None  # None for the TTL


class Place(NamedTuple):
    """Sessions of a partition that were active in between are to be looked at."""

    partition: Partition
    since: datetime
    until: datetime


class Looked:
    """Up to where partitions were looked at for good.

    A user's facts and other sessions are in other partitions, which show a little later what came
    before: so a place counts when it was seen so long ago, and until then is looked at again.
    """

    def __init__(self, later_s: float) -> None:
        self._later_s = later_s
        self._seen: dict[Partition, deque[tuple[float, Place]]] = {}

    def at(self, place: Place, now_s: float) -> Place | None:
        """Note that a place was looked at; return the one that need not be again, if any."""
        seen = self._seen.setdefault(place.partition, deque())
        if not seen or seen[-1][1].until != place.until:
            seen.append((now_s, place))
        settled: Place | None = None
        while seen and now_s - seen[0][0] >= self._later_s:
            settled = seen.popleft()[1]
        return settled


class Active(NamedTuple):
    """A session in which something happened since it was looked at."""

    stream: StreamId
    tenant: str
    session_id: str
    user_id: str | None


class Over(NamedTuple):
    """A limit that a session went over, and that was not told before."""

    stream: StreamId
    name: str
    value: float
    maximum: float


class Untold(NamedTuple):
    """Something that there should be an alert of."""

    kind: AlertKind
    stream: StreamId
    what: str  # the limit, or the request that waits
    value: float | None
    threshold: float | None
    began_at: datetime


def rows_of(limits: ConfiguredLimits) -> Iterator[LimitRow]:
    """Yield every limit that holds, for each tenant that has its own and for all the others."""
    yield from _rows("", limits.default)
    for tenant in limits.tenants:
        yield from _rows(tenant, limits.of(tenant))


def _rows(tenant: str, limits: TenantLimits) -> Iterator[LimitRow]:
    yield LimitRow(tenant, "ttl_s", limits.effective_ttl_s(), None)
    for name, limit in limits.effective().items():
        yield LimitRow(tenant, name, float(limit.maximum), limit.policy)


def user_stream(session: Active) -> str:
    """Return the stream of a session's user, empty where there is none."""
    if session.user_id is None:
        return ""
    try:
        return stream_id("user", session.tenant, session.user_id)
    except AppendRejected:  # two long names that are one key too many: nothing can be known of him
        return ""


def warning_of(over: Over) -> Asked:
    """Return the request that tells a session's readers of a limit, once whoever asks."""
    event = LimitExceeded(
        limit=over.name,
        value=_plain(over.value),
        maximum=_plain(over.maximum),
        policy="warn",
    )
    stream = over.stream
    return asked(stream, partition_of(stream.encode()), event, f"limit-{over.name}")


def _plain(number: float) -> float:
    """Return a number as an event takes it: sizes that writers state may add up to more."""
    if abs(number) >= MAX_INTEGER:
        return MAX_INTEGER if number > 0 else -MAX_INTEGER
    return int(number) if number.is_integer() else number


def alert_of(untold: Untold, at: str) -> Alert:
    """Return the alert; made again, it has the same id."""
    kind, tenant, name = parse_stream(untold.stream)
    return raised(
        untold.kind,
        tenant=tenant,
        subject=untold.stream,
        text=_text(untold, f"{kind} {name}"),
        at=at,
        source=AGENT,
        began=f"{untold.what} {untold.began_at.isoformat()}",
        value=untold.value,
        threshold=untold.threshold,
    )


def _text(untold: Untold, whose: str) -> str:
    what, value = untold.what, _number(untold.value)
    match untold.kind:
        case "limit_exceeded":
            return f"{what} of {whose}: {value}, more than the {_number(untold.threshold)} expected"
        case "limit_refused":
            return f"{whose} is refused appends: {what} is at its limit"
        case _:
            hours = (untold.value or 0) / 3_600
            return f"{what} of {whose} has waited for {hours:,.0f} hours"


def _number(value: float | None) -> str:
    return "not known" if value is None else f"{value:,.0f}"
