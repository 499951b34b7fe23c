"""`agentjournal schemas`: what it prints, and what it will not do."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import yaml
from typer.testing import CliRunner, Result

from agentjournal.events import BUILT_IN
from commands.app import command_line
from commands.asyncapi import asyncapi_document
from commands.errors import CommandFailed
from commands.schemas import SCHEMAS, every_schema


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command_line("schemas"), ["schemas", *arguments])


@pytest.mark.parametrize("arguments", [["note.set"], ["note.set", "--version", "1"]])
def test_it_prints_the_schema_of_a_type_as_its_file_has_it(arguments: list[str]) -> None:
    file = SCHEMAS / "events" / "note.set" / "1.json"
    assert run(*arguments).stdout == file.read_text(encoding="utf-8")


def test_it_prints_what_stands_around_events() -> None:
    assert orjson.loads(run("envelope").stdout) == every_schema()["envelope.json"]


def test_without_a_type_it_lists_all() -> None:
    listed = [line.split()[:2] for line in run().stdout.splitlines()[1:]]
    assert listed[:3] == [["envelope", "-"], ["request-header", "-"], ["alert", "-"]]
    assert listed[3:] == [[name, str(of.schema_version)] for name, of in BUILT_IN.items()]


def test_it_prints_all_of_them_and_the_document_of_topics() -> None:
    assert orjson.loads(run("--json").stdout) == list(every_schema().values())
    assert yaml.safe_load(run("--asyncapi").stdout) == asyncapi_document()


def test_it_writes_the_files_of_the_documentation(tmp_path: Path) -> None:
    assert run("--write", str(tmp_path)).exit_code == 0
    made = sorted(file.relative_to(tmp_path) for file in tmp_path.rglob("*.*ml") if file.is_file())
    assert made == [Path("asyncapi.yaml")]
    for path in every_schema():
        assert (tmp_path / path).read_bytes() == (SCHEMAS / path).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["note.sett"], "there is no schema of 'note.sett'"),
        (["custom.mine"], "there is no schema of 'custom.mine'"),
        (["note.set", "--version", "2"], "note.set is at version 1 here, not at 2"),
        (["envelope", "--version", "1"], "envelope has no versions"),
    ],
)
def test_what_there_is_no_schema_of_is_said(arguments: list[str], reason: str) -> None:
    failed = run(*arguments).exception
    assert isinstance(failed, CommandFailed)
    assert str(failed).startswith(reason)


@pytest.mark.parametrize(
    "arguments",
    [
        ["note.set", "--asyncapi"],
        ["--json", "--asyncapi"],
        ["--version", "1"],
        ["note.set", "--version", "0"],
    ],
)
def test_what_does_not_go_together_is_wrong_use(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_folder_that_cannot_be_written_and_a_damaged_file_in_it_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = run("--write", str(tmp_path / "file" / "folder"))
    assert isinstance(nowhere.exception, CommandFailed)
    assert "cannot be written: " in str(nowhere.exception)
    (tmp_path / "envelope.json").write_text("{")
    damaged = run("--write", str(tmp_path))
    assert isinstance(damaged.exception, CommandFailed)
    assert "envelope.json: is no JSON" in str(damaged.exception)
