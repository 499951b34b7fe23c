"""The report: which gates are missed, what is skipped, and that all of it is written."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from rich.console import Console

from evals.answering import BUDGETS, Answers
from evals.gates import AIRLINE, SESSIONS, missed
from evals.intervals import Share
from evals.judging import Cost, Table
from evals.report import Report, shown, written


def table(**shares: Share) -> Table:
    return Table(1, 1, shares, [shares], {"nothing": {"recall": Share(0, 4)}}, {"home": shares})


def answers(top: int, *budgets: int) -> Answers:
    hits = dict(zip(BUDGETS, budgets, strict=True))
    return Answers(Share(top, 100), {name: Share(each, 100) for name, each in hits.items()})


def report(recall: Share, found: dict[str, Answers]) -> Report:
    return Report(
        measured=table(precision=Share(95, 100), recall=recall),
        tuning=table(recall=Share(4, 4)),
        cost=Cost(1, 2.0, 3.0, 4.0),
        answers=found,
        skipped=["tau_airline: there is no folder"],
    )


def test_a_gate_is_missed_below_or_above_its_bound_and_not_where_nothing_was_counted() -> None:
    assert missed(SESSIONS, {"recall": Share(3, 4), "noise": Share(1, 20)}) == []
    assert missed(SESSIONS, {"recall": Share(2, 4), "noise": Share(2, 20)}) == [
        "recall 0.500, to be ≥ 0.75",
        "noise 0.100, to be ≤ 0.05",
    ]
    assert missed(AIRLINE, {"recall outcome": Share(0, 0)}) == []


def test_recall_has_to_be_above_every_plain_method_at_equal_tokens() -> None:
    found = {
        "BM25 over messages": answers(99, 70, 88, 96, 97),
        "source of the answer": answers(90, 90, 90, 90, 90),
        "recall, lexical": answers(80, 60, 60, 60, 60),
        "recall, fused": answers(85, 90, 88, 95, 97),
    }
    assert report(Share(3, 4), found).failures() == [
        "bfcl_memory: 1024 tokens: 95 answers, BM25 over messages has 96"
    ]


def test_without_a_model_the_gate_holds_for_words_alone() -> None:
    found = {"recall, lexical": answers(80, 1, 1, 1, 1), "nothing": answers(0, 0, 0, 0, 0)}
    assert report(Share(3, 4), found).failures() == [
        "bfcl_memory: answer in 10 sentences 0.800, to be ≥ 0.85"
    ]


def test_all_of_it_is_shown_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {"nothing": answers(0, 0, 0, 0, 0)}
    given = report(Share(2, 4), found)
    shown(given, Console(width=200))
    text = capsys.readouterr().out
    for part in (
        "0.500",
        "≥ 0.75",
        "✗",
        "✓",
        "there is no folder",
        "1 gates are missed",
        "nothing",
    ):
        assert part in text
    path = tmp_path / "latest.json"
    written(given, path)
    figures = orjson.loads(path.read_bytes())
    assert figures["measured"]["shares"]["recall"]["hits"] == 2
    assert figures["missed"] == ["measured: recall 0.500, to be ≥ 0.75"]
    assert figures["answers"]["nothing"]["256"]["total"] == 100
