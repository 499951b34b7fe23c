"""`agentjournal files` and `agentjournal revert` on real servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agentjournal import Log
from agentjournal.artifacts import digest_of
from agentjournal.errors import ArtifactNotFound
from agentjournal.events import FileChanged
from agentjournal.settings import Settings
from commands.app import command_line, main
from tests.support import message

pytestmark = pytest.mark.stack

BINARY = b"\0\xff" * 50_000  # more than an event holds


@pytest.fixture
def settings(named: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    kept = str(tmp_path / "store")
    monkeypatch.setenv("AGENTJOURNAL_ARTIFACTS", kept)
    return replace(named, artifacts=kept)


def invoke(*words: str) -> Result:
    return CliRunner().invoke(command_line(words[0]), words)


def tree(folder: Path) -> dict[str, bytes]:
    found = (each for each in folder.rglob("*") if each.is_file())
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in found}


def failed(monkeypatch: pytest.MonkeyPatch, words: Sequence[str]) -> int:
    monkeypatch.setattr("sys.argv", ["agentjournal", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


async def edited(settings: Settings) -> None:
    """Versions: 1 started, 2 a, 3 b, 4 a edited, 5 b deleted, 6 c."""
    async with Log(settings) as log:
        session = log.session("s")
        await session.file_changed("src/a.py", before=None, after=b"a = 1\n", call_id="c-1")
        await session.file_changed("b.bin", before=None, after=BINARY)
        await session.file_changed("src/a.py", before=b"a = 1\n", after=b"a = 2\n")
        await session.file_changed("b.bin", before=BINARY, after=None)
        await session.file_changed("c", before=None, after=b"")


def test_files_are_listed_and_written_as_they_were_at_each_version(
    settings: Settings, tmp_path: Path
) -> None:
    asyncio.run(edited(settings))
    expected = {
        1: {},
        2: {"src/a.py": b"a = 1\n"},
        3: {"src/a.py": b"a = 1\n", "b.bin": BINARY},
        4: {"src/a.py": b"a = 2\n", "b.bin": BINARY},
        5: {"src/a.py": b"a = 2\n"},
        6: {"src/a.py": b"a = 2\n", "c": b""},
    }
    for version, contents in expected.items():
        listed = invoke("files", "s", "--at", str(version), "--json")
        found = json.loads(listed.stdout)
        assert {each["path"]: (each["digest"], each["size"]) for each in found} == {
            path: (digest_of(content), len(content)) for path, content in contents.items()
        }
        into = tmp_path / f"at-{version}"
        reverted = invoke("revert", "s", "--to", str(version), "--into", str(into))
        assert (reverted.exit_code, reverted.stdout.split()) == (0, sorted(contents))
        assert tree(into) == contents
    shown = invoke("files", "s").stdout.splitlines()
    assert shown[0].split() == ["path", "version", "reason", "size", "digest"]
    assert [line.split()[:4] for line in shown[1:]] == [
        ["c", "6", "create", "0"],
        ["src/a.py", "4", "edit", "6"],
    ]


async def hostile(settings: Settings, outside: Path) -> None:
    """One file that can be written among those that cannot."""
    async with Log(settings) as log:
        session = log.session("h")
        for path in ("../x", str(outside / "y"), "good", "a\0b", "\x1b[2J/../.."):
            await session.file_changed(path, before=None, after=b"new")
        lost = digest_of(b"never saved")
        await session.append(
            [
                FileChanged(path="lost", reason="edit", after_digest=lost, artifact=lost),
                FileChanged(path="unknown", reason="edit"),
            ]
        )


def test_what_cannot_be_written_is_named_and_the_rest_is_written(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    outside, into = tmp_path / "outside", tmp_path / "top" / "into"
    outside.mkdir()
    asyncio.run(hostile(settings, outside))
    assert failed(monkeypatch, ["revert", "h", "--to", "8", "--into", str(into)]) == 1
    output, errors = capsys.readouterr()
    assert output == "good\n"
    assert sorted(errors.splitlines()) == sorted(
        [
            "../x: leads out of the folder",
            f"{outside}/y: is an absolute path",
            "a\\x00b: is no path of a file",
            "\\x1b[2J/../..: leads out of the folder",
            f"lost: {ArtifactNotFound(digest_of(b'never saved'))}",
            "unknown: nothing tells its content at version 8",
            "error: 6 of 7 files are not written",
        ]
    )
    assert (tree(tmp_path / "top"), tree(outside)) == ({"into/good": b"new"}, {})


def test_a_folder_that_holds_something_is_left_alone_unless_forced(
    settings: Settings, tmp_path: Path
) -> None:
    asyncio.run(edited(settings))
    into = tmp_path / "into"
    into.mkdir()
    (into / "mine").write_bytes(b"mine")
    (into / "c").write_bytes(b"other")
    before = tree(into)
    words = ("revert", "s", "--to", "6", "--into", str(into))
    refused = invoke(*words)
    assert refused.exit_code == 1
    assert "is not empty" in str(refused.exception)
    assert tree(into) == before
    assert invoke(*words, "--force").exit_code == 0
    assert tree(into) == {"mine": b"mine", "c": b"", "src/a.py": b"a = 2\n"}


async def talked(settings: Settings) -> None:
    async with Log(settings) as log:
        await log.session("t").append(message("a"))


def test_a_session_or_version_that_is_not_there_is_said_and_nothing_is_made(
    settings: Settings, tmp_path: Path
) -> None:
    asyncio.run(talked(settings))
    assert json.loads(invoke("files", "t", "--json").stdout) == []
    into = tmp_path / "into"
    for words, reason in (
        (("files", "nobody"), "there is no session nobody"),
        (("files", "t", "--at", "9"), "has no version 9"),
        (("revert", "t", "--to", "9", "--into", str(into)), "has no version 9"),
        (("revert", "nobody", "--to", "1", "--into", str(into)), "there is no session nobody"),
    ):
        refused = invoke(*words)
        assert refused.exit_code == 1
        assert reason in str(refused.exception)
    assert not into.exists()
