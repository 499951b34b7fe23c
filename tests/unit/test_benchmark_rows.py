"""Rows of the benchmarks: what a side printed becomes figures, and a target is kept or missed."""

from __future__ import annotations

import orjson
import pytest

from benchmarks.beside import ratios
from benchmarks.harness import Row, target
from benchmarks.others import OtherSideError
from benchmarks.workflows import repeated, stepped

_ALL = [str(number) for number in range(20)]


def test_steps_and_workflows_are_medians() -> None:
    found = {"step_ms": [1.0] * 19 + [3.0] * 21, "whole_ms": [50.0, 70.0]}
    printed = b"a warning\n" + orjson.dumps(found) + b"\n"
    assert stepped(printed) == {"step.p50": (3.0, "ms"), "workflow": (60.0, "ms")}


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        (b"", "no figures"),
        (b"there\n", "no figures"),
        (b'{"step_ms":[]}', "no figures"),
        (b'{"step_ms":[],"whole_ms":[]}', "0 steps in 0 workflows"),
        (b'{"step_ms":[1.0],"whole_ms":[1.0]}', "1 steps in 1 workflows"),
    ],
)
def test_a_side_that_did_not_do_all_steps_has_no_figures(printed: bytes, says: str) -> None:
    with pytest.raises(OtherSideError, match=says):
        stepped(printed)


def test_effects_that_came_again_are_counted() -> None:
    assert repeated(_ALL) == 0
    assert repeated([*_ALL, "10", "10", "3"]) == 3


def test_a_recovery_that_lost_an_effect_has_no_figures() -> None:
    with pytest.raises(OtherSideError, match=r"no effect of steps 3, 19$"):
        repeated([each for each in _ALL if each not in {"3", "19"}])


def test_there_is_no_ratio_to_nothing() -> None:
    ours, theirs = {"a": (0.0, "steps"), "b": (4.0, "ms")}, {"a": (1.0, "steps"), "b": (2.0, "ms")}
    assert ratios("x", ours, theirs) == {"beside.x.b.to_ours": (0.5, "ratio")}


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("resume.3000", 50.0, "≤ 50"),
        ("call.overhead", 10.01, "≤ 10: missed"),
        ("agents.200", 99.9, "≤ 100"),
        ("agents.200.p50", 500.0, ""),
    ],
)
def test_a_row_shows_whether_it_keeps_its_target(name: str, value: float, shown: str) -> None:
    assert target(Row(name, value, "ms", 3)) == shown
