"""Closing a log: whoever waits learns at once what is known, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest

from agentjournal import AppendOutcomeUnknown, Log, Receipt, Unavailable
from agentjournal.settings import Settings
from tests.servers import connected, eventually, unsettled
from tests.support import message

pytestmark = pytest.mark.stack


async def test_closing_with_appends_on_their_way_ends_them_all_at_once(
    journal: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(journal) as log:
        sessions = [log.session(f"s-{n}") for n in range(100)]
        await sessions[0].append(message("first"))
        appends = [asyncio.create_task(s.append(message("x" * 20_000))) for s in sessions]
        handed_over = asyncio.create_task(sessions[1].enqueue(message("y")))
        await eventually(lambda: unsettled(log))
        closed_at = time.monotonic()
    async with asyncio.timeout(5):
        ended = await asyncio.gather(*appends, return_exceptions=True)
        await asyncio.wait([handed_over])
    assert time.monotonic() - closed_at < 1
    kinds = Counter(map(type, ended))
    assert kinds.total() == kinds[Receipt] + kinds[AppendOutcomeUnknown] + kinds[Unavailable] == 100
    assert kinds[Receipt] < 100
    handed_over.exception()
    gc.collect()
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


async def test_an_append_that_closing_left_unknown_is_settled_through_another_log(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        await session.append(message("first"))
        append = asyncio.create_task(session.append(message("second"), append_id="a"))
        await eventually(lambda: [p for p in unsettled(log) if p.attempts])
    with pytest.raises(AppendOutcomeUnknown) as unknown:
        await append
    assert unknown.value.append_id == "a"
    with suppress(AppendOutcomeUnknown):  # unless the answer came while it was closed
        async with asyncio.timeout(1):
            await unknown.value.retry()
    async with connected(journal, tenant=log.settings.tenant) as another:
        receipt = await another.session("s").append(message("second"), append_id="a")
        assert (receipt.first_version, receipt.last_version) == (3, 3)


async def test_a_log_that_was_never_used_can_be_closed(journal: Settings) -> None:
    log = Log(replace(journal, tenant="nobody"))
    await log.close()
    await log.close()
