"""Subscriptions to the log in Kafka."""

from __future__ import annotations

from agentjournal.kafka_member import KafkaMember
from agentjournal.kafka_parking import KafkaParking
from agentjournal.settings import Settings
from agentjournal.subscriptions import Joining, Shares


class KafkaSubscriptions:
    """Consumer groups on the topic `events`, and what they park in the topic `services`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def join(self, joining: Joining, shares: Shares) -> KafkaMember:
        """Become a member of a group. Raises Unavailable."""
        member = KafkaMember(self._settings, joining, shares)
        await member.start()
        return member

    def parking(self, service: str) -> KafkaParking:
        """Return what is parked of a service; nothing is contacted yet."""
        return KafkaParking(self._settings, service)
