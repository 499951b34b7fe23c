"""Frames: what is said of any slot that has names is understood, of a slot of one's own too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentjournal.errors import NotConfigured
from agentjournal.events import Entity
from agentjournal.ids import Version
from agentjournal.memory.candidates import Role, Statement
from agentjournal.memory.extracting import extract
from agentjournal.memory.frames import Frame, with_frames
from agentjournal.memory.rule import Case, name_key
from agentjournal.memory.rules import default_rules
from agentjournal.memory.slots import Slots, default_slots, read_slots

ENTITIES = [Entity(kind=kind, id=kind[0]) for kind in ("user", "account", "project")]
FRAMES = default_rules().frames
CASES = [pytest.param(frame, case, id=frame.name) for frame in FRAMES for case in frame.cases]
COUNTER_EXAMPLES = [
    pytest.param(frame, text, id=frame.name) for frame in FRAMES for text in frame.counter_examples
]
MINE = """
[user.meter_number]
kind = "identifier"
type = "code"
names = ["meter number"]

[user.allotment]
kind = "profile"
names = ["allotment"]
form = "place"
"""


def learned(
    text: str, asked: str | None = None, slots: Slots | None = None
) -> dict[str, list[Any]]:
    """Return what is learned of a text of the user, after a question of the assistant."""
    turns: list[tuple[Role, str | None]] = [("assistant", asked), ("user", text)]
    statements = [
        Statement("s", f"e{number}", Version(number), "2026-01-14T10:00:00Z", role, "message", each)
        for number, (role, each) in enumerate(turns, 1)
        if each is not None
    ]
    found: dict[str, list[Any]] = {}
    for each in extract(statements, ENTITIES, slots or default_slots(), default_rules()).candidates:
        found.setdefault(each.attribute, []).append(each.value)
    return found


@pytest.mark.parametrize(("frame", "case"), CASES)
def test_an_example_of_a_frame_yields_its_facts(frame: Frame, case: Case) -> None:
    found = learned(case.text, case.asked)

    wanted = {name: list(values) for name, values in case.facts.items()}
    assert {name: found.get(name, []) for name in case.facts} == wanted, frame.name


@pytest.mark.parametrize(("frame", "text"), COUNTER_EXAMPLES)
def test_a_counter_example_of_a_frame_yields_nothing(frame: Frame, text: str) -> None:
    assert learned(text) == {}, frame.name


def test_every_frame_has_an_example() -> None:
    assert [frame.name for frame in FRAMES if not frame.cases] == []


@pytest.mark.parametrize(
    ("text", "asked", "fact"),
    [
        ("My meter number is 77-4120.", None, ("meter_number", "77-4120")),
        ("Please change our meter no. from 77-4120 to 77-4121.", None, ("meter_number", "77-4121")),
        ("77-4120 is my meter number.", None, ("meter_number", "77-4120")),
        ("77-4120, I think.", "And your meter number?", ("meter_number", "77-4120")),
        ("My allotment is Mill Lane.", None, ("allotment", "Mill Lane")),
    ],
)
def test_a_slot_of_ones_own_with_names_is_found_without_a_rule(
    tmp_path: Path, text: str, asked: str | None, fact: tuple[str, str]
) -> None:
    place = tmp_path / "slots.toml"
    place.write_text(MINE, encoding="utf-8")
    slots = read_slots(str(place))

    assert learned(text, asked, slots).get(fact[0]) == [fact[1]]
    assert fact[0] not in learned(text, asked)


def test_somebody_elses_and_a_state_are_no_value_of_it(tmp_path: Path) -> None:
    place = tmp_path / "slots.toml"
    place.write_text(MINE, encoding="utf-8")
    slots = read_slots(str(place))

    assert learned("My sister's meter number is 77-4120.", None, slots) == {}
    assert learned("Is my meter number 77-4120?", None, slots) == {}
    assert learned("My allotment is Closed now.", None, slots) == {}


def test_a_form_that_there_is_not_is_refused_by_its_slot(tmp_path: Path) -> None:
    place = tmp_path / "slots.toml"
    place.write_text('[user.x]\nkind = "profile"\nnames = ["x"]\nform = "no"\n', encoding="utf-8")

    with pytest.raises(NotConfigured, match=r"x: form 'no' is not one of .*place"):
        with_frames(default_rules(), read_slots(str(place)))


def test_names_that_are_no_words_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "slots.toml"
    place.write_text('[user.x]\nkind = "profile"\nnames = "x"\n', encoding="utf-8")

    with pytest.raises(NotConfigured, match=r"user\.x\.names: is not a list of words"):
        read_slots(str(place))


def test_every_pattern_of_the_package_can_be_compiled() -> None:
    for rule in with_frames(default_rules(), default_slots()).rules:
        for pattern in (*rule.patterns, rule.asked, rule.about, rule.needs, rule.unless):
            if pattern is not None:
                pattern.compiled()


def test_spellings_of_a_name_have_one_key() -> None:
    assert name_key("E-mails") == name_key("email") == name_key("e mail")
    assert name_key("email") != name_key("mail")
