"""Asking Kafka whether it answers."""

from __future__ import annotations

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError

from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from streams.ports import OutageError

_TIMEOUT_MS = 10_000


class KafkaProbe:
    """A connection of its own, so that work under way holds up no question."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: AIOKafkaClient | None = None

    async def ask(self) -> None:
        """Return once a broker answered. Raises OutageError."""
        try:
            if self._client is None:
                client = AIOKafkaClient(
                    **client_options(self._settings), request_timeout_ms=_TIMEOUT_MS
                )
                try:
                    await client.bootstrap()
                except BaseException:
                    await client.close()
                    raise
                self._client = client
            await self._client.fetch_all_metadata()
        except (KafkaError, OSError, TimeoutError) as error:
            await self.close()
            raise OutageError(f"Kafka: {error!r}") from error

    async def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
