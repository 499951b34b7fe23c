"""The test file that docs/testing.md shows works as printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agentjournal.testing import MemoryLog

_PAGE = Path(__file__).parents[2] / "docs" / "testing.md"


def defined(*changes: tuple[str, str]) -> dict[str, Any]:
    """Return what the file defines, once it is changed."""
    [program] = re.findall(r"^```python\n(.*?)^```", _PAGE.read_text(), re.DOTALL | re.MULTILINE)
    for before, after in changes:
        assert before in program
        program = program.replace(before, after)
    module: dict[str, Any] = {"__name__": "test_agent"}
    exec(compile(program, "test_agent.py", "exec"), module)
    return module


def test_the_agent_that_is_shown_answers(agentjournal_log: MemoryLog) -> None:
    defined()["test_the_agent_answers"](agentjournal_log)


def test_the_agent_that_is_shown_can_be_killed_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    defined()["test_the_agent_can_be_killed_anywhere"]()
    assert "each came to what the uninterrupted run did" in capsys.readouterr().out


def test_an_agent_that_does_not_ask_fails_with_what_is_shown() -> None:
    careless = defined(("key=key, ", ""), ("if payments.has(key)", "if False"))
    with pytest.raises(AssertionError) as failure:
        careless["test_the_agent_can_be_killed_anywhere"]()
    [shown] = re.findall(r"^```text\n(.*?)\n```", _PAGE.read_text(), re.DOTALL | re.MULTILINE)
    which = r"await \d+ of \d+"
    assert re.sub(which, "await", str(failure.value)) == re.sub(which, "await", shown)
