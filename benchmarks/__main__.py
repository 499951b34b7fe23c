"""`python -m benchmarks [NAME …] [--rounds N]`: runs the benchmarks on a stack of their own."""

from __future__ import annotations

import argparse
import asyncio
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

import structlog

from agentjournal.settings import Settings
from benchmarks import (
    agents,
    appending,
    beside,
    counting,
    expiring,
    limiting,
    metering,
    projecting,
    promoting,
    reading,
    rebuilding,
    recalling,
    redacting,
    resuming,
    sequencing,
    subscribing,
    tracing,
    workflows,
)
from benchmarks.harness import Round, Row, median_of, report
from local.stack import running

BENCHMARKS: dict[str, Round] = {
    "drain": sequencing.drain,
    "drain20": sequencing.drain20,
    "batch1": appending.batch1,
    "batch20": appending.batch20,
    "latency": appending.latency,
    "recover": sequencing.recover,
    "catchup": projecting.catchup,
    "append_to_sql": projecting.append_to_sql,
    "long_session": sequencing.long_session,
    "reading": reading.reading,
    "resume": resuming.resume,
    "call": resuming.call,
    "agents": agents.agents,
    "project_all": projecting.project_all,
    "flat": projecting.flat,
    "rebuild": rebuilding.rebuild,
    "beside": beside.beside,
    "workflows": workflows.workflows,
    "meter": metering.meter,
    "promote": promoting.promote,
    "expiry": expiring.expiry,
    "limits": limiting.limits_cost,
    "metrics": counting.metrics_cost,
    "subscribe": subscribing.subscribe,
    "recall": recalling.recall,
    "redact": redacting.redact,
    "tracing": tracing.tracing_cost,
}


async def measure(settings: Settings, names: Sequence[str], rounds: int) -> list[Row]:
    """Return the rows of the named benchmarks, after a round that only warms the broker."""
    await median_of(1, settings, sequencing.drain, "warm")
    rows: list[Row] = []
    for name in names:
        rows += await median_of(rounds, settings, BENCHMARKS[name], name)
    return rows


def main() -> None:
    """Run, print the table, write latest.json."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(BENCHMARKS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    unknown = sorted(set(chosen.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}: there are {', '.join(BENCHMARKS)}")
    logging.basicConfig(level=logging.ERROR)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as folder:
        projecting.KAFKA_FOLDER = Path(folder)
        with running(Path(folder) / "stack", say=print) as stack:
            report(asyncio.run(measure(stack.settings, chosen.names, chosen.rounds)))


if __name__ == "__main__":
    main()
