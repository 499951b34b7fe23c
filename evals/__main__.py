"""`python -m evals [--json FILE]`: measures long-term memory, and fails when a gate is missed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from evals import data, judging
from evals.answering import Answers
from evals.data import Absent
from evals.judging import Table
from evals.labelled import load
from evals.models import Vectors, vectors
from evals.postgres_ranking import postgres
from evals.promoting import Extractor
from evals.report import FOREIGN, Report, shown, written

RESULTS = Path(__file__).with_name("latest.json")
WIDTH = 200  # columns, where the output is no terminal


@dataclass(slots=True)
class _Others:
    """What is measured on data that may be absent."""

    foreign: dict[str, Table] = field(default_factory=dict[str, Table])
    wrong: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    answers: Mapping[str, Answers] = field(default_factory=dict[str, Answers])
    skipped: list[str] = field(default_factory=list[str])


def measure(extractor: Extractor) -> Report:
    """Return the report on all data that is there."""
    others = _Others()
    embed = _model(others)
    measured, cost = judging.sessions(load("measured"), extractor, embed)
    tuning, _ = judging.sessions(load("tuning"), extractor, embed)
    for name in FOREIGN:
        try:
            others.foreign[name], others.wrong[name] = judging.foreign(name, extractor)
        except Absent as absent:
            others.skipped.append(f"{name}: {absent}")
    try:
        others.answers = _answers(extractor, embed, others)
    except Absent as absent:
        others.skipped.append(f"bfcl_memory: {absent}")
    cost = replace(cost, embeds_a_second=embed.a_second if embed else None)
    return Report(
        measured, tuning, cost, others.foreign, others.wrong, others.answers, others.skipped
    )


def _model(others: _Others) -> Vectors | None:
    try:
        return vectors()
    except Absent as absent:
        others.skipped.append(f"methods by likeness: {absent}")
        return None


def _answers(extractor: Extractor, vectors: Vectors | None, others: _Others) -> dict[str, Answers]:
    """Return the answers that each method finds, in Postgres where a server can be started."""
    data.corpus()  # without it no server is needed
    try:
        with postgres() as address:
            return judging.answers(extractor, vectors, address)
    except Absent as absent:
        others.skipped.append(f"ts_rank, and recall in SQL: {absent}")
        return judging.answers(extractor, vectors, None)


def main() -> None:
    """Measure, print the tables, write latest.json; exit with 1 when a gate is missed."""
    parser = argparse.ArgumentParser(prog="evals", description=__doc__)
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE")
    chosen = parser.parse_args()
    report = measure(Extractor())
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    shown(report, console)
    written(report, chosen.json)
    sys.exit(1 if report.failures() else 0)


if __name__ == "__main__":
    main()
