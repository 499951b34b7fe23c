"""The report of an evaluation: tables for a reader, and JSON for a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table as Shown

from evals.answering import BUDGETS, OURS, Answers
from evals.gates import AIRLINE, ANSWERS, COLOURS, SESSIONS, Gate, missed
from evals.intervals import Interval, Share, clustered, wilson
from evals.judging import Cost, Table

FOREIGN = {"tau_airline": AIRLINE, "goodai_colours": COLOURS}
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured. `skipped`: what was not, and why."""

    measured: Table
    tuning: Table
    cost: Cost
    foreign: Mapping[str, Table] = field(default_factory=dict[str, Table])
    wrong_labels: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    answers: Mapping[str, Answers] = field(default_factory=dict[str, Answers])
    skipped: Sequence[str] = ()

    def failures(self) -> list[str]:
        """Return every gate that is missed, with where and by what."""
        found = [f"measured: {each}" for each in missed(SESSIONS, self.measured.shares)]
        for name, table in self.foreign.items():
            found += [f"{name}: {each}" for each in missed(FOREIGN[name], table.shares)]
        ours = self.ours()
        if ours is not None:
            top = {ANSWERS[0].measure: self.answers[ours].top}
            found += [f"bfcl_memory: {each}" for each in missed(ANSWERS, top)]
            found += [f"bfcl_memory: {each}" for each in self._below(ours)]
        return found

    def ours(self) -> str | None:
        """Return the best way of recall that could be measured."""
        return next((name for name in reversed(OURS) if name in self.answers), None)

    def _below(self, ours: str) -> list[str]:
        """Return the budgets at which a plain method has more answers than recall."""
        plain = {
            name: each
            for name, each in self.answers.items()
            if name not in (*OURS, "source of the answer")
        }
        found: list[str] = []
        for budget in BUDGETS:
            reached = self.answers[ours].budgets[budget].hits
            more, best = max((each.budgets[budget].hits, name) for name, each in plain.items())
            if more > reached:
                found.append(f"{budget} tokens: {reached} answers, {best} has {more}")
        return found


def shown(report: Report, console: Console) -> None:
    """Print every table, what was skipped, and the gates that are missed."""
    console.print(_sessions(report))
    console.print(_domains(report))
    for name, table in report.foreign.items():
        console.print(_foreign(name, table))
        for each in report.wrong_labels.get(name, ()):
            console.print(f"  a label that nobody said, not counted: {each}", style="dim")
    if report.answers:
        console.print(_answers(report))
    cost = report.cost
    if cost.embeds_a_second is not None:
        console.print(f"vectors: {cost.embeds_a_second:.0f} texts a second")
    console.print(
        f"promotion of a session: p50 {cost.p50_ms:.1f} ms, p95 {cost.p95_ms:.1f} ms over"
        f" {cost.sessions} sessions; {cost.statements:.1f} statements a session;"
        f" {cost.model_calls} calls of a model"
    )
    for each in report.skipped:
        console.print(f"skipped: {each}", style="dim")
    failures = report.failures()
    for each in failures:
        console.print(f"missed: {each}", style="red")
    console.print("every gate is passed" if not failures else f"{len(failures)} gates are missed")


def written(report: Report, path: Path) -> None:
    """Write the figures as JSON: shares as hits and total, with their intervals."""
    plain: dict[str, Any] = {
        "measured": _plain(report.measured),
        "tuning": _plain(report.tuning),
        "foreign": {name: _plain(table) for name, table in report.foreign.items()},
        "wrong_labels": {name: list(each) for name, each in report.wrong_labels.items()},
        "answers": {
            name: {"top": _share(each.top), **{str(b): _share(s) for b, s in each.budgets.items()}}
            for name, each in report.answers.items()
        },
        "cost": asdict(report.cost),
        "skipped": list(report.skipped),
        "missed": report.failures(),
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    path.write_bytes(orjson.dumps(plain, option=options))


def _sessions(report: Report) -> Shown:
    measured, tuning = report.measured, report.tuning
    table = Shown(
        title=f"labelled sessions: {measured.cases} cases, {measured.sessions} sessions measured;"
        f" {tuning.cases} cases to tune on",
        title_justify="left",
    )
    names = list(measured.others)
    for name in ("measure", "gate", "", "promotion", "95 % of conversations", "n", "tuning"):
        table.add_column(name, no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", style="dim")
    table.add_column("others report", style="dim")
    gated = {gate.measure: gate for gate in SESSIONS}
    rest = [name for name in measured.shares if name not in gated]
    for name in [*gated, *rest]:
        gate, share = gated.get(name), measured.shares.get(name)
        table.add_row(
            name,
            gate.text if gate else "",
            _mark(gate, share),
            figure(share),
            bounds(clustered(measured.of_cases(name))),
            str(share.total) if share else "0",
            figure(tuning.shares.get(name)),
            *(figure(measured.others[other].get(name)) for other in names),
            gate.published if gate else "",
        )
    return table


def _domains(report: Report) -> Shown:
    columns = ("precision", "recall", "false-memory resistance", "update correct", "stale-active")
    table = Shown(title="measured, by domain", title_justify="left")
    table.add_column("domain")
    for name in columns:
        table.add_column(name, justify="right")
    for domain, shares in report.measured.domains.items():
        table.add_row(domain, *(f"{figure(s)} of {s.total}" for s in map(shares.get, columns) if s))
    return table


def _foreign(name: str, given: Table) -> Shown:
    table = Shown(title=f"{name}: {given.sessions} sessions", title_justify="left")
    for column in ("measure", "gate", "", "promotion", "95 % (Wilson)", "n"):
        table.add_column(column)
    for gate in FOREIGN[name]:
        share = given.shares.get(gate.measure)
        sure = wilson(share) if share else None
        table.add_row(
            gate.measure,
            gate.text,
            _mark(gate, share),
            figure(share),
            bounds(sure),
            str(share.total) if share else "0",
        )
    return table


def _answers(report: Report) -> Shown:
    table = Shown(title="bfcl_memory: accepted answer in what is found", title_justify="left")
    for column in ("method", "first 10", "95 % (Wilson)", *(f"{b} tokens" for b in BUDGETS)):
        table.add_column(column, justify="left" if column == "method" else "right")
    for name, each in report.answers.items():
        gate = ANSWERS[0]
        text = f"{figure(each.top)} {_mark(gate, each.top)}" if name in OURS else figure(each.top)
        budgets = (figure(each.budgets[budget]) for budget in BUDGETS)
        style = "bold" if name in OURS else ""
        table.add_row(name, text, bounds(wilson(each.top)), *budgets, style=style)
    return table


def figure(share: Share | None) -> str:
    """Return a share as a reader takes it; a dash where there was nothing to count."""
    return NOTHING if share is None or share.value is None else f"{share.value:.3f}"


def bounds(interval: Interval | None) -> str:
    """Return an interval as a reader takes it."""
    return NOTHING if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"


def _mark(gate: Gate | None, share: Share | None) -> str:
    if gate is None or (passes := gate.passes(share)) is None:
        return ""
    return "✓" if passes else "✗"


def _plain(table: Table) -> dict[str, Any]:
    return {
        "cases": table.cases,
        "sessions": table.sessions,
        "shares": {
            name: {**_share(share), "clustered": _bounds(clustered(table.of_cases(name)))}
            for name, share in table.shares.items()
        },
        "others": {
            name: {measure: _share(share) for measure, share in shares.items()}
            for name, shares in table.others.items()
        },
        "domains": {
            name: {measure: _share(share) for measure, share in shares.items()}
            for name, shares in table.domains.items()
        },
    }


def _share(share: Share) -> dict[str, Any]:
    return {"hits": share.hits, "total": share.total, "wilson": _bounds(wilson(share))}


def _bounds(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [round(each, 4) for each in interval]
