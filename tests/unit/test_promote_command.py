"""`agentjournal promote --text`: what would be learned of a text, without a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commands.app import command_line


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No stack is near, and no setting names one."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "KAFKA", "POSTGRES", "REDIS", "SLOTS", "MODEL"):
        monkeypatch.delenv(f"AGENTJOURNAL_{name}", raising=False)


def rows(*arguments: str, slots: Path | None = None) -> list[Mapping[str, object]]:
    environment = {} if slots is None else {"AGENTJOURNAL_SLOTS": str(slots)}
    shown = CliRunner().invoke(
        command_line("promote"), ["promote", "--json", *arguments], env=environment
    )
    assert shown.exit_code == 0, shown.output
    found: list[Mapping[str, object]] = json.loads(shown.stdout)
    return found


def seen(*arguments: str, slots: Path | None = None) -> list[tuple[object, ...]]:
    """Return outcome, whom it is about, attribute and value of each line."""
    return [
        (each["outcome"], each["about"], each["attribute"], each["value"])
        for each in rows(*arguments, slots=slots)
    ]


def test_what_a_text_would_teach_is_shown_with_what_is_refused_and_why() -> None:
    text = "I live in Lisbon. Suppose I was allergic to nuts. Forget my phone number."
    assert seen("--text", text) == [
        ("learned", "user", "home_city", "Lisbon"),
        ("retracted", "user", "phone", ""),
        ("refused", "", "hypothetical", ""),
    ]
    [first, *_] = rows("--text", text)
    assert (first["said_by"], first["quote"]) == ("user", "I live in Lisbon.")


def test_an_answer_is_read_with_what_was_asked() -> None:
    assert seen("--text", "Lisbon.") == []
    asked = "Which city do you live in?"
    assert seen("--text", "Lisbon.", "--asked", asked) == [
        ("learned", "user", "home_city", "Lisbon")
    ]


def test_slots_of_ones_own_are_tried(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    text = "My meter number is 42-A7."
    mine.write_text(
        '[user.meter_number]\nkind = "identifier"\ntype = "code"\nnames = ["meter number"]\n',
        encoding="utf-8",
    )
    assert seen("--text", text, slots=mine) == [("learned", "user", "meter_number", "42-A7")]
    assert "meter_number" not in {attribute for _, _, attribute, _ in seen("--text", text)}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--text", "hi", "s-1"],
        ["--text", "hi", "--failed"],
        ["--text", "hi", "--dry-run"],
        ["--asked", "who?", "--failed"],
        ["--dry-run", "--failed"],
    ],
)
def test_options_that_do_not_go_together_are_told(arguments: list[str]) -> None:
    refused = CliRunner().invoke(command_line("promote"), ["promote", *arguments])
    assert refused.exit_code == 2, refused.output
