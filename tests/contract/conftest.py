"""What every log promises is tested on the servers, and in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import Clients, InMemory, OfServers


@pytest.fixture(params=["memory", pytest.param("servers", marks=pytest.mark.stack)])
def clients(request: pytest.FixtureRequest, tmp_path: Path) -> Clients:
    """Return what connects to a log; tests keep apart by their tenants."""
    if request.param == "memory":
        return InMemory()
    return OfServers(request.getfixturevalue("journal"), tmp_path)
