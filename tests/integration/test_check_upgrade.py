"""The sample of `check-upgrade` on a real database: as many as asked for, old and new alike."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from agentjournal.settings import Settings
from commands.postgres_sampled import sampled
from tests.servers import connected
from tests.support import message

pytestmark = pytest.mark.stack

COUNT = 11


async def test_a_sample_is_spread_evenly_from_the_oldest_to_the_newest(journal: Settings) -> None:
    async with connected(journal) as log:
        for number in range(COUNT):
            receipt = await log.session(f"s-{number:02}").append(message("x"))
            await log.caught_up(receipt)
        settings = replace(journal, tenant=log.settings.tenant)
        every = [f"session/{settings.tenant}/s-{number:02}" for number in range(COUNT)]
        for most in range(1, COUNT + 3):
            sample = await sampled(settings, most)
            assert sample.total == COUNT
            assert len(sample.streams) == min(most, COUNT)
            places = [every.index(stream) for stream in sample.streams]
            assert places == sorted(places)
            assert places[-1] == COUNT - 1
            gaps = [b - a for a, b in pairwise(places)]
            assert max(gaps, default=0) - min(gaps, default=0) <= 1
    empty = await sampled(replace(journal, tenant="nobody"), 5)
    assert (empty.streams, empty.total) == ([], 0)
