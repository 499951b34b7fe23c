"""`agentjournal import` in this process, for tests of what it does to a running log."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import structlog
from typer.testing import CliRunner

from agentjournal.settings import Settings
from commands import app
from tests.servers import addresses_of


class CommandLine:
    """`agentjournal import`, as one tenant of the log."""

    def __init__(self, settings: Settings) -> None:
        self.settings = replace(settings, tenant=f"tenant-{uuid4().hex[:8]}")
        self._environment = addresses_of(self.settings)

    def __call__(self, *arguments: str | Path, exit_code: int = 0) -> dict[str, Any]:
        """Return the account of the one file, or of all of them as {"files": …}."""
        found: dict[str, Any] = json.loads(self.plain(*arguments, "--json", exit_code=exit_code))
        files = found["files"]
        return files[0] if len(files) == 1 else found

    def plain(self, *arguments: str | Path, exit_code: int = 0) -> str:
        """Return what the command prints."""
        given = ["import", *map(str, arguments)]
        done = CliRunner().invoke(app.command_line("import"), given, env=self._environment)
        assert done.exit_code == exit_code, (done.output, done.exception)
        return done.stdout

    def rows(self, query: LiteralString) -> list[tuple[Any, ...]]:
        """Return what a query gives, in which %(t)s is the tenant."""
        with psycopg.connect(self.settings.postgres) as connection:
            return connection.execute(query, {"t": self.settings.tenant}).fetchall()

    def one(self, query: LiteralString) -> Any:
        ((value,),) = self.rows(query)
        return value

    def events(self) -> int:
        """Return how many events the tenant has."""
        count: int = self.one("SELECT count(*) FROM agentjournal.events WHERE tenant = %(t)s")
        return count


@contextmanager
def command_line(journal: Settings) -> Generator[CommandLine]:
    """Give the command line, to a tenant of its own."""
    # The roles run in this process: what they log is no output of the command.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))
    yield CommandLine(journal)
    structlog.reset_defaults()
