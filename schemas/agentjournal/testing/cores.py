"""The pure cores of the log, which come with the servers' package and are found at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol

from agentjournal.envelope import Recorded
from agentjournal.errors import NotConfigured
from agentjournal.ids import Milliseconds, Partition
from agentjournal.receipts import Answer

GROUP = "agentjournal.testing"
NAME = "cores"


class Cores(Protocol):
    """One log: what decides about appends, and what read models make of its events."""

    def sequence(
        self, partition: Partition, at_ms: Milliseconds, key: bytes, value: bytes
    ) -> tuple[Sequence[bytes], Answer | None]:
        """Return the canonical records of the next request of a partition, and its answer."""
        ...

    def lease_ends_ms(self) -> int:
        """Return when the last of the leases that stand passes, 0 where there is none."""
        ...

    def project(self, recorded: Recorded) -> None:
        """Take the next event of its partition."""
        ...

    def rows(self, table: str) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a table of the read models, as they stand now."""
        ...


def new_cores() -> Cores:
    """Return the cores of an empty log. Raises NotConfigured where they are not installed."""
    return _found()()


@cache
def _found() -> Callable[[], Cores]:
    for entry in entry_points(group=GROUP, name=NAME):
        found: Callable[[], Cores] = entry.load()
        return found
    raise NotConfigured(
        "a log in memory is made of what the servers run: `pip install agentjournal-server`"
    )
