"""A language is a folder of files: what is in none of them is not understood."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from agentjournal.errors import NotConfigured
from agentjournal.events import Entity
from agentjournal.ids import Version
from agentjournal.memory.candidates import Role, Statement
from agentjournal.memory.extracting import extract
from agentjournal.memory.rules import Cues, Rules, read_rules
from agentjournal.memory.slots import default_slots

NEVER = "(?!)"
CUES = {
    "negation": r"\b(?:nicht|kein|keine|nie)\b",
    "hypothetical": r"\b(?:wenn|falls)\b",
    "question": r"^",
    "no_more": r"\bnicht mehr\b",
    "retraction": r"^\W*vergiss,? (?:dass|was) ",
    "and": r",|\bund\b",
}
RULES = r"""
[[rule]]
name = "Wohnort"
attribute = "home_city"
patterns = ['''\b(?:ich wohne|wohne ich)(?: jetzt)? in (?P<value>[A-Z]\w+)''']
"""
TALK = r"""
[talk]
hasty = '''\bhab\b'''
written_out = [{ pattern = '''\bhab\b''', instead = "habe" }]
clauses = '''(?<=,)\s+'''
no_longer = [{ pattern = '''\bnicht mehr ''', instead = "" }]
not_so = '''\W*nein\b'''
still = [{ pattern = '''\bwohnst du noch (?P<rest>[^?\n]+)''', instead = "ich wohne {rest}" }]
yes = '''\W*(?:ja|genau)\W*'''
confirming = [{ pattern = '''wohnst du (?:noch )?(?P<rest>.+)''', instead = "ich wohne {rest}" }]
speaker = [{ pattern = '''\bdein\b''', instead = "mein" }]
mine = "mein|meine"
mine_or_that = "mein|meine"
"""
USER = Entity(kind="user", id="u")


@pytest.fixture
def german(tmp_path: Path) -> Path:
    folder = tmp_path / "de"
    folder.mkdir()
    names = [each.name.rstrip("_") for each in fields(Cues)]
    cues = "\n".join(f"{name} = '''{CUES.get(name, NEVER)}'''" for name in names)
    words = f"abbreviations = ['z.b.']\n\n[slot_words]\nhome_city = ['Wohnort']\n\n[cues]\n{cues}\n"
    for name, text in (("words", words), ("10_wohnen", RULES), ("talk", TALK)):
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def told(rules: Rules, text: str, asked: str | None = None) -> list[tuple[str, Any]]:
    turns: list[tuple[Role, str | None]] = [("assistant", asked), ("user", text)]
    statements = [
        Statement("s", f"e{at}", Version(at), "2026-01-14T10:00:00Z", role, "message", each)
        for at, (role, each) in enumerate(turns, 1)
        if each is not None
    ]
    found = extract(statements, (USER,), default_slots(), rules).candidates
    return [("~" * each.retracts + each.attribute, each.value) for each in found]


@pytest.mark.parametrize(
    ("text", "asked", "facts"),
    [
        ("Ich wohne in Wien.", None, [("home_city", "Wien")]),
        ("Ich wohne nicht mehr in Wien.", None, [("~home_city", "Wien")]),
        ("Wenn ich wohne in Wien, dann gut.", None, []),
        ("Nein.", "Wohnst du noch in Wien?", [("~home_city", "Wien")]),
        ("Ja, genau.", "Wohnst du noch in Wien?", []),  # one word is a yes of this folder
        ("Genau!", "Wohnst du noch in Wien?", [("home_city", "Wien")]),
        ("Vergiss, dass ich wohne in Wien.", None, [("~home_city", "Wien")]),
        ("Vergiss, was mein Wohnort ist.", None, [("~home_city", None)]),
    ],
)
def test_what_its_files_say_is_understood(
    german: Path, text: str, asked: str | None, facts: list[tuple[str, Any]]
) -> None:
    assert told(read_rules(german), text, asked) == facts


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("I live in Vienna.", None),
        ("Yes.", "Wohnst du noch in Wien?"),
        ("No.", "Wohnst du noch in Wien?"),
        ("Forget my Wohnort.", None),
        ("Ich hab im Mai den sixth of May.", None),
    ],
)
def test_no_other_language_is_understood(german: Path, text: str, asked: str | None) -> None:
    assert told(read_rules(german), text, asked) == []


def test_english_ends_nothing_in_it(german: Path) -> None:
    both = "Ich wohne in Wien, I don't live there any more."
    assert told(read_rules(german), both) == [("home_city", "Wien")]


def test_a_language_without_talk_has_none(german: Path) -> None:
    (german / "talk.toml").unlink()
    rules = read_rules(german)
    assert told(rules, "Ich wohne in Wien.") == [("home_city", "Wien")]
    assert told(rules, "Genau!", "Wohnst du noch in Wien?") == []


@pytest.mark.parametrize(
    ("talk", "told_of"),
    [
        ("yess = 'ja'", r"talk\.yess is nothing that talk has"),
        ("yes = '('", r"talk\.yes: missing \)"),
        ("yes = 5", r"talk\.yes is no pattern"),
        ("dictation = 'englisch'", r"talk\.dictation: 'englisch' is not 'english'"),
        ("still = ['noch']", r"talk\.still: each has a pattern"),
        ("still = [{ pattern = '[', instead = '' }]", r"talk\.still: unterminated"),
    ],
)
def test_what_is_wrong_in_talk_is_named(german: Path, talk: str, told_of: str) -> None:
    (german / "talk.toml").write_text(f"[talk]\n{talk}\n", encoding="utf-8")
    with pytest.raises(NotConfigured, match=told_of):
        read_rules(german)
