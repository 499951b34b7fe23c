"""Metrics and health over HTTP, from a thread of its own: it answers while the loop is stuck."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import orjson
from prometheus_client import PlatformCollector, ProcessCollector, make_wsgi_app

from agentjournal.errors import NotConfigured
from consumers.watch import Watched

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

_MOST_PORT = 65_535
_JSON = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
_SILENT_S = 5.0  # a client that says nothing for so long is left


@dataclass(frozen=True, slots=True)
class Serving:
    """Where metrics and health are served; port 0 takes any that is free."""

    host: str
    port: int


def find_serving(environment: Mapping[str, str] | None = None) -> Serving | None:
    """Return where to serve, as AGENTJOURNAL_METRICS_PORT and …_HOST say; None: nowhere.

    Raises NotConfigured for what is no port.
    """
    environ = os.environ if environment is None else environment
    port = environ.get("AGENTJOURNAL_METRICS_PORT", "")
    if not port:
        return None
    if not (port.isascii() and port.isdecimal()) or int(port[:6]) > _MOST_PORT:
        raise NotConfigured(f"AGENTJOURNAL_METRICS_PORT={port!r} is not a port")
    return Serving(environ.get("AGENTJOURNAL_METRICS_HOST") or "127.0.0.1", int(port))


@contextmanager
def serving(watched: Watched, where: Serving) -> Generator[int]:
    """Serve /metrics, /healthz and /readyz until the end of the block; yield the port.

    Raises NotConfigured when it cannot be listened on.
    """
    try:
        server = make_server(where.host, where.port, _app(watched), _server_at(where), _Handler)
    except OSError as error:
        address = f"AGENTJOURNAL_METRICS_HOST={where.host}, AGENTJOURNAL_METRICS_PORT={where.port}"
        raise NotConfigured(f"{address} cannot be listened on: {error}") from error
    thread = threading.Thread(target=server.serve_forever, name="health", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _app(watched: Watched) -> Callable[[dict[str, Any], StartResponse], Iterable[bytes]]:
    registry = watched.metrics.registry
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    metrics = make_wsgi_app(registry)

    def app(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        match environ["PATH_INFO"]:
            case "/metrics":
                sample(watched)
                body: Iterable[bytes] = metrics(environ, start_response)
                return body
            case "/healthz":
                good, checks = watched.health.healthy()
                return _answer(start_response, {"healthy": good, "checks": checks}, good=good)
            case "/readyz":
                good, roles = watched.health.ready()
                return _answer(start_response, {"ready": good, "roles": roles}, good=good)
            case _:
                start_response("404 Not Found", [*_JSON])
                return [b'{"paths":["/metrics","/healthz","/readyz"]}\n']

    return app


def sample(watched: Watched) -> None:
    """Set the gauges that are true also while the loop is stuck."""
    metrics, health = watched.metrics, watched.health
    metrics.put("agentjournal_loop_delay_seconds", health.loop_delay_s())
    for role in health.roles:
        metrics.put("agentjournal_ready", health.is_ready(role), role=role)


def _answer(
    start_response: StartResponse, said: Mapping[str, Any], *, good: bool
) -> Iterable[bytes]:
    start_response("200 OK" if good else "503 Service Unavailable", [*_JSON])
    return [orjson.dumps(said, option=orjson.OPT_APPEND_NEWLINE)]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    block_on_close = False  # nobody who is slow to read holds up the end of the process

    def server_bind(self) -> None:
        """Listen without asking a name server who we are: that may take longer than a start."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "agentjournal", int(self.server_address[1])
        self.setup_environ()


def _server_at(where: Serving) -> type[_Server]:
    family = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)[0][0]
    return type("_ServerAt", (_Server,), {"address_family": family})


class _Handler(WSGIRequestHandler):
    timeout = _SILENT_S

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the library
        """Say nothing: being asked is no event."""
