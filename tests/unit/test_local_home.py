"""The stack's folder: its lock, its files, and what it says when it cannot be used."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from local.errors import AlreadyRunning, HomeUnusable
from local.home import Home, is_supervised, open_home, read_json, sole_supervisor, write_json


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def one_megabyte_free(_: Path) -> Usage:
    return Usage(10**12, 10**12 - 2**20, 2**20)


def test_a_new_folder_is_made_with_the_folders_above_it(tmp_path: Path) -> None:
    home = open_home(tmp_path / "a" / "b")
    assert home.path == tmp_path / "a" / "b"
    assert home.log("kafka").parent.is_dir()


def test_git_keeps_nothing_of_the_folder(tmp_path: Path) -> None:
    assert (open_home(tmp_path).path / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_one_supervisor_at_a_time(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    assert not is_supervised(home)
    with sole_supervisor(home):
        assert is_supervised(home)
        with pytest.raises(AlreadyRunning, match=str(tmp_path)), sole_supervisor(home):
            pass
        assert is_supervised(home)
    assert not is_supervised(home)


def test_a_look_at_the_lock_keeps_no_supervisor_out(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    for _ in range(20):
        is_supervised(home)
        with sole_supervisor(home):
            pass


def test_a_path_below_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HomeUnusable, match=f"{tmp_path}/file/home cannot be used"):
        open_home(tmp_path / "file" / "home")


@pytest.mark.skipif(not Path("/proc/1").exists(), reason="there is no /proc here")
def test_a_place_where_nothing_can_be_written_is_an_error_that_names_it() -> None:
    with pytest.raises(HomeUnusable, match="/proc/agentjournal"):
        open_home(Path("/proc/agentjournal"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(HomeUnusable, match=str(tmp_path)):
        open_home(tmp_path)


def test_a_full_disk_is_an_error_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", one_megabyte_free)
    with pytest.raises(HomeUnusable, match=f"{tmp_path} .*1 MB are free, and it takes 256 MB"):
        open_home(tmp_path)


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "stack.json"
    write_json(file, {"kafka": "127.0.0.1:1"})
    write_json(file, {"kafka": "127.0.0.1:2"})
    assert json.loads(file.read_text(encoding="utf-8")) == {"kafka": "127.0.0.1:2"}
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("content", ["", "{", "[1]", "7", '{"a":'])
def test_a_broken_file_reads_as_empty(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    assert read_json(tmp_path / "x.json") == {}
    assert read_json(tmp_path / "none.json") == {}


def test_a_long_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.home.LOG_BYTES", 10)
    home = Home(open_home(tmp_path).path)
    for text in (b"twelve bytes", b"new"):
        with home.open_log("kafka") as log:
            log.write(text)
    assert home.log("kafka").read_bytes() == b"new"
    assert (tmp_path / "logs" / "kafka.log.1").read_bytes() == b"twelve bytes"
