"""Crash tests have servers of their own, to be killed too, and fresh topics each."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from agentjournal.settings import Settings
from local.stack import Stack, running
from tests import warm
from tests.servers import fresh_settings


@pytest.fixture(scope="session")
def crash_stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """Three servers that stay dead when they are killed, until a test starts them."""
    warm.load()
    with running(tmp_path_factory.mktemp("crash"), restart=False) as servers:
        yield servers


@pytest.fixture
async def crash_settings(crash_stack: Stack) -> Settings:
    """Settings with topics and tables of this test's own."""
    return await fresh_settings(crash_stack.settings)
