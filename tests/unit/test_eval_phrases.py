"""Banks of phrases: well-formed, apart from the measured sessions, and counted as is right."""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path
from typing import Any

import pytest

from agentjournal.memory.slots import default_slots
from evals import phrases
from evals.intervals import Share
from evals.labelled import BadLabels, load
from evals.normal import tokens
from evals.phrases import FOLDER, banks, result
from evals.promoting import Extractor

ATTRIBUTES = {(slot.entity, slot.attribute) for slot in default_slots()}
SENTENCES = {"free_text", "decision", "rule"}
ANY = "*"  # of what may be kept under any attribute, or not at all


def bank_of(folder: Path, *lines: dict[str, Any]) -> None:
    (folder / "some.jsonl").write_text("\n".join(json.dumps(each) for each in lines))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(phrases, "FOLDER", tmp_path)
    return tmp_path


def fact(attribute: str, value: Any, said: str, **more: Any) -> dict[str, Any]:
    return {"entity": "user", "attribute": attribute, "value": value, "said": said, **more}


@pytest.mark.parametrize("bank", banks())
def test_a_bank_speaks_of_slots_and_has_traps(bank: str) -> None:
    every = list(phrases.phrases(bank))
    for phrase in every:
        for gold in phrase.facts:
            kind = gold.entity.partition(":")[0]
            assert gold.attribute != ANY or gold.optional
            assert gold.attribute in {ANY, *SENTENCES} or any(
                entity == kind and fnmatch.fnmatchcase(gold.attribute, known)
                for entity, known in ATTRIBUTES
            ), (bank, phrase.line, gold.attribute)
    assert len(every) >= 400
    assert sum(not phrase.facts for phrase in every) >= len(every) / 5
    assert len({phrase.voice for phrase in every}) >= 12


def test_phrases_share_none_with_the_measured_sessions_and_none_stands_twice() -> None:
    every = [phrase for bank in banks() for phrase in phrases.phrases(bank)]
    assert len({(phrase.asked, phrase.text) for phrase in every}) == len(every)
    told = [tuple(tokens(phrase.text)) for phrase in every]
    runs = {words[at : at + 6] for words in told for at in range(len(words) - 5)}
    for case in load("measured"):
        for event in case.events.values():
            if event.type == "message.added" and event.data["role"] == "user":
                words = tuple(tokens(event.text))
                assert not any(words[at : at + 6] in runs for at in range(len(words) - 5))


def test_what_is_missed_and_what_is_wrong_is_counted(folder: Path) -> None:
    bank_of(
        folder,
        {"voice": "a", "text": "My favourite colour is teal.", "facts": []},
        {
            "voice": "a",
            "text": "My favourite colour is teal, and I hum.",
            "facts": [
                fact("favourite_colour", "teal", "teal"),
                fact("hobby", "humming", "I hum"),
                fact("mood", "merry", "I hum", optional=True),
            ],
        },
    )
    trap, told = (result(Extractor(), each) for each in phrases.phrases("some"))

    assert (trap.phrase.half, told.phrase.half) == ("odd", "even")
    assert (trap.recall, trap.precision) == (Share(0, 0), Share(0, 1))
    assert [each.value for each in trap.wrong] == ["teal"]
    assert (told.recall, told.precision) == (Share(1, 2), Share(1, 1))
    assert [each.value for each in told.missed] == ["humming"]


def test_what_is_withdrawn_is_told_apart_from_what_is_said(folder: Path) -> None:
    text = "Forget that I am allergic to nuts."
    bank_of(
        folder,
        {"voice": "a", "text": text, "facts": [fact("allergy", "nuts", "nuts", op="retract")]},
        {"voice": "a", "text": text, "facts": [fact("allergy", "nuts", "nuts")]},
    )
    withdrawn, said = (result(Extractor(), each) for each in phrases.phrases("some"))

    assert (withdrawn.recall, withdrawn.precision) == (Share(1, 1), Share(1, 1))
    assert (said.recall, said.precision) == (Share(0, 1), Share(0, 1))


def test_what_was_asked_before_is_heard(folder: Path) -> None:
    told = {
        "voice": "a",
        "text": "43",
        "facts": [fact("shoe_size", "43", "43")],
    }
    bank_of(folder, told, {**told, "asked": "What is your shoe size?"})
    alone, answer = (result(Extractor(), each) for each in phrases.phrases("some"))

    assert alone.recall == Share(0, 1)
    assert answer.recall == Share(1, 1)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 2: JSONDecodeError"),
        ('{"voice": "a", "facts": []}', "line 2: KeyError: 'text'"),
        (
            """{"voice": "a", "text": "hi", "facts":
             [{"entity": "user", "attribute": "name", "value": "Jo", "said": "Jo"}]}""".replace(
                "\n", ""
            ),
            "line 2: nobody says 'Jo'",
        ),
    ],
)
def test_a_line_that_is_wrong_is_named(folder: Path, line: str, reason: str) -> None:
    good = '{"voice": "a", "text": "hello", "facts": []}\n'
    (folder / "some.jsonl").write_text(good + line)
    with pytest.raises(BadLabels, match=reason):
        list(phrases.phrases("some"))


def test_banks_are_named_in_plain_words() -> None:
    assert len(banks()) >= 6
    assert all(bank.isalpha() and bank.islower() for bank in banks())
    assert all(path.suffix == ".jsonl" for path in FOLDER.iterdir())
