"""`alerts --follow`: what comes is shown, and a broker that is away is told of, once each time."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal.alerts import Alert, NoAlert, raised
from agentjournal.errors import Unavailable
from commands.alerts import Wanted, followed

STORM = raised(
    "session_storm",
    tenant="acme",
    subject="acme",
    text="many sessions",
    at="2026-01-31T12:00:00Z",
    source="meter",
)


class _OverError(Exception):
    """There is no more to look at."""


class Broker:
    """What each look finds: alerts, nothing, or that the broker is away."""

    def __init__(self, *looks: list[Alert | NoAlert] | None) -> None:
        self._looks = list(looks)
        self._is_there = True

    async def poll(self) -> list[Alert | NoAlert]:
        if not self._looks:
            raise _OverError
        found = self._looks.pop(0)
        self._is_there = found is not None
        return found or []

    async def check(self) -> None:
        if not self._is_there:
            raise Unavailable("Kafka", "no answer in 5 s")


async def test_a_broker_that_is_away_is_told_of_once_and_when_it_is_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown: list[Alert] = []
    reader: Any = Broker([STORM], [], None, None, [], [], [STORM], None)
    with pytest.raises(_OverError):
        await followed(reader, Wanted(50), shown.append)
    away = "Kafka cannot be reached: no answer in 5 s; alerts are shown when it is back"
    assert capsys.readouterr().err.splitlines() == [away, "Kafka is back", away]
    assert shown == [STORM, STORM]


async def test_alerts_after_an_outage_say_that_it_is_over(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reader: Any = Broker(None, [STORM], None)
    with pytest.raises(_OverError):
        await followed(reader, Wanted(50), lambda _: None)
    away = "Kafka cannot be reached: no answer in 5 s; alerts are shown when it is back"
    assert capsys.readouterr().err.splitlines() == [away, "Kafka is back", away]
