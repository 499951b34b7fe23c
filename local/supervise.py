"""The supervisor's own run: everything of a stack, until a signal ends it."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from agentjournal.errors import AgentJournalError
from local.errors import ServerFailed
from local.home import Home, open_home
from local.logs import last_lines
from local.records import SUPERVISOR
from local.roles import ROLES, RoleCommand, role_command
from local.stack import running

logger = logging.getLogger(__name__)

LOG_FORMAT = "%(asctime)s %(levelname)-7s %(message)s"  # `detached` shows what follows the level
TAIL_LINES = 15
LOOK_BACK_LINES = 200
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class _Stopped(BaseException):
    """A signal asks the supervisor to end."""


def supervise(
    home: Path,
    *,
    roles: Sequence[str] = ROLES,
    command: RoleCommand = role_command,
    on_terminal: bool = False,
) -> None:
    """Run the stack in `home` until SIGTERM, SIGINT or SIGHUP, then stop it in order.

    What happens is written to logs/supervisor.log, and shown `on_terminal`. Raises what
    `local.stack.running` raises.
    """
    opened = open_home(home)
    with _logging_to(opened, on_terminal=on_terminal), _signals_stop():
        try:
            with running(opened.path, roles=roles, command=command) as stack:
                logger.info("everything runs: %s", ", ".join(stack.addresses.values()))
                threading.Event().wait()
        except _Stopped:
            logger.info("stopped")
        except AgentJournalError as error:
            _log_failure(error)
            raise


def _log_failure(error: AgentJournalError) -> None:
    if isinstance(error, ServerFailed):
        # Without the frames of Java's stack traces, which push out what they are about.
        lines = [line for line in last_lines(error.log, LOOK_BACK_LINES) if line[:1] != "\t"]
        for line in lines[-TAIL_LINES:]:
            logger.info("%s | %s", error.name, line)
    logger.error("%s", error)


@contextmanager
def _signals_stop() -> Generator[None]:
    """Raise _Stopped at the first signal; those that follow find everything stopping."""

    def stop(number: int, _: FrameType | None) -> None:
        for each in STOP_SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        logger.info("%s: stopping everything", signal.Signals(number).name)
        raise _Stopped

    before = {number: signal.signal(number, stop) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _logging_to(home: Home, *, on_terminal: bool) -> Generator[None]:
    home.open_log(SUPERVISOR).close()  # puts an old, long one aside
    handlers: list[logging.Handler] = [logging.FileHandler(home.log(SUPERVISOR), encoding="utf-8")]
    handlers[0].setFormatter(logging.Formatter(LOG_FORMAT))
    if on_terminal:
        handlers.append(logging.StreamHandler(sys.stdout))
        handlers[1].addFilter(lambda record: record.levelno < logging.ERROR)  # those are raised
    root, own = logging.getLogger(), logging.getLogger("local")
    own.setLevel(logging.INFO)
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
