"""Postgres starts again after its pid was given to another program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from local.postgres_server import drop_stale_pid_file


def test_a_pid_file_with_the_pid_of_another_program_is_removed(tmp_path: Path) -> None:
    pid_file = tmp_path / "postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{tmp_path}\n")
    drop_stale_pid_file(tmp_path)
    assert not pid_file.exists()


def test_the_pid_file_of_a_server_of_this_folder_is_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(1000)", "-D", str(tmp_path)]
    with subprocess.Popen(command) as server:
        (tmp_path / "postmaster.pid").write_text(f"{server.pid}\n{tmp_path}\n")
        drop_stale_pid_file(tmp_path)
        server.kill()
    assert (tmp_path / "postmaster.pid").exists()


def test_the_pid_file_of_a_process_that_shows_no_command_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_command(_process: psutil.Process) -> list[str]:
        return []

    # What is between fork and exec looks like this, for too short a time to meet it on purpose.
    monkeypatch.setattr(psutil.Process, "cmdline", no_command)
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\n{tmp_path}\n")
    drop_stale_pid_file(tmp_path)
    assert (tmp_path / "postmaster.pid").exists()


@pytest.mark.parametrize("content", ["", "x\n", "\n"])
def test_a_damaged_pid_file_is_left_to_postgres(tmp_path: Path, content: str) -> None:
    (tmp_path / "postmaster.pid").write_text(content)
    drop_stale_pid_file(tmp_path)
    assert (tmp_path / "postmaster.pid").exists()
