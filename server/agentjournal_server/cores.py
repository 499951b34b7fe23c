"""What `agentjournal.testing` makes a log in memory of; it finds this by its entry point."""

from __future__ import annotations

from typing import Any

from agentjournal_server.private_imports import import_privately


def new_cores() -> Any:
    """Return the pure cores of an empty log: the `Cores` of `agentjournal.testing.cores`."""
    return import_privately("in_memory.cores").Cores()
