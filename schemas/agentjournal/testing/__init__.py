"""Testing agents without servers: a log in memory, and every await cut once."""

from __future__ import annotations

from agentjournal.testing.clock import Clock
from agentjournal.testing.crash import CrashFailure, CrashReport, crash_everywhere
from agentjournal.testing.ledger import Effect, Ledger
from agentjournal.testing.memory_log import MemoryLog, memory_log

__all__ = [
    "Clock",
    "CrashFailure",
    "CrashReport",
    "Effect",
    "Ledger",
    "MemoryLog",
    "crash_everywhere",
    "memory_log",
]
