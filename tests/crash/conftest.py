"""Crash tests kill the servers too, and have fresh topics each."""

from __future__ import annotations

import pytest

from agentjournal.settings import Settings
from local.stack import Stack
from tests.servers import fresh_settings


@pytest.fixture(scope="session")
def crash_stack(stack: Stack) -> Stack:
    """The three servers, to be killed: they stay dead until a test starts them.

    The roles of `journal` are on them too, and have to outlive that.
    """
    return stack


@pytest.fixture
async def crash_settings(crash_stack: Stack) -> Settings:
    """Settings with topics and tables of this test's own."""
    return await fresh_settings(crash_stack.settings)
