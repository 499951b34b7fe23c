"""What docs/crash-safe-agents.md shows is run as it stands, one block after the other."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

from agentjournal.testing import memory_log

_PAGE = Path(__file__).parents[2] / "docs" / "crash-safe-agents.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


async def test_every_line_of_the_page_runs() -> None:
    blocks = _BLOCK.findall(_PAGE.read_text())
    assert len(blocks) > 5
    async with memory_log() as log:
        module: dict[str, Any] = {"log": log, "__name__": "page"}
        for block in blocks:
            code = compile(block, _PAGE.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            ran = eval(code, module)
            if inspect.isawaitable(ran):
                await ran
