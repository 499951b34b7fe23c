"""Which ports a stack listens on: the usual ones where free, else the next, and then the same."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping

from local.errors import NoPortFree

HOST = "127.0.0.1"
USUAL = {"kafka": 19092, "postgres": 15432, "redis": 16379, "controller": 29092}
TRIES = 200  # how far above the usual port a free one is looked for


def choose_ports(
    remembered: Mapping[str, object], *, is_free: Callable[[int], bool] | None = None
) -> dict[str, int]:
    """Return a free port for every name: the remembered one, the usual one, or the next above.

    Raises NoPortFree when there is none.
    """
    free = port_is_free if is_free is None else is_free
    chosen: dict[str, int] = {}
    for name, usual in USUAL.items():
        candidates = [_port(remembered.get(name)) or usual, *range(usual, usual + TRIES)]
        port = next((p for p in candidates if p not in chosen.values() and free(p)), None)
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
