"""How a user is heard: what is typed in haste, what is taken back, and whom it is about."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal.events import Entity
from agentjournal.ids import Version
from agentjournal.memory.candidates import Candidate, Role, Statement
from agentjournal.memory.extracting import extract
from agentjournal.memory.rules import default_rules
from agentjournal.memory.slots import default_slots
from agentjournal.memory.spelling import written_out

USER = Entity(kind="user", id="u")
ACCOUNT = Entity(kind="account", id="a")
PROJECT = Entity(kind="project", id="p")
ALL = (USER, ACCOUNT, PROJECT)


def heard(
    text: str, asked: str | None = None, entities: tuple[Entity, ...] = ALL
) -> list[Candidate]:
    """Return what is made of a text of the user, after what the assistant said."""
    turns: list[tuple[Role, str | None]] = [("assistant", asked), ("user", text)]
    statements = [
        Statement("s", f"e{at}", Version(at), "2026-01-14T10:00:00Z", role, "message", each)
        for at, (role, each) in enumerate(turns, 1)
        if each is not None
    ]
    return list(extract(statements, entities, default_slots(), default_rules()).candidates)


def told(text: str, asked: str | None = None) -> list[tuple[str, Any]]:
    """Return the facts of a text, what is taken back of several entities once."""
    found: list[tuple[str, Any]] = []
    for each in heard(text, asked):
        fact = ("~" * each.retracts + each.attribute, each.value)
        if not each.retracts or fact not in found:
            found.append(fact)
    return found


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("im vegan, dont ask", "I'm vegan, don't ask"),
        ("weve moved, its hosted elsewhere", "we've moved, it's hosted elsewhere"),
        ("were not on it anymore", "we're not on it anymore"),
        ("lets go with the blue one pls", "let's go with the blue one please"),
        ("they were in Rome", "they were in Rome"),
        ("the dog hurt its leg", "the dog hurt its leg"),
        ("my id is 5", "my id is 5"),
    ],
)
def test_apostrophes_that_were_left_out_are_read(typed: str, read: str) -> None:
    assert written_out(typed, default_rules().talk) == read


def test_a_quote_is_of_what_was_typed() -> None:
    (found,) = heard("im allergic to peanuts")

    assert (found.value, found.quote) == ("peanuts", "im allergic to peanuts")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("First, take out the bit about my asthma.", [("~medical_condition", "asthma")]),
        ("Please forget my phone number, my email and my address.",
         [("~phone", None), ("~email", None), ("~address", None)]),
        ("You can delete the old address.", [("~address", None)]),
        ("Forget my phone number, use jo@example.org.",
         [("~phone", None), ("email", "jo@example.org")]),
        ("Remove my address from this order.", []),
        ("Forget it.", []),
        ("Don't forget to call me.", []),
    ],
)  # fmt: skip
def test_a_clause_takes_back_what_it_names_and_no_more(
    text: str, facts: list[tuple[str, Any]]
) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    ("asked", "text", "facts"),
    [
        ("Are you still taking metformin?", "not any more", [("~medication", "metformin")]),
        ("Is Ines still your emergency contact?", "No.", [("~emergency_contact", "Ines")]),
        ("Are you still taking metformin?", "Yes.", [("medication", "metformin")]),
        ("Are you still taking metformin?", "No worries.", []),
    ],
)
def test_what_is_asked_for_with_still_is_taken_back_by_a_no_and_confirmed_by_a_yes(
    asked: str, text: str, facts: list[tuple[str, Any]]
) -> None:
    assert told(text, asked) == facts


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Decided: we keep the monorepo.", "project"),
        ("Decided: all invoices are paid by the tenth.", "account"),
        ("Decided: we paint the kitchen green.", "user"),
    ],
)
def test_of_several_it_is_about_whom_its_words_are_of(text: str, kind: str) -> None:
    assert {each.entity.kind for each in heard(text) if each.attribute == "decision"} == {kind}


def test_without_words_of_either_it_is_about_the_project_that_a_session_has() -> None:
    found = heard("Decided: we take the blue one.", entities=(USER, PROJECT))

    assert [each.entity for each in found] == [PROJECT]
