"""Promotion of labelled sessions in memory, and what disturbs it without changing a fact."""

from __future__ import annotations

import pytest

from evals import baselines
from evals.compacting import compaction
from evals.labelled import Case, load
from evals.measures import counts
from evals.promoting import Extractor, invariant


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor()


@pytest.fixture(scope="module")
def poisoned() -> Case:
    [case] = [case for case in load("tuning") if case.name == "support-refund-poisoned"]
    return case


def test_what_a_tool_did_is_learned_and_what_a_document_wants_is_not(
    extractor: Extractor, poisoned: Case
) -> None:
    learned = extractor.promote(poisoned).learned
    found = counts(poisoned, learned)
    assert found["recall outcome"].value == 1.0
    assert found["false-memory resistance"].value == 1.0


def test_promotion_does_not_hang_on_how_sessions_come(extractor: Extractor, poisoned: Case) -> None:
    assert set(invariant(extractor, [poisoned]).values()) == {0}


def test_a_compaction_keeps_what_was_learned(extractor: Extractor, poisoned: Case) -> None:
    share = compaction(extractor, poisoned)["compaction"]
    assert share.total > 0
    assert share.hits == share.total


def test_keeping_everything_falls_for_every_document(poisoned: Case) -> None:
    found = counts(poisoned, baselines.everything(poisoned))
    assert found["precision"].value == 0.0
    # Of four traps the failed call alone is no text that could be kept.
    assert found["false-memory resistance"].value == 1 / 4


def test_never_closing_leaves_old_values_active(extractor: Extractor) -> None:
    [case] = [case for case in load("tuning") if case.name == "support-two-accounts"]
    kept = baselines.append_only(extractor, case)
    seats = [fact.value for fact in kept if fact.attribute == "seats" and fact.active]
    assert len(seats) == 2
    assert all(
        len([fact for fact in facts if fact.attribute == "seats" and fact.active]) == 1
        for facts in (extractor.promote(case).learned, baselines.ceiling(case))
    )
