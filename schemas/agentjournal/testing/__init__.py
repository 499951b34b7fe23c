"""Testing agents without servers: a log in memory, and every await cut once."""

from __future__ import annotations

from agentjournal.testing.clock import Clock
from agentjournal.testing.memory_log import MemoryLog, memory_log

__all__ = ["Clock", "MemoryLog", "memory_log"]
