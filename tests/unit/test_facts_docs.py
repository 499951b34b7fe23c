"""The page about facts runs as it stands there."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

from agentjournal.testing import memory_log

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "facts.md"


async def test_the_programs_of_the_page_run_one_after_the_other() -> None:
    blocks = re.findall(r"```python\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    async with memory_log() as log:
        names: dict[str, Any] = {"log": log}
        for block in blocks:
            code = compile(block, str(_PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            running = eval(code, names)
            if inspect.isawaitable(running):
                await running
    assert names["session"].id == "s-42"
