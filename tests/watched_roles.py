"""A test build of the roles: SIGUSR1 blocks its event loop for as long as the file LOCK is there.

`python watched_roles.py LOCK ROLE…`: the loop counts as stuck after a second.
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

OPTIONS = HealthOptions(stuck_after_s=1.0, ask_every_s=0.1, patience_s=1.0)


def main(lock: Path, roles: list[str]) -> int:
    """Run the roles until SIGTERM; return the exit status."""

    def block(*_: object) -> None:
        while lock.exists():
            time.sleep(0.02)

    signal.signal(signal.SIGUSR1, block)
    with patch.object(running, "ProcessHealth", partial(ProcessHealth, options=OPTIONS)):
        return running.run_roles(find_settings(), roles, find_serving())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
