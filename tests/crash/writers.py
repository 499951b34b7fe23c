"""Writers under load: they append numbered messages, and note what was acknowledged."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from agentjournal import (
    AppendOutcomeUnknown,
    Log,
    MessageAdded,
    Receipt,
    Session,
    Settings,
    Unavailable,
)
from agentjournal.kafka_producers import abandon_producer, new_producer


@dataclass(slots=True)
class Writer:
    """Appends `name:1`, `name:2`, … to sessions in turn, each only after the one before."""

    log: Log
    name: str
    sessions: int = 3
    acknowledged: list[tuple[str, Receipt]] = field(default_factory=list[tuple[str, Receipt]])
    unknown: int = 0

    async def write_until(self, stop: asyncio.Event) -> None:
        """Append until `stop` is set; an append without an outcome is settled before the next."""
        handles = [self.log.session(f"{self.name}-{n}") for n in range(self.sessions)]
        number = 0
        while not stop.is_set():
            number += 1
            text = f"{self.name}:{number}"
            receipt = await self._append(handles[number % self.sessions], text)
            self.acknowledged.append((text, receipt))

    async def _append(self, handle: Session, text: str) -> Receipt:
        event = MessageAdded(role="user", content=text)
        while True:
            try:
                return await handle.append(event, timeout_s=5)
            except AppendOutcomeUnknown as unknown:
                self.unknown += 1
                return await _settled(unknown)
            except Unavailable:
                await asyncio.sleep(0.05)  # nothing was sent: the same append may be made anew


async def _settled(unknown: AppendOutcomeUnknown) -> Receipt:
    while True:
        try:
            return await unknown.retry()
        except AppendOutcomeUnknown as still:
            unknown = still


class Load:
    """Eight writers at once, and beside them one who writes rubbish straight to Kafka."""

    def __init__(self, settings: Settings, writers: int = 8) -> None:
        self._settings, self._log, self._stop = settings, Log(settings), asyncio.Event()
        self.writers = [Writer(self._log, f"w{n}") for n in range(writers)]
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(w.write_until(self._stop)) for w in self.writers]
        self._tasks.append(asyncio.create_task(self._write_rubbish()))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._log.close()

    @property
    def acknowledged(self) -> int:
        """How many receipts the writers have together."""
        return sum(len(writer.acknowledged) for writer in self.writers)

    async def goes_on(self, more: int, within_s: float = 30) -> None:
        """Return once `more` appends were acknowledged from now on."""
        wanted = self.acknowledged + more
        async with asyncio.timeout(within_s):
            while self.acknowledged < wanted:
                for task in self._tasks:
                    if task.done():
                        task.result()
                await asyncio.sleep(0.01)

    async def finish(self) -> None:
        """Let every writer get the outcome of its last append, and stop."""
        self._stop.set()
        async with asyncio.timeout(60):
            await asyncio.gather(*self._tasks)

    async def _write_rubbish(self) -> None:
        """What is refused must not get in the way of what is not."""
        while not self._stop.is_set():
            try:
                producer = await new_producer(self._settings, max_batch_size=1_000_000)
            except (KafkaError, OSError):
                await asyncio.sleep(0.2)
                continue
            with suppress(KafkaError, OSError, TimeoutError):
                await self._write_rubbish_with(producer)
            await abandon_producer(producer)

    async def _write_rubbish_with(self, producer: AIOKafkaProducer) -> None:
        while not self._stop.is_set():
            for partition in range(4):
                sent = producer.send_and_wait(
                    self._settings.appends, key=b"\xff", value=b"no request", partition=partition
                )
                async with asyncio.timeout(5):
                    await sent
            await asyncio.sleep(0.02)
