"""Fixtures that integration tests share."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from agentjournal.settings import Settings
from tests.servers import addresses_of


@pytest.fixture
def named(journal: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings of a tenant of the test's own, which commands find in the environment."""
    settings = replace(journal, tenant=f"tenant-{uuid4().hex[:8]}")
    for name, value in addresses_of(settings).items():
        monkeypatch.setenv(name, value)
    return settings
