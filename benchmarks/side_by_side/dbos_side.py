"""DBOS: a workflow of steps, each with its recorded outcome.

Runs in an environment of its own: `python dbos_side.py POSTGRES EFFECTS measure|stop|recover`.
"""
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from dbos import DBOS, SetWorkflowID

STEPS, STOP_AT = 20, 10
WARM_UP, WORKFLOWS = 1, 10
POLL_S = 0.005  # how often it is looked whether a workflow of another thread has ended

POSTGRES, EFFECTS, MODE = sys.argv[1:4]
step_ms: list[float] = []


@DBOS.step()
def step(number: int) -> dict[str, int]:
    """Have an effect that can be counted, and stop behind it for good where that is asked for."""
    with Path(EFFECTS).open("a", encoding="utf-8") as effects:
        effects.write(f"{number}\n")
    if MODE == "stop" and number == STOP_AT:
        print("there", flush=True)
        time.sleep(600)
    return {"step": number}


@DBOS.workflow()
def work() -> int:
    """Do all steps."""
    for number in range(STEPS):
        began = time.perf_counter()
        step(number)
        step_ms.append((time.perf_counter() - began) * 1_000)
    return STEPS


def measure() -> None:
    """Print the milliseconds of each step, and of each workflow."""
    whole_ms: list[float] = []
    for _ in range(WARM_UP + WORKFLOWS):
        began = time.perf_counter()
        work()
        whole_ms.append((time.perf_counter() - began) * 1_000)
    measured = {"step_ms": step_ms[WARM_UP * STEPS :], "whole_ms": whole_ms[WARM_UP:]}
    print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    DBOS(config={"name": "bench", "system_database_url": POSTGRES, "log_level": "ERROR"})
    DBOS.launch()  # takes up what an earlier process left
    match MODE:
        case "measure":
            measure()
        case "stop":
            with SetWorkflowID("cut"):
                work()
        case _:
            DBOS.retrieve_workflow("cut").get_result(polling_interval_sec=POLL_S)
            print("done", flush=True)
    DBOS.destroy()
