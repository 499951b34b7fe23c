"""The roles that run beside the servers: how each is started, and with what."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import agentjournal
from agentjournal.settings import ARTIFACTS_FOLDER, Settings
from local.home import Home
from local.program import Program

ROLES = ("sequencer", "projector", "cache", "janitor", "promoter", "indexer", "meter")
INIT = "init"  # makes topics and tables; runs to its end before the roles start

_FILES = ("AGENTJOURNAL_LIMITS", "AGENTJOURNAL_SLOTS")
_FOLDER = "AGENTJOURNAL_ARTIFACTS"  # or a bucket

RoleCommand = Callable[[str], Sequence[str]]


def role_command(role: str) -> Sequence[str]:
    """Return the command that runs a role, or `init`."""
    return (sys.executable, "-P", "-m", "consumers", role)


def role_program(home: Home, command: Sequence[str], settings: Settings) -> Program:
    """Return the program of a role that works with the servers of `settings`."""
    return Program(
        command=tuple(command),
        folder=home.path,
        environment={
            # A role is given addresses, and so looks for no stack folder, as its clients do.
            _FOLDER: os.environ.get(_FOLDER, str(home.path / ARTIFACTS_FOLDER)),
            **named_files(),
            "AGENTJOURNAL_HOME": str(home.path),
            "AGENTJOURNAL_KAFKA": settings.kafka,
            "AGENTJOURNAL_POSTGRES": settings.postgres,
            "AGENTJOURNAL_REDIS": settings.redis,
            # What the user's own environment says about TLS is about other servers.
            "AGENTJOURNAL_KAFKA_SECURITY_PROTOCOL": "PLAINTEXT",
            "AGENTJOURNAL_METRICS_PORT": "",  # one port cannot serve all of them
            "PYTHONPATH": python_path(),
            "PYTHONUNBUFFERED": "1",
        },
    )


def named_files() -> dict[str, str]:
    """Return the variables that name files, for a child that runs in another folder."""
    named = {
        name: str(Path(os.environ[name]).absolute()) for name in _FILES if os.environ.get(name)
    }
    folder = os.environ.get(_FOLDER)
    if folder and not folder.startswith("s3://"):
        named[_FOLDER] = str(Path(folder).expanduser().absolute())
    return named


def python_path() -> str:
    """Return the PYTHONPATH under which a child finds the packages that this process found."""
    roots = [Path(__file__).parents[1], Path(agentjournal.__file__).parents[1]]
    # Not site-packages: the child has it, and it must not come before the standard library.
    own = [str(root) for root in roots if root.name not in {"site-packages", "dist-packages"}]
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([*own, *filter(None, inherited)]))
