"""What runs of a stack, as its folder and the operating system tell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from local.home import Home, is_supervised, read_json
from local.orphans import SERVERS
from local.ports import answers
from local.records import SUPERVISOR, living
from local.roles import ROLES

State = Literal["running", "restarting", "stopped"]


@dataclass(frozen=True, slots=True)
class Service:
    """A server: `address` is what its clients take."""

    pid: int | None
    state: State
    address: str | None


@dataclass(frozen=True, slots=True)
class Role:
    """A role; None as pid while it does not run."""

    pid: int | None
    state: State


@dataclass(frozen=True, slots=True)
class Status:
    """Everything about one stack."""

    home: str
    supervisor: Role
    services: dict[str, Service]
    roles: dict[str, Role]

    @property
    def all_run(self) -> bool:
        servers = (each.state for each in self.services.values())
        roles = (each.state for each in self.roles.values())
        return {self.supervisor.state, *servers, *roles} == {"running"}

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def status_of(home: Home) -> Status:
    """Return what runs in `home` now."""
    supervised = is_supervised(home)
    addresses = read_json(home.stack_file)
    pids = {name: _pid(home, name) for name in (SUPERVISOR, *SERVERS, *ROLES)}
    services = {
        name: _service(pids[name], addresses.get(name), supervised=supervised) for name in SERVERS
    }
    return Status(
        home=str(home.path),
        supervisor=Role(
            pids[SUPERVISOR] if supervised else None, "running" if supervised else "stopped"
        ),
        services=services,
        roles={name: Role(pids[name], _state(pids[name], supervised)) for name in ROLES},
    )


def _service(pid: int | None, address: object, *, supervised: bool) -> Service:
    if not isinstance(address, str):
        return Service(pid, _state(pid, supervised), None)
    port = urlsplit(address if "//" in address else f"//{address}").port
    # One that does not take connections yet is still on its way.
    answering = pid if port is not None and answers(port) else None
    return Service(pid, _state(answering, supervised), address)


def _state(pid: int | None, supervised: bool) -> State:
    if pid is not None:
        return "running"
    return "restarting" if supervised else "stopped"


def _pid(home: Home, name: str) -> int | None:
    record = living(home, name)
    return None if record is None else record.pid
