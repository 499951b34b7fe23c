"""What a log gives to services: its events as they are recorded."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection
from typing import TYPE_CHECKING, Literal, get_args

from agentjournal.envelope import Recorded
from agentjournal.events import BUILT_IN
from agentjournal.handle import Servers
from agentjournal.outgoing import checked_id
from agentjournal.subscribing import Wanted, subscribe
from agentjournal.subscriptions import Joining, Start

if TYPE_CHECKING:
    from agentjournal.events import Retry
    from agentjournal.service import Service

_LOG = logging.getLogger("agentjournal")


class LogSubscriptions:
    """The part of a log that services use."""

    _servers: Servers

    def subscribe(
        self,
        *,
        group: str,
        types: Collection[str] | None = None,
        tenants: Collection[str] | None = None,
        start: Literal["earliest", "latest"] = "earliest",
        member: str | None = None,
    ) -> AsyncIterator[Recorded]:
        """Yield events as they are recorded: at least once, resumable, in order per stream.

        Members of a `group` share the partitions; an event counts as handled when the next one is
        asked for. A new group begins at the `start`, the earliest event or the latest. A `member`
        with a name that no other process has goes on at once after a crash; without one its
        partitions are given to others after ten seconds. Raises IntegrityError when the log forks;
        AppendRejected when `group` cannot be a name, ValueError for another `start`.
        """
        joining = _joining(checked_id("group", group), start, member)
        wanted = _wanted(types, tenants)
        return subscribe(self._servers.subscriptions, joining, wanted, self._servers.artifacts)

    def service(  # noqa: PLR0913 - a keyword for each thing one may say of a service
        self,
        name: str,
        *,
        types: Collection[str] | None = None,
        tenants: Collection[str] | None = None,
        start: Literal["earliest", "latest"] = "earliest",
        retry: Retry | None = None,
        timeout_s: float = 60.0,
        concurrency: int = 16,
        most_parked: int = 1_000,
        member: str | None = None,
    ) -> Service:
        """Return a service: `await log.service("billing").run(handler)` handles every event.

        The events of a stream are handled one after the other, `concurrency` streams at once, each
        event at least once. A handler that raises, or takes longer than `timeout_s`, is tried again
        as `retry` says: by default five times within a minute. Then its stream is parked for this
        service, and everything else goes on; `Service.parked` lists such streams, `redrive` goes on
        with them, and more than `most_parked` of them end `run`. `name` is a group, so processes of
        one name share the work; `types`, `tenants`, `start` and `member` are as for `subscribe`.

        Raises AppendRejected when the name cannot be one, ValueError for another `start` and for
        numbers that make no sense.
        """
        from agentjournal.service import Service  # noqa: PLC0415 - few need it
        from agentjournal.service_terms import DEFAULT_RETRY, Terms  # noqa: PLC0415

        wanted, tries = _wanted(types, tenants), retry or DEFAULT_RETRY
        terms = Terms(
            checked_id("service", name), wanted, tries, timeout_s, concurrency, most_parked
        )
        return Service(self._servers, _joining(name, start, member), terms)


def _wanted(types: Collection[str] | None, tenants: Collection[str] | None) -> Wanted:
    """Warn of types that this release has none of: a later one may, or it is a slip."""
    wanted = Wanted.of(types, tenants)
    for name in sorted(wanted.types or ()):
        if name not in BUILT_IN and not name.startswith("custom."):
            _LOG.warning("no type of event is called %r in this release", name)
    return wanted


def _joining(group: str, start: Start, member: str | None) -> Joining:
    """Raises ValueError for a start that is none: it would be taken for the other one."""
    if start not in get_args(Start):
        raise ValueError(f"start={start!r} is not one of {', '.join(get_args(Start))}")
    return Joining(group, start, member if member is None else checked_id("member", member))
