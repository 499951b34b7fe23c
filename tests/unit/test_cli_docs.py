"""docs/cli.md speaks of every command, and of no other."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from commands.app import command_line

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_page_has_a_part_with_an_example_for_each_command() -> None:
    known = list(vars(typer.main.get_command(command_line()))["commands"])
    page = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^### `agentjournal ([\w-]+)`\n", page, flags=re.MULTILINE)
    described = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert sorted(described) == sorted(known)
    for name, text in described.items():
        assert f"\n$ agentjournal {name}" in text, name


def test_a_command_that_is_called_alone_is_the_same_as_among_all() -> None:
    every = vars(typer.main.get_command(command_line()))["commands"]
    for name in every:
        alone = vars(typer.main.get_command(command_line(name)))["commands"]
        assert name in alone
        assert len(alone) < len(every)
        assert alone[name].help == every[name].help
    # What is no command, or an option of all, has to look at every one.
    for word in (None, "--help", "nonsense"):
        assert set(vars(typer.main.get_command(command_line(word)))["commands"]) == set(every)
