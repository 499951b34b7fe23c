"""Which ports a stack listens on: the usual ones where free, else the next, and then the same.

A stack reserves its ports as long as it runs: two that start at once, or one that starts while a
server of another is being started again, never choose the same.
"""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from local.errors import NoPortFree

HOST = "127.0.0.1"
USUAL = {"kafka": 19092, "postgres": 15432, "redis": 16379, "controller": 29092}
TRIES = 200  # how far above the usual port a free one is looked for


def choose_ports(remembered: Mapping[str, object], take: Callable[[int], bool]) -> dict[str, int]:
    """Return a port for every name: the remembered one, the usual one, or the next above.

    `take` tells whether a port can be had, and reserves it. Raises NoPortFree.
    """
    chosen: dict[str, int] = {}
    for name, usual in USUAL.items():
        candidates = [_port(remembered.get(name)) or usual, *range(usual, usual + TRIES)]
        port = next((p for p in candidates if p not in chosen.values() and take(p)), None)
        if port is None:
            raise NoPortFree(f"no port from {usual} to {usual + TRIES} is free for {name}")
        chosen[name] = port
    return chosen


def moved(chosen: Mapping[str, int], remembered: Mapping[str, object]) -> list[str]:
    """Return a line for every port that is not the one its name had, or usually has."""
    expected = {name: _port(remembered.get(name)) or usual for name, usual in USUAL.items()}
    return [
        f"port {expected[name]} is taken: {name} listens on {port}"
        for name, port in chosen.items()
        if port != expected[name]
    ]


class Reservations:
    """Ports that stacks of this machine keep for themselves, by locks that end with the process."""

    def __init__(self) -> None:
        self._locks: list[int] = []

    def take(self, port: int) -> bool:
        """Reserve the port, and return True, if no stack has it and nobody listens on it."""
        lock = _lock_of(port)
        if lock is None:
            return port_is_free(port)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        if not port_is_free(port):
            os.close(lock)
            return False
        self._locks.append(lock)
        return True

    def close(self) -> None:
        """Let other stacks have the ports."""
        while self._locks:
            os.close(self._locks.pop())


def _lock_of(port: int) -> int | None:
    """Return the open lock file of a port; None where none can be made, and none is needed."""
    file = Path(tempfile.gettempdir()) / f"agentjournal-port-{port}.lock"
    for flags in (os.O_RDONLY, os.O_RDONLY | os.O_CREAT):
        try:
            return os.open(file, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except OSError:
            continue
    return None


def port_is_free(port: int) -> bool:
    """Return whether a server could listen on the port now."""
    with socket.socket() as listener:
        # As servers do: connections of a server that is gone do not keep its port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            return False
    return not answers(port)


def answers(port: int) -> bool:
    """Return whether something takes connections on the port."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def _port(value: object) -> int | None:
    """Return a remembered port; None for what a damaged file may hold instead."""
    return value if isinstance(value, int) and 0 < value < 65536 else None
