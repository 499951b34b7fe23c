"""The package's names: each is there, and asking for one loads no more than it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import agentjournal


@pytest.mark.parametrize("name", agentjournal.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(agentjournal, name) is getattr(agentjournal, name)
    assert name in dir(agentjournal)


def test_an_unknown_name_is_an_attribute_error_like_any_other() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(agentjournal, "nothing")  # noqa: B009 - a type checker knows that it is not there


_LOADED = "import sys; {}; print(sorted({{'aiokafka', 'psycopg', 'redis'}} & set(sys.modules)))"


@pytest.mark.parametrize(
    "statement", ["import agentjournal", "from agentjournal import Unavailable"]
)
def test_errors_are_had_without_the_drivers(statement: str) -> None:
    command = [sys.executable, "-c", _LOADED.format(statement)]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
