"""The command line with roles that only sleep: what is tested is who starts and stops them.

`python sleeping_roles.py up -d` is `agentjournal up -d`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

from agentjournal.errors import AgentJournalError
from commands import stack
from commands.app import main
from local import supervise
from local.detached import start_detached

SUPERVISE = "supervise"


def sleep(role: str) -> Sequence[str]:
    """Return a command that prints the role's name, and sleeps unless the role is `init`."""
    rest = "" if role == "init" else "time.sleep(1000)"
    return (sys.executable, "-c", f"import time; print({role!r}, flush=True); {rest}")


def supervisor(home: Path) -> Sequence[str]:
    return (sys.executable, __file__, SUPERVISE, str(home))


def run() -> None:
    if sys.argv[1] == SUPERVISE:
        try:
            supervise.supervise(Path(sys.argv[2]), command=sleep)
        except AgentJournalError:
            sys.exit(1)
        return
    sleeping = partial(supervise.supervise, command=sleep)
    detached = partial(start_detached, command=supervisor)
    with (
        patch.object(supervise, "supervise", sleeping),
        patch.object(stack, "start_detached", detached),
    ):
        main()


if __name__ == "__main__":
    run()
