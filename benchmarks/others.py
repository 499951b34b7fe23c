"""Other products beside ours: each in an environment of its own, and in a database of its own."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from agentjournal.settings import Settings
from benchmarks import projecting

SIDES = Path(__file__).with_name("side_by_side")
_TIMEOUT_S = 600


class OtherSideError(Exception):
    """Another product could not be measured, and why."""


async def environment(name: str) -> Path:
    """Return the Python of a product's environment, which is made when it is not there.

    Raises OtherSideError when it cannot be made.
    """
    folder = projecting.KAFKA_FOLDER / f"{name}-environment"
    python = folder / "bin" / "python"
    if not (folder / "made").exists():
        await run(sys.executable, "-m", "venv", "--clear", str(folder))
        pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet")
        await run(str(python), *pip, "--requirement", str(SIDES / f"{name}.txt"))
        (folder / "made").touch()
    return python


async def new_database(settings: Settings, name: str) -> str:
    """Return the address of an empty database for a product."""
    database = f"beside_{name}_{time.monotonic_ns()}"
    async with await psycopg.AsyncConnection.connect(
        settings.postgres, autocommit=True
    ) as connection:
        await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    return urlunsplit(urlsplit(settings.postgres)._replace(path=f"/{database}"))


async def run(*command: str, given: bytes = b"") -> bytes:
    """Return what a command prints. Raises OtherSideError with the last line of its complaint."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            printed, complaint = await process.communicate(given)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise OtherSideError(f"no end in {_TIMEOUT_S} s") from None
    if process.returncode:
        last = complaint.decode(errors="replace").strip().rpartition("\n")[2]
        raise OtherSideError(last or f"exit status {process.returncode}")
    return printed
