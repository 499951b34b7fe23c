"""A broker that says it has records and sends none is away: nobody waits for it without end."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal import Unavailable
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.kafka_member import KafkaMember
from agentjournal.kafka_parking import KafkaParking
from agentjournal.settings import Settings
from agentjournal.subscriptions import Joining

SETTINGS = Settings(kafka="127.0.0.1:1", postgres="", redis="")


class Silent:
    """A consumer of a broker that names an end, and sends nothing."""

    def __init__(self, **_: Any) -> None:
        self.is_stopped = False
        self.waited_ms = 0

    async def start(self) -> None: ...

    async def stop(self) -> None:
        self.is_stopped = True

    async def topics(self) -> set[str]:
        return {SETTINGS.services}

    def assign(self, _: Any) -> None: ...

    def seek(self, *_: Any) -> None: ...

    async def position(self, _: Any) -> int:
        return 3

    async def beginning_offsets(self, tps: Any) -> dict[Any, int]:
        return dict.fromkeys(tps, 0)

    async def end_offsets(self, tps: Any) -> dict[Any, int]:
        return dict.fromkeys(tps, 5)

    async def getmany(self, *_: Any, timeout_ms: int, **__: Any) -> dict[Any, Any]:
        assert not self.waited_ms, "it was silent already"
        self.waited_ms = timeout_ms
        return {}


async def test_who_reads_a_session_again_learns_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentjournal.kafka_member.AIOKafkaConsumer", Silent)
    shares: Any = None
    member = KafkaMember(SETTINGS, Joining("x"), shares)
    reading = member.read(Partition(0), Position(3), Position(5), StreamId("session/t/s"))
    with pytest.raises(Unavailable, match=r"nothing of agentjournal\.events came for 30 s"):
        await anext(reading)


async def test_who_asks_what_is_parked_learns_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentjournal.kafka_parking.AIOKafkaConsumer", Silent)
    parking = KafkaParking(SETTINGS, "x")
    with pytest.raises(Unavailable, match=r"nothing of agentjournal\.services came for 30 s"):
        await parking.listed()
    await parking.close()
