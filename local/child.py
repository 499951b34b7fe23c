"""One supervised child: started, watched, started again when it dies, stopped in good order."""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from collections.abc import Callable

import psutil

from agentjournal.errors import AgentJournalError
from local.backoff import Backoff
from local.home import Home
from local.program import STOP_S, Program, spawn, stop_signal
from local.records import await_end, record_of, write_record

logger = logging.getLogger(__name__)


class Child:
    """A program that is kept running in a thread of its own until `stop`."""

    def __init__(
        self, home: Home, name: str, program: Callable[[], Program], *, restart: bool = True
    ) -> None:
        self.name = name
        self._home, self._program, self._restart = home, program, restart
        self._backoff = Backoff()
        self._stopping = threading.Event()
        self._spawning = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._watcher: threading.Thread | None = None
        self._started_s = 0.0
        self.deaths = 0

    @property
    def pid(self) -> int | None:
        """The pid of the child that runs now, None while there is none."""
        running = self._running
        return running.pid if running is not None and running.poll() is None else None

    @property
    def is_watched(self) -> bool:
        """Whether the child runs, or will be started again."""
        return self._watcher is not None and self._watcher.is_alive()

    def start(self) -> None:
        """Start the child and watch it. Raises ServerFailed when it cannot be run."""
        self._stopping.clear()
        self._spawn()
        self._watcher = threading.Thread(target=self._watch, name=f"watch {self.name}", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """End the child in good order, or by force after 20 s; return when it is gone."""
        self._stopping.set()
        with self._spawning:
            running = self._running
        if running is not None and running.poll() is None:
            running.send_signal(stop_signal(self.name))
            try:
                running.wait(STOP_S)
            except subprocess.TimeoutExpired:
                logger.warning("%s does not stop: killing it", self.name)
                running.kill()
                running.wait()
        if self._watcher is not None:
            self._watcher.join()
        self._home.record(self.name).unlink(missing_ok=True)

    def kill(self) -> None:
        """`kill -9` the child and return when it is gone; with `restart` it comes back."""
        running = self._running
        if running is None:
            return
        below = _descendants(running.pid)
        running.kill()
        running.wait()
        # Backends of Postgres see by themselves that their parent is gone, and end.
        await_end(below, STOP_S)
        if self._watcher is not None and not self._restart:
            self._watcher.join()

    def _spawn(self) -> None:
        with self._spawning:
            if self._stopping.is_set():
                return
            self._started_s = time.monotonic()
            program = self._program()
            with self._home.open_log(self.name) as log:
                self._running = spawn(self._home, self.name, program, log)
            record = record_of(self._running.pid)
            if record is not None:
                write_record(self._home, self.name, record)
        logger.info("%s started (pid %d)", self.name, self._running.pid)

    def _watch(self) -> None:
        while True:
            status = None if self._running is None else self._running.wait()
            self.deaths += 1
            if self._stopping.is_set() or not self._restart:
                return
            wait_s = self._backoff.after(time.monotonic() - self._started_s)
            logger.warning(
                "%s ended with status %s; it is started again in %.1f s", self.name, status, wait_s
            )
            if self._stopping.wait(wait_s):
                return
            try:
                self._spawn()
            except (OSError, AgentJournalError) as error:
                logger.warning("%s cannot be started: %s", self.name, error)


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []
