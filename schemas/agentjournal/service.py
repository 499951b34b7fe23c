"""Services: a function that is called with every event, tried again, and parked where it fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from agentjournal.attending import Attending
from agentjournal.envelope import Recorded
from agentjournal.errors import NotParked
from agentjournal.handle import Servers
from agentjournal.service_terms import Terms
from agentjournal.subscriptions import Joining, Parked


class Service:
    """What `Log.service` returns: handles the events of a group, one after the other in a stream.

    Processes of one name share the partitions. Each event is handled at least once.
    """

    def __init__(self, servers: Servers, joining: Joining, terms: Terms) -> None:
        self._servers, self._joining, self._terms = servers, joining, terms
        self._stop: Callable[[], None] | None = None  # of the run that is on

    async def run(
        self, handler: Callable[[Recorded], Awaitable[object]], *, stop_s: float = 30.0
    ) -> None:
        """Call `handler` with each event until `stop` is called, then commit and leave the group.

        What it raises is tried again; after the last attempt the stream is parked: nothing more of
        it is handled until `redrive`, and everything else goes on. After `stop`, what is being
        handled has `stop_s` to end. Raises Unavailable when Kafka is away, IntegrityError when a
        stream forks, TooManyParked, TypeError when `handler` is not async.
        """
        parking = self._servers.subscriptions.parking(self._terms.service)
        attending = Attending(self._terms, handler, parking, self._servers)
        self._stop = partial(attending.stop, stop_s)
        try:
            member = await self._servers.subscriptions.join(self._joining, attending)
            try:
                await attending.attend(member)
            finally:
                await member.leave()
        finally:
            self._stop = None
            await parking.close()

    def stop(self) -> None:
        """Begin nothing more: `run` returns once what is being handled has ended."""
        if self._stop is not None:
            self._stop()

    async def parked(self) -> list[Parked]:
        """Return the streams that the service stopped at, whichever process. Raises Unavailable."""
        parking = self._servers.subscriptions.parking(self._terms.service)
        try:
            return await parking.listed()
        finally:
            await parking.close()

    async def redrive(self, *streams: str) -> list[Parked]:
        """Ask for parked streams to be handled from where they stopped; all, if none is named.

        Whichever process has the partition does it, now or when one starts. Returns those that were
        asked for. Raises NotParked, Unavailable.
        """
        parking = self._servers.subscriptions.parking(self._terms.service)
        try:
            found = await parking.listed()
            if missing := set(streams) - {each.stream for each in found}:
                raise NotParked(self._terms.service, sorted(missing))
            due = [each for each in found if not streams or each.stream in streams]
            for each in due:
                await parking.ask(each.partition, each.stream)
            return due
        finally:
            await parking.close()
