"""Twenty steps with recorded outcomes in DBOS and in a run of ours, and what a kill costs each.

Both are processes of their own on the same Postgres. Ours records a call before and after its
effect, DBOS a step after it: so a step of theirs that is cut off behind its effect has it twice.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from agentjournal.settings import Settings
from benchmarks.beside import named, ratios
from benchmarks.harness import CHECKOUT, environment_of, role_process
from benchmarks.others import SIDES, OtherSideError, environment, new_database

STEPS = 20
_TIMEOUT_S = 120

Figures = Mapping[str, tuple[float, str]]


async def workflows(settings: Settings) -> Figures:
    """Time a step and the whole, then the recovery of one that is killed in its middle."""
    async with role_process(settings, "sequencer"), role_process(settings, "projector"):
        side = "benchmarks.side_by_side.agentjournal_side"
        ours = await _figures(settings, sys.executable, "-m", side)
    figures = named("agentjournal", ours)
    try:
        python = str(await environment("dbos"))
        address = await new_database(settings, "dbos")
        theirs = await _figures(settings, python, str(SIDES / "dbos_side.py"), address)
    except OtherSideError as error:
        return figures | {f"beside.dbos: {error}": (0.0, "not run")}
    return figures | named("dbos", theirs) | ratios("dbos", ours, theirs)


def stepped(printed: bytes) -> dict[str, tuple[float, str]]:
    """Return the figures of whole workflows from what a side printed.

    Raises OtherSideError when it did not come to its end, or has not done all steps.
    """
    try:
        found: dict[str, list[float]] = orjson.loads(printed.strip().rpartition(b"\n")[2])
        step_ms, whole_ms = found["step_ms"], found["whole_ms"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise OtherSideError(f"printed no figures ({error})") from error
    if not whole_ms or len(step_ms) != STEPS * len(whole_ms):
        raise OtherSideError(f"{len(step_ms)} steps in {len(whole_ms)} workflows")
    return {
        "step.p50": (statistics.median(step_ms), "ms"),
        "workflow": (statistics.median(whole_ms), "ms"),
    }


def repeated(effects: Sequence[str]) -> int:
    """Return how often an effect came again. Raises OtherSideError when one never came."""
    counts = Counter(effects)
    missing = [str(number) for number in range(STEPS) if str(number) not in counts]
    if missing:
        raise OtherSideError(f"no effect of steps {', '.join(missing)}")
    return len(effects) - len(counts)


async def _figures(settings: Settings, *command: str) -> dict[str, tuple[float, str]]:
    with tempfile.TemporaryDirectory() as folder:
        figures = stepped(await _measured(settings, *command, str(Path(folder) / "measured")))
        effects = Path(folder) / "recovered"
        recovery_s = await _recovery_s(settings, *command, str(effects))
        again = repeated(effects.read_text(encoding="utf-8").split())
    return figures | {
        "recovery": (recovery_s * 1_000, "ms"),
        "recovery.repeated": (float(again), "steps"),
    }


async def _measured(settings: Settings, *command: str) -> bytes:
    process = await _start(settings, *command, "measure")
    return await _ended(process)


async def _recovery_s(settings: Settings, *command: str) -> float:
    """Kill a process behind the effect of a step; return what another needs to the end of all."""
    process = await _start(settings, *command, "stop")
    try:
        await _line(process, b"there")
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    began = time.perf_counter()
    process = await _start(settings, *command, "recover")
    try:
        await _line(process, b"done")
        took = time.perf_counter() - began
    finally:
        await _ended(process)
    return took


async def _start(settings: Settings, *command: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *command, env=environment_of(settings), cwd=CHECKOUT, stdout=PIPE, stderr=DEVNULL
    )


async def _line(process: Process, expected: bytes) -> None:
    """Wait until the process prints a line. Raises OtherSideError when it does not."""
    stdout: Any = process.stdout
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            line = b""
            while line.strip() != expected:
                line = await stdout.readline()
                if not line:
                    raise OtherSideError(f"ended before it said {expected.decode()!r}")
    except TimeoutError:
        raise OtherSideError(f"no {expected.decode()!r} in {_TIMEOUT_S} s") from None


async def _ended(process: Process) -> bytes:
    """Return what a process still prints. Raises OtherSideError when it fails, or does not end."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            printed, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise OtherSideError(f"no end in {_TIMEOUT_S} s") from None
    if process.returncode:
        raise OtherSideError(f"exit status {process.returncode}")
    return printed
