"""A role of the local stack is started with what its user meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentjournal.settings import STACK_FILE, Settings, find_settings
from local.home import open_home
from local.roles import role_command, role_program

SETTINGS = Settings("127.0.0.1:1", "postgresql://127.0.0.1:2/x", "redis://127.0.0.1:3")


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a role whose folder is that of the stack."""
    program = role_program(open_home(home), role_command("janitor"), SETTINGS)
    assert program.folder == home
    return {**os.environ, **program.environment}


def test_files_are_those_that_the_user_named_from_where_he_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("AGENTJOURNAL_LIMITS", "limits.toml")
    monkeypatch.setenv("AGENTJOURNAL_SLOTS", "/etc/slots.toml")
    monkeypatch.setenv("AGENTJOURNAL_ARTIFACTS", "~/artifacts")
    found = environment(tmp_path / "stack")
    assert found["AGENTJOURNAL_LIMITS"] == str(tmp_path / "limits.toml")
    assert found["AGENTJOURNAL_SLOTS"] == "/etc/slots.toml"
    assert found["AGENTJOURNAL_ARTIFACTS"] == "/home/me/artifacts"


@pytest.mark.parametrize("said", ["", "s3://bucket/prefix"])
def test_what_names_no_folder_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("AGENTJOURNAL_ARTIFACTS", said)
    monkeypatch.setenv("AGENTJOURNAL_LIMITS", "")
    found = environment(tmp_path / "stack")
    assert (found["AGENTJOURNAL_ARTIFACTS"], found["AGENTJOURNAL_LIMITS"]) == (said, "")


def test_roles_have_the_artifacts_of_the_stack_folder_as_its_clients_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AGENTJOURNAL_ARTIFACTS", raising=False)
    home = tmp_path / "stack"
    found = find_settings(environment=environment(home), folder=tmp_path)
    (home / STACK_FILE).write_text('{"kafka": "k:1", "postgres": "postgresql://", "redis": "r"}')
    client = find_settings(environment={"AGENTJOURNAL_HOME": str(home)}, folder=tmp_path)
    assert found.artifacts == client.artifacts == str(home / "artifacts")
