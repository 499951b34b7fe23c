"""Imported sessions into the log: each event once, however often its file is imported.

Before anything is appended, what the stream holds is read; every append expects the version that
this has led to, so another writer is noticed and never overtaken.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import quote

from agentjournal.artifacts import Artifacts, artifacts_of
from agentjournal.errors import (
    AppendIdReused,
    AppendOutcomeUnknown,
    AppendRejected,
    ArtifactCorrupt,
    ArtifactNotFound,
    LimitExceeded,
    SessionMismatch,
    StreamDeleted,
    StreamParked,
    VersionConflict,
)
from agentjournal.ids import Partition, StreamId, stream_id
from agentjournal.kafka_ends import KafkaEnds
from agentjournal.offloading import NoStore
from agentjournal.outgoing import batch_id
from agentjournal.partitions import PARTITIONS, partition_of
from agentjournal.ports import EVENTS
from agentjournal.postgres_views import PostgresViews
from agentjournal.receipts import Receipt
from agentjournal.requests import NewEvent, Request
from agentjournal.servers import appender_of
from agentjournal.settings import Settings
from importers.imported import ImportedEvent, ImportedSession
from importers.planning import Differs, Held, batches, remaining
from importers.session_events import AGENT

AT_ONCE = 16  # sessions
_LOOKS = 3  # at a stream that moves while it is written
_TIMEOUT_S = 60.0
_REFUSALS = (
    *(AppendIdReused, AppendRejected, LimitExceeded),
    *(SessionMismatch, StreamDeleted, StreamParked),
    *(ArtifactCorrupt, ArtifactNotFound),
)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a session: events `added`, events `there` already, or why it was left out."""

    session: ImportedSession
    session_id: str
    added: int
    there: int
    refused: str | None = None


class SessionWriter:
    """Appends imported sessions; `session_writer()` makes one."""

    def __init__(self, settings: Settings) -> None:
        self._tenant = settings.tenant
        self._source = f"/{quote(settings.tenant, safe='')}/{AGENT}"
        self._appender = appender_of(settings)
        self._artifacts = artifacts_of(settings)
        self._views = PostgresViews(settings, self._artifacts)
        self._ends = KafkaEnds(settings)
        self._last: dict[Partition, Receipt] = {}

    async def write(
        self, sessions: Sequence[ImportedSession], done: Callable[[Written], None]
    ) -> None:
        """Append what the log lacks of each session; call `done` as each one is finished.

        Raises Unavailable, NotCaughtUp, AppendOutcomeUnknown: importing again goes on from there.
        """
        waiting = iter(sessions)

        async def work() -> None:
            for session in waiting:
                done(await self._write(session))

        workers = [asyncio.create_task(work()) for _ in range(min(AT_ONCE, len(sessions)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def catch_up(self) -> None:
        """Return once all events that are in the log now can be read. Raises NotCaughtUp."""
        await asyncio.gather(*(self._catch_up(Partition(p)) for p in range(PARTITIONS)))

    async def shown(self, timeout_s: float) -> None:
        """Return once the read models show all that was appended here. Raises NotCaughtUp."""
        for receipt in self._last.values():
            await self._views.wait_for_input(receipt, timeout_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._appender.close()
        await self._ends.close()
        await self._views.close()

    async def _write(self, session: ImportedSession) -> Written:
        added, session_id, why = 0, session.session_id, ""
        for _ in range(_LOOKS):
            try:
                session_id, stream, held = await self._held(session)
                rest = remaining(session.events, held)
                if isinstance(rest, Differs):
                    why = _difference(rest)
                    break
                if rest:
                    await self._keep(session)
                version = len(held)
                for batch in batches(rest):
                    await self._append(stream, batch, version)
                    version += len(batch)
                    added += len(batch)
            except VersionConflict as conflict:
                # An earlier attempt of ours may have got through, or somebody else was faster.
                why = str(conflict)
                await self._catch_up(partition_of(conflict.stream.encode()))
                continue
            except _REFUSALS as refusal:
                why = str(refusal)
                break
            return Written(session, session_id, added, len(session.events) - added)
        return Written(session, session_id, added, 0, why)

    async def _held(self, session: ImportedSession) -> tuple[str, StreamId, list[Held]]:
        stream = stream_id("session", self._tenant, session.session_id)
        held = await self._read(stream)
        if not held and session.earlier_id is not None:
            earlier = stream_id("session", self._tenant, session.earlier_id)
            held_earlier = await self._read(earlier)
            if held_earlier and held_earlier[0].id == session.events[0].id:
                return session.earlier_id, earlier, held_earlier
        return session.session_id, stream, held

    async def _read(self, stream: StreamId) -> list[Held]:
        return [Held(each.id, each.type) async for each in self._views.read_stream(stream)]

    async def _keep(self, session: ImportedSession) -> None:
        """Keep what left the events before they say that it is there.

        Raises ArtifactNotFound when it is neither in the file nor in the store.
        """
        for digest, content in session.contents.items():
            if self._artifacts is None:
                raise ArtifactNotFound(digest)
            await self._artifacts.save(content)
        store = self._artifacts or Artifacts(NoStore())
        for digest in session.needed:
            if digest not in session.contents:
                await store.read(digest)

    async def _append(self, stream: StreamId, batch: Sequence[ImportedEvent], version: int) -> None:
        events = [
            NewEvent(
                each.id,
                each.type,
                each.data,
                each.schema_version,
                each.time,
                each.tokens,
                each.correlation_id,
                each.causation_id,
                each.traceparent,
            )
            for each in batch
        ]
        request = Request(
            append_id=batch_id(stream, version, events),
            events=events,
            source=self._source,
            expected_version=version,
            reply_to=self._appender.reply_to,
            agent=AGENT,
        )
        pending = await self._appender.submit(stream, request, _TIMEOUT_S)
        try:
            receipt = await self._appender.receipt(pending, _TIMEOUT_S)
        except AppendOutcomeUnknown as unknown:
            receipt = await unknown.retry()
        known = self._last.get(receipt.partition)
        if known is None or known.position < receipt.position:
            self._last[receipt.partition] = receipt

    async def _catch_up(self, partition: Partition) -> None:
        end = await self._ends.end_of(partition)
        await self._views.wait_for_output(partition, end, _TIMEOUT_S, projections=EVENTS)


@asynccontextmanager
async def session_writer(settings: Settings) -> AsyncGenerator[SessionWriter]:
    """Give a writer that knows what is in the log already. Raises Unavailable, NotCaughtUp."""
    writer = SessionWriter(settings)
    try:
        await writer.catch_up()
        yield writer
    finally:
        await writer.close()


def _difference(found: Differs) -> str:
    if found.version == 1:
        return "is there already, and not from this file for this user"
    return f"holds other events than this file from version {found.version} on"
