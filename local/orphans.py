"""Children that outlived their supervisor: found by the marks in their environment, and stopped.

A pid file is never enough to end a process: after a reboot its number may be anybody's.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator

import psutil

from local.home import Home
from local.program import HOME_MARK, NAME_MARK, STOP_S, stop_signal
from local.records import await_end, has_ended

logger = logging.getLogger(__name__)

SERVERS = ("kafka", "postgres", "redis")


def orphans(home: Home) -> dict[str, list[psutil.Process]]:
    """Return the living processes of this stack, by the name of the child."""
    found: dict[str, list[psutil.Process]] = {}
    for name, process in _marked(home):
        found.setdefault(name, []).append(process)
    return found


def stop_orphans(home: Home) -> list[str]:
    """Stop what lives of this stack, roles before servers, and return the names."""
    found = orphans(home)
    servers = [name for name in found if name in SERVERS]
    for names in ([name for name in found if name not in SERVERS], servers):
        _stop({name: found[name] for name in names})
    return list(found)


def _stop(found: dict[str, list[psutil.Process]]) -> None:
    for name, processes in found.items():
        for process in processes:
            logger.warning("stopping %s (pid %d), left by an earlier run", name, process.pid)
            _signal(process, stop_signal(name))
    everything = [process for processes in found.values() for process in processes]
    stubborn = await_end(everything, STOP_S)
    for process in stubborn:
        logger.warning("killing pid %d, which does not stop", process.pid)
        _signal(process, signal.SIGKILL)
    await_end(stubborn, STOP_S)


def _signal(process: psutil.Process, number: int) -> None:
    try:
        process.send_signal(number)  # psutil first checks that the pid is still the same process
    except psutil.Error:
        pass


def _marked(home: Home) -> Iterator[tuple[str, psutil.Process]]:
    for process in psutil.process_iter():
        try:
            environment = process.environ()
        except (psutil.Error, OSError):
            continue
        if environment.get(HOME_MARK) == str(home.path) and not has_ended(process):
            yield environment.get(NAME_MARK, ""), process
