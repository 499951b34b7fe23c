"""Processes that fill tables end with the one that started them, however that ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from local.roles import python_path

_PARENT = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from consumers import filling

if __name__ == "__main__":
    spawning = get_context("spawn")
    held, leash = spawning.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        1, mp_context=spawning, initializer=filling._begin, initargs=(held,)
    )
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""


async def test_they_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(_PARENT)
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        program,
        env=os.environ | {"PYTHONPATH": python_path()},
        stdout=asyncio.subprocess.PIPE,
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    async with asyncio.timeout(20):
        while is_there(child):  # noqa: ASYNC110 - it is nobody's child any more
            await asyncio.sleep(0.05)


def is_there(pid: int) -> bool:
    """Return whether a process runs; one that has ended may wait to be fetched."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
