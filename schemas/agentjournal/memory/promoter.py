"""Promoting sessions: read one, let an extractor make something of it, append what is new.

Nothing is kept between two promotions but what was read of entities, which only grows. Whoever dies
on the way has appended a part of it, and whoever promotes again appends the rest.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import NamedTuple
from urllib.parse import quote

from agentjournal.envelope import Recorded
from agentjournal.errors import AppendIdReused, IntegrityError, SessionNotFound, StreamDeleted
from agentjournal.handle import Handle, Servers, Writer
from agentjournal.ids import StreamId, Version, parse_stream
from agentjournal.memory.entity_reading import EntityReading
from agentjournal.memory.extractors import Extracting, RuleExtracting
from agentjournal.memory.promoting import (
    Batch,
    Promotion,
    batches_of,
    completed_batch,
    promotion_of,
)
from agentjournal.memory.session_reading import Reading, SessionReader
from agentjournal.memory.wanting import all_gone, streams_of_gone, wanted_of, without_gone
from agentjournal.receipts import Receipt

FAULT_POINTS = ("read", "extracted", "known", "learned", "completed")
AGENT = "promoter"  # in whose name facts are appended

_PAGE = 500  # events that are in memory at once
_MOST_ENTITIES = 64  # that are not read again from the beginning


class Done(NamedTuple):
    """A promotion, up to which version of the session nothing is left to do, and its receipt."""

    promotion: Promotion
    version: Version
    receipt: Receipt | None


class PromotedStream(Handle):
    """A stream that a promotion reads and appends to; appends carry no version: none waits."""

    async def recorded(self, after: Version, timeout_s: float) -> AsyncGenerator[Recorded]:
        """Yield what is acknowledged and comes after a version, a page at a time.

        Raises NotCaughtUp, StreamParked, IntegrityError when a version is missing.
        """
        await self._catch_up(timeout_s)
        last, more = after, True
        while more:
            reading = self._servers.views.read_stream(self.stream, after=last, most=_PAGE)
            begun = last
            async with aclosing(reading):
                async for recorded in reading:
                    if recorded.version != last + 1:
                        raise IntegrityError(f"{self.stream}: version {last + 1} is missing")
                    last = recorded.version
                    yield recorded
            more = last - begun == _PAGE

    async def put(self, batch: Batch, timeout_s: float) -> Receipt:
        """Append a batch. Raises what `append` raises."""
        return await self.append(batch.events, append_id=batch.append_id, timeout_s=timeout_s)


class Promoter:
    """Promotes sessions, as many at once as it is asked to."""

    def __init__(
        self,
        servers: Servers,
        extracting: Extracting | None = None,
        fault: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._servers = servers
        if extracting is None:
            extracting = RuleExtracting() if servers.extracting is None else servers.extracting()
        self._extracting: Extracting = extracting
        self._fault = fault
        self._entities: OrderedDict[StreamId, tuple[EntityReading, asyncio.Lock]] = OrderedDict()

    async def promote(
        self, stream: StreamId, *, dry_run: bool = False, timeout_s: float = 30.0
    ) -> Done:
        """Promote a session; a `dry_run` appends nothing, and reads again what was promoted.

        What a message had taught that was retracted or rewound since is taken back, and so is
        what a deleted session had taught, before StreamDeleted is raised.

        Raises SessionNotFound, StreamDeleted, what the extractor raises, and what `load` and
        `append` raise.
        """
        extractor = self._extracting.extractor
        session = self._stream(stream)
        reading = await self._read(session, timeout_s)
        self._fault("read")
        if reading.deleted is not None:
            if not dry_run:
                await self._take_back(reading, timeout_s)
            raise StreamDeleted(stream)
        if not dry_run and reading.is_promoted and reading.completed is not None:
            repeated = Promotion(reading.session_id, reading.completed, repeated=True)
            return Done(repeated, reading.version, None)
        # Who looks at what would be learned wants to see all of it, also what was read before.
        statements = reading.statements if dry_run else reading.marked()
        extraction = await self._extracting.extract(statements, reading.entities)
        wanted = wanted_of(reading, extraction, extractor)
        self._fault("extracted")
        known = await self._known({*wanted.of_entity, *streams_of_gone(reading)}, timeout_s)
        wanted = without_gone(wanted, reading, known)
        self._fault("known")
        # Empty where nothing is left to say: the summary of what is gone goes along with it.
        summary = "" if extraction.summary is None and reading.gone else extraction.summary
        promotion = promotion_of(reading, wanted, known, extractor, summary)
        if dry_run:
            return Done(promotion, Version(0), None)
        await self._learn(batches_of(wanted, known, extractor), timeout_s)
        return await self._complete(session, reading, promotion, timeout_s)

    async def _read(self, session: PromotedStream, timeout_s: float) -> Reading:
        reader = SessionReader(session.stream, self._extracting.extractor)
        async with aclosing(session.recorded(Version(0), timeout_s)) as events:
            async for recorded in events:
                reader.add(recorded)
        reading = reader.reading()
        if not reading.version:
            raise SessionNotFound(session.stream)
        return reading

    async def _take_back(self, reading: Reading, timeout_s: float) -> None:
        """Take back what a deleted session had taught."""
        known = await self._known(streams_of_gone(reading), timeout_s)
        self._fault("known")
        wanted = all_gone(reading, known)
        await self._learn(batches_of(wanted, known, self._extracting.extractor), timeout_s)

    async def _known(
        self, streams: Iterable[StreamId], timeout_s: float
    ) -> dict[StreamId, EntityReading]:
        """Return what entities' streams say by now."""
        named = list(streams)
        found = await asyncio.gather(*(self._entity(each, timeout_s) for each in named))
        return dict(zip(named, found, strict=True))

    async def _entity(self, stream: StreamId, timeout_s: float) -> EntityReading:
        kept, lock = self._entities.setdefault(stream, (EntityReading(), asyncio.Lock()))
        self._entities.move_to_end(stream)
        if len(self._entities) > _MOST_ENTITIES:
            self._entities.popitem(last=False)
        async with lock:
            handle = self._stream(stream)
            async with aclosing(handle.recorded(kept.version, timeout_s)) as events:
                async for recorded in events:
                    kept.add(recorded)
        return kept

    async def _learn(self, batches: Sequence[Batch], timeout_s: float) -> None:
        async def put(batch: Batch) -> None:
            await self._stream(batch.stream).put(batch, timeout_s)
            self._fault("learned")

        outcomes = await asyncio.gather(*map(put, batches), return_exceptions=True)
        for outcome in outcomes:  # once none is on its way any more
            if isinstance(outcome, BaseException):
                raise outcome

    async def _complete(
        self, session: PromotedStream, reading: Reading, promotion: Promotion, timeout_s: float
    ) -> Done:
        """Tell the session that it was promoted; whoever else did so was the first."""
        batch = completed_batch(session.stream, promotion.completed)
        try:
            receipt = await session.put(batch, timeout_s)
        except StreamDeleted:
            await self._take_back(await self._read(session, timeout_s), timeout_s)
            raise
        except AppendIdReused:
            again = await self._read(session, timeout_s)
            completed = again.completed or promotion.completed
            return Done(
                Promotion(again.session_id, completed, repeated=True), reading.version, None
            )
        self._fault("completed")
        is_next = receipt.first_version == reading.version + 1
        version = receipt.last_version if is_next else reading.version
        return Done(promotion, Version(version), receipt)

    def _stream(self, stream: StreamId) -> PromotedStream:
        _, tenant, _ = parse_stream(stream)
        source = f"/{quote(tenant, safe='')}/{AGENT}"
        return PromotedStream(stream, self._servers, Writer(source, AGENT, None))
