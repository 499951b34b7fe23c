"""What may be said of a service and of a subscriber, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal import AppendRejected, Recorded, Retry, sync
from agentjournal.testing import memory_log
from tests.support import message


async def test_a_type_that_there_is_not_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    log = memory_log()
    log.service("x", types=["turn.endd", "turn.ended", "custom.any"])
    log.subscribe(group="x", types=["message.aded"])
    assert [record.getMessage() for record in caplog.records] == [
        "no type of event is called 'turn.endd' in this release",
        "no type of event is called 'message.aded' in this release",
    ]


@pytest.mark.parametrize("start", ["latest ", "Earliest", "now", ""])
async def test_a_start_that_is_none_is_refused(start: Any) -> None:
    log = memory_log()
    with pytest.raises(ValueError, match="not one of earliest, latest"):
        log.subscribe(group="x", start=start)
    with pytest.raises(ValueError, match="not one of earliest, latest"):
        log.service("x", start=start)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 256])
async def test_a_name_that_is_none_is_refused(name: str) -> None:
    log = memory_log()
    with pytest.raises(AppendRejected, match="group"):
        log.subscribe(group=name)
    with pytest.raises(AppendRejected, match="member"):
        log.subscribe(group="x", member=name)


def test_a_service_without_asyncio() -> None:
    with sync.log_of(memory_log()) as log:
        session = log.session("s")
        for text in ("a", "bad", "after"):
            session.append(message(text))
        retry = Retry(max_attempts=2, backoff_s=[0.01])
        service = log.service("billing", types=["message.added"], retry=retry)
        tried: list[str] = []

        def handle(recorded: Recorded) -> None:
            text = recorded.data["parts"][0]["text"]
            tried.append(text)
            if text == "after":
                service.stop()
            if tried.count("bad") < 2 and text == "bad":
                raise OSError("not yet")

        service.run(handle)
        assert tried == ["a", "bad", "bad", "after"]
        assert service.parked() == []


@pytest.mark.parametrize(
    ("named", "value"),
    [("timeout_s", 0), ("timeout_s", float("nan")), ("concurrency", 0), ("most_parked", -1)],
)
def test_numbers_that_make_no_sense_are_refused(named: str, value: float) -> None:
    terms: dict[str, Any] = {named: value}
    with pytest.raises(ValueError, match=named):
        memory_log().service("x", **terms)
