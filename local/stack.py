"""The embedded stack under this process's supervision: what tests, benchmarks and `up` run."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from agentjournal.settings import Settings
from local.child import Child
from local.errors import ServerFailed
from local.home import Home, open_home, read_json, sole_supervisor, write_json, writing_into
from local.kafka_server import KafkaServer
from local.orphans import stop_orphans
from local.ports import Reservations, choose_ports, moved, port_is_free
from local.postgres_server import PostgresServer
from local.program import Program, run_once
from local.records import SUPERVISOR, record_of, write_record
from local.redis_server import RedisServer
from local.roles import INIT, RoleCommand, role_command, role_program
from local.server import Server, wait_ready

logger = logging.getLogger(__name__)

Say = Callable[[str], None]


class Stack:
    """Three servers, and roles beside them, each a child of this process."""

    def __init__(self, home: Home, ports: dict[str, int], *, restart: bool, say: Say) -> None:
        self.home = home
        self._restart, self._say = restart, say
        self._given_up = threading.Event()
        self._servers: dict[str, Server] = {
            server.name: server
            for server in (
                KafkaServer(home, ports["kafka"], ports["controller"], say),
                PostgresServer(home, ports["postgres"]),
                RedisServer(home, ports["redis"]),
            )
        }
        self._children: dict[str, Child] = {}

    @property
    def addresses(self) -> dict[str, str]:
        """The addresses of the servers, as clients take them."""
        return {name: server.address for name, server in self._servers.items()}

    @property
    def settings(self) -> Settings:
        """The addresses of the servers."""
        addresses = self.addresses
        return Settings(addresses["kafka"], addresses["postgres"], addresses["redis"])

    def pid(self, name: str) -> int | None:
        """Return the pid of a server or role, None while it does not run."""
        child = self._children.get(name)
        return None if child is None else child.pid

    def kill(self, name: str) -> None:
        """`kill -9` a server or role, and return when it is gone.

        A stack that restarts brings it back by itself; else `start` does.
        """
        self._children[name].kill()

    def stop(self, name: str) -> None:
        """Stop a server or role in good order; `start` brings it back."""
        self._children[name].stop()

    def start(self, *names: str) -> None:
        """Start servers side by side, and return when they answer. Raises ServerFailed."""
        self._given_up.clear()
        with ThreadPoolExecutor(len(names), thread_name_prefix="start") as pool:
            try:
                starts = [pool.submit(self._start, name) for name in names]
                for start in as_completed(starts):
                    start.result()
            except BaseException:
                self._given_up.set()  # else leaving the pool would wait for the others
                raise

    def start_roles(self, roles: Sequence[str], command: RoleCommand) -> None:
        """Make topics and tables, then start the roles. Raises ServerFailed when that fails."""
        self._say("making topics and tables")
        run_once(self.home, INIT, role_program(self.home, command(INIT), self.settings))
        for role in roles:
            program = role_program(self.home, command(role), self.settings)
            child = Child(self.home, role, partial(_same, program), restart=self._restart)
            self._children[role] = child
            child.start()

    def stop_everything(self) -> None:
        """Stop the roles, then the servers, each in good order."""
        self._given_up.set()
        roles = [name for name in self._children if name not in self._servers]
        for names in (roles, [name for name in self._children if name in self._servers]):
            with ThreadPoolExecutor(len(names) or 1, thread_name_prefix="stop") as pool:
                list(pool.map(self.stop, names))

    def _start(self, name: str) -> None:
        began_s = time.monotonic()
        server = self._servers[name]
        child = self._children.get(name)
        if child is None:
            server.prepare()
            child = Child(self.home, name, server.program, restart=self._restart)
            self._children[name] = child
        if not child.is_watched and not self._given_up.is_set():
            child.start()
        wait_ready(server, child, self.home, self._given_up.is_set)
        took_s = time.monotonic() - began_s
        self._say(f"{name} answers at {server.address} ({took_s:.1f} s)")


@contextmanager
def running(
    home: Path,
    *,
    roles: Sequence[str] = (),
    restart: bool = True,
    command: RoleCommand = role_command,
    say: Say = logger.info,
) -> Generator[Stack]:
    """Run the stack of the folder `home` until the end of the `with` block.

    Servers only, or with `roles`, which are started by `command` after `command("init")` has run.
    Without `restart` what dies stays dead until `start`. Raises AlreadyRunning, HomeUnusable,
    NotInstalled, DownloadFailed, ServerFailed.
    """
    opened = open_home(home)
    with sole_supervisor(opened), closing(Reservations()) as ports, _recorded(opened) as ready:
        with writing_into(opened.path):
            stop_orphans(opened)
            stack = _start_servers(opened, ports, restart=restart, say=say)
        try:
            if roles:
                stack.start_roles(roles, command)
            ready()
            yield stack
        finally:
            stack.stop_everything()


@contextmanager
def _recorded(home: Home) -> Generator[Callable[[], None]]:
    """Keep this process's record as the supervisor; what is yielded says that all is started."""
    own = record_of(os.getpid())

    def write(*, ready: bool) -> None:
        if own is not None:
            write_record(home, SUPERVISOR, replace(own, ready=ready))

    with writing_into(home.path):
        write(ready=False)
    try:
        yield partial(write, ready=True)
    finally:
        home.record(SUPERVISOR).unlink(missing_ok=True)


def _start_servers(home: Home, reserved: Reservations, *, restart: bool, say: Say) -> Stack:
    """Start all servers; on other ports when a stranger takes one while they start."""
    for is_last in (False, False, True):
        remembered = read_json(home.ports_file)
        ports = choose_ports(remembered, reserved.take)
        for line in moved(ports, remembered):
            say(line)
        write_json(home.ports_file, ports)
        stack = Stack(home, ports, restart=restart, say=say)
        write_json(home.stack_file, stack.addresses)
        try:
            stack.start(*stack.addresses)
        except BaseException as error:
            stack.stop_everything()
            lost_a_port = not all(port_is_free(port) for port in ports.values())
            if is_last or not isinstance(error, ServerFailed) or not lost_a_port:
                raise
            reserved.close()
        else:
            break
    return stack


def _same(program: Program) -> Program:
    return program
