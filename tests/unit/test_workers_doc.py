"""What docs/workers.md shows is run as it stands, one block after the other."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

from agentjournal import MessageAdded
from agentjournal.testing import memory_log

_PAGE = Path(__file__).parents[2] / "docs" / "workers.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


async def test_every_line_of_the_page_runs() -> None:
    blocks = _BLOCK.findall(_PAGE.read_text())
    assert len(blocks) == 4
    async with memory_log() as log, asyncio.timeout(10):

        async def ask_the_model(_: Any) -> MessageAdded:
            module["working"].stop()
            return MessageAdded(role="assistant", content="On its way.")

        module: dict[str, Any] = {"log": log, "ask_the_model": ask_the_model, "__name__": "page"}
        for number, block in enumerate(blocks):
            if number == 3:  # somebody says something more
                asked = MessageAdded(role="user", content="Are you sure?")
                await log.session("s-42").append(asked)
            code = compile(block, _PAGE.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            ran = eval(code, module)
            if inspect.isawaitable(ran):
                await ran
        state = await log.session("s-42").load()
    assert [message.text for message in state.messages] == [
        *("Where is my order?", "On its way.", "Are you sure?", "On its way."),
    ]
