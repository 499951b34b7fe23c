"""Fixtures for tests of agents. pytest loads this by itself, so it imports nothing but pytest."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from agentjournal.testing import MemoryLog


@pytest.fixture
def agentjournal_log() -> Generator[MemoryLog]:
    """A log in memory, empty, which nobody else has."""
    from agentjournal.testing import memory_log  # noqa: PLC0415 - for those who ask for it

    log = memory_log()
    yield log
    log.cut()
