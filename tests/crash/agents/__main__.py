"""Runs agents, each life of one in a process of its own: reads lines of JSON, writes one a life.

A line is {"life": number, "session": id, "kill_at": await or null}. The process that reads them
forks, so that nobody waits for imports; it answers {"life", "status", "awaits"}.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

from agentjournal.settings import find_settings
from tests.crash.agents.kill_points import KillPoints
from tests.crash.agents.paying import agent


def _live(asked: Mapping[str, Any], port: int, report: int) -> None:
    points = KillPoints(asked["kill_at"])
    points.run(agent(find_settings(), asked["session"], port))
    os.write(report, str(points.count).encode())


def _follow(asked: Mapping[str, Any], child: int, report: int) -> None:
    """Say how a life ended, once it has."""
    _, status = os.waitpid(child, 0)
    with os.fdopen(report) as read:
        awaits = read.read()
    ended = os.waitstatus_to_exitcode(status)
    line = json.dumps({**asked, "status": ended, "awaits": int(awaits) if awaits else None})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _main(port: int) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                _live(asked, port, write)
            except BaseException as error:  # noqa: BLE001 - this process ends here
                sys.excepthook(type(error), error, error.__traceback__)
                os._exit(1)
            os._exit(0)
        os.close(write)
        threading.Thread(target=_follow, args=(asked, child, read)).start()


if __name__ == "__main__":
    _main(int(sys.argv[1]))
