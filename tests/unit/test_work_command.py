"""Which function `agentjournal work MODULE:FUNCTION` works with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import typer

from commands.work import function_named

MODULE = """\
class Support:
    @staticmethod
    async def answer(run): ...

async def answer(run): ...
def no_coroutine(run): ...
nothing = None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of agents, which commands are called in."""
    (tmp_path / "some_agents.py").write_text(MODULE)
    (tmp_path / "half_agents.py").write_text("import nowhere_at_all\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_it_is_looked_for_from_the_current_folder() -> None:
    answer = function_named("some_agents:answer")
    assert (answer.__module__, answer.__name__) == ("some_agents", "answer")
    assert function_named("some_agents:Support.answer").__qualname__ == "Support.answer"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("some_agents", "'some_agents' is not MODULE:FUNCTION"),
        (":answer", "':answer' is not MODULE:FUNCTION"),
        ("no_agents:answer", "there is no module 'no_agents'"),
        ("some_agents.more:answer", "there is no module 'some_agents.more'"),
        ("some_agents:absent", "module 'some_agents' has no 'absent'"),
        ("some_agents:nothing", "module 'some_agents' has no 'nothing'"),
        ("some_agents:Support.absent", "module 'some_agents' has no 'Support.absent'"),
        ("some_agents:no_coroutine", "'some_agents:no_coroutine' is not an async function"),
    ],
)
def test_what_is_none_is_wrong_use(text: str, reason: str) -> None:
    with pytest.raises(typer.BadParameter) as wrong:
        function_named(text)
    assert wrong.value.message == reason


@pytest.mark.usefixtures("folder")
def test_what_the_module_itself_does_not_find_is_not_hidden() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):
        function_named("half_agents:answer")
