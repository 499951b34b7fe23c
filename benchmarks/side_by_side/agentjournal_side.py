"""agentjournal: a run of tool calls, each with its recorded outcome.

`python -m benchmarks.side_by_side.agentjournal_side EFFECTS measure|stop|recover`, with the
addresses of the servers in its environment.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import agentjournal
from agentjournal.log import Log
from agentjournal.settings import find_settings

STEPS, STOP_AT = 20, 10
WARM_UP, RUNS = 1, 10
LEASE_S = 1.0  # a worker that was killed is waited for as long

EFFECTS, MODE = Path(sys.argv[1]), sys.argv[2]
step_ms: list[float] = []


def happened(number: int) -> object:
    """Say whether a step that was cut off had its effect."""
    lines = EFFECTS.read_text(encoding="utf-8").split()
    return {"step": number} if str(number) in lines else agentjournal.NOT_DONE


@agentjournal.tool(effect="external", verify=happened)
def step(number: int) -> dict[str, int]:
    """Have an effect that can be counted, and stop behind it for good where that is asked for."""
    with EFFECTS.open("a", encoding="utf-8") as effects:
        effects.write(f"{number}\n")
    if MODE == "stop" and number == STOP_AT:
        print("there", flush=True)
        time.sleep(600)
    return {"step": number}


async def work(log: Log, session_id: str) -> None:
    """Do all steps that are not done."""
    resuming = log.session(session_id, agent="bench").resume(lease_s=LEASE_S, wait_s=30)
    async with resuming as run:
        await run.finish_open_calls([step])
        for number in range(STEPS):
            call_id = f"step-{number}"
            if call_id in run.state.calls:
                continue
            began = time.perf_counter()
            async with run.call("step", {"number": number}, call_id=call_id) as call:
                await call.complete(step(number))
            step_ms.append((time.perf_counter() - began) * 1_000)


async def measure(log: Log) -> None:
    """Print the milliseconds of each step, and of each run."""
    whole_ms: list[float] = []
    for number in range(WARM_UP + RUNS):
        began = time.perf_counter()
        await work(log, f"whole-{number}")
        whole_ms.append((time.perf_counter() - began) * 1_000)
    measured = {"step_ms": step_ms[WARM_UP * STEPS :], "whole_ms": whole_ms[WARM_UP:]}
    print(json.dumps(measured), flush=True)


async def main() -> None:
    """Do what was asked for."""
    async with Log(find_settings()) as log:
        if MODE == "measure":
            await measure(log)
        else:
            await work(log, "cut")
            print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
