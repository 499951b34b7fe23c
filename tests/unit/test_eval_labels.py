"""The labelled sessions: well-formed, parted, and their labels pass every gate themselves."""

from __future__ import annotations

import re

import pytest

from evals.baselines import ceiling
from evals.gates import SESSIONS, missed
from evals.labelled import FOLDER, Case, Part, load
from evals.measures import added, counts
from evals.normal import tokens
from evals.promoting import recorded

PARTS: tuple[Part, ...] = ("tuning", "measured")


@pytest.fixture(scope="module")
def tuning() -> list[Case]:
    return load("tuning")


@pytest.fixture(scope="module")
def measured() -> list[Case]:
    return load("measured")


def said(cases: list[Case]) -> list[str]:
    """Return what users say in the cases."""
    return [
        event.data["parts"][0]["text"]
        for case in cases
        for event in case.events.values()
        if event.type == "message.added" and event.data["role"] == "user"
    ]


def runs(texts: list[str], length: int) -> set[tuple[str, ...]]:
    """Return all runs of so many words."""
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = tokens(text)
        found.update(tuple(words[at : at + length]) for at in range(len(words) - length + 1))
    return found


def test_there_are_sessions_of_eight_domains_with_traps(
    tuning: list[Case], measured: list[Case]
) -> None:
    cases = tuning + measured
    assert len(tuning) >= 25
    assert len(measured) >= 30
    assert len({case.domain for case in tuning}) == 7
    assert len({case.domain for case in measured}) >= 4
    assert sum(len(case.distractors) for case in cases) >= 150
    assert all(case.events for case in cases)


def test_the_parts_share_no_author_and_no_phrase(tuning: list[Case], measured: list[Case]) -> None:
    assert {case.author for case in tuning}.isdisjoint(case.author for case in measured)
    # Six words in a row are a way of saying; fewer are English.
    assert runs(said(tuning), 6) & runs(said(measured), 6) == set()


def test_events_are_events_of_the_log(tuning: list[Case], measured: list[Case]) -> None:
    for case in tuning + measured:
        for session in case.sessions:
            for each in recorded(session):
                assert each.event is not None


def test_no_person_stands_twice(tuning: list[Case], measured: list[Case]) -> None:
    names = [case.sessions[0].entities[0] for case in tuning + measured]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("part", PARTS)
def test_the_labels_themselves_pass_every_gate(part: Part) -> None:
    cases = load(part)
    shares = added(counts(case, ceiling(case)) for case in cases)
    assert missed(SESSIONS, shares) == []
    assert shares["recall"].value == 1.0
    assert shares["as-of, all slots"].value == 1.0


def test_files_are_named_in_plain_words() -> None:
    for path in FOLDER.glob("*/*.json"):
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", path.stem)
