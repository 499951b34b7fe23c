"""A test build of the roles, whose event loop can be blocked.

`python -m tests.watched_roles LOCK ROLE…`: while the file LOCK is there, SIGUSR1 blocks it, and so
does the sequencer when it has the head of a new stream; it makes LOCK.loaded then. The loop counts
as stuck after a second, and what is not finished in two seconds is cut off.
"""

from __future__ import annotations

import signal
import sys
import time
from functools import partial
from pathlib import Path
from unittest.mock import patch

from agentjournal.settings import find_settings
from consumers import running
from consumers.health import HealthOptions, ProcessHealth
from consumers.health_server import find_serving
from consumers.roles import ROLES, run_sequencer
from consumers.stopping import StopOptions

OPTIONS = HealthOptions(stuck_after_s=1.0, ask_every_s=0.1, patience_s=1.0)


def main(lock: Path, roles: list[str]) -> int:
    """Run the roles until SIGTERM; return the exit status."""

    def block(*_: object) -> None:
        while lock.exists():
            time.sleep(0.02)

    def fault(point: str) -> None:
        if point == "loaded" and lock.exists():
            lock.with_suffix(".loaded").touch()
            block()

    signal.signal(signal.SIGUSR1, block)
    faulty = {**ROLES, "sequencer": partial(run_sequencer, fault=fault)}
    with (
        patch.object(running, "ROLES", faulty),
        patch.object(running, "ProcessHealth", partial(ProcessHealth, options=OPTIONS)),
        patch.object(running, "StopOptions", partial(StopOptions, finish_s=2.0, cut_off_s=1.0)),
    ):
        return running.run_roles(find_settings(), roles, find_serving())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
