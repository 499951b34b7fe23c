"""Reading the logs of a stack: their last lines, and what is added to them."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from local.home import Home
from local.orphans import SERVERS
from local.records import SUPERVISOR
from local.roles import INIT, ROLES

LOG_NAMES = (SUPERVISOR, *SERVERS, INIT, *ROLES)
TAIL_BYTES = 256 * 1024  # more than the last lines of a log take
POLL_S = 0.2


def last_lines(log: Path, count: int) -> list[str]:
    """Return the last `count` lines of a log, none where there is no log."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-count:] if count else []


def added_lines(home: Home, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, line) for every line that is added to the logs from now on; never ends."""
    followed = {name: Followed(home.log(name), from_start=False) for name in names}
    while True:
        found = [(name, line) for name, log in followed.items() for line in log.new_lines()]
        yield from found
        if not found:
            time.sleep(POLL_S)


class Followed:
    """A log of which one has read a part."""

    def __init__(self, log: Path, *, from_start: bool) -> None:
        self._log = log
        self._position = 0 if from_start or not log.is_file() else log.stat().st_size

    def new_lines(self) -> list[str]:
        """Return the whole lines that were added since the last call."""
        try:
            with self._log.open("rb") as file:
                if file.seek(0, io.SEEK_END) < self._position:
                    self._position = 0  # put aside, and begun again
                file.seek(self._position)
                added = file.read()
        except OSError:
            return []
        whole = added[: added.rfind(b"\n") + 1]
        self._position += len(whole)
        return whole.decode("utf-8", "replace").splitlines()
