"""The port that every server of the stack answers to, and the wait until it is ready."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from local.child import Child
from local.errors import ServerFailed
from local.home import Home
from local.ports import answers
from local.program import Program

POLL_S = 0.05
READY_S = 120.0
TOLERATED_DEATHS = 2  # Postgres first waits for what a killed one has left


class Server(Protocol):
    """One of Kafka, Postgres and Valkey: where it is, and what starts it."""

    @property
    def name(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def address(self) -> str:
        """The address that a client takes."""
        ...

    def prepare(self) -> None:
        """Make the data folder if it is new."""
        ...

    def program(self) -> Program:
        """Return the command, after whatever must be in order before each start."""
        ...

    def answers(self) -> bool:
        """Return whether the server itself, no stranger on its port, does its work.

        Asked again until it says yes.
        """
        ...


def wait_ready(server: Server, child: Child, home: Home, is_given_up: Callable[[], bool]) -> None:
    """Return when the server answers. Raises ServerFailed when it keeps ending or stays silent."""
    deadline = time.monotonic() + READY_S
    most_deaths = child.deaths + TOLERATED_DEATHS
    while not (child.pid and server.answers()):
        if child.deaths > most_deaths or not child.is_watched:
            raise ServerFailed(server.name, "ends before it answers", home.log(server.name))
        if child.pid is None and answers(server.port):
            reason = f"has lost port {server.port} to another program"
            raise ServerFailed(server.name, reason, home.log(server.name))
        if time.monotonic() > deadline or is_given_up():
            reason = f"does not answer within {READY_S:g} s"
            raise ServerFailed(server.name, reason, home.log(server.name))
        time.sleep(POLL_S)
