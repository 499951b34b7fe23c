"""docs/plans-and-tasks.md: its Python runs, from the first line to the last."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

from agentjournal.testing import memory_log

_PAGE = Path(__file__).parents[2] / "docs" / "plans-and-tasks.md"


async def test_every_block_runs() -> None:
    done: list[str] = []

    async def work(step: Any, key: str) -> str:
        done.append(step.step_id)
        return key

    async def undeploy(result: str, key: str) -> None:
        assert result != key
        done.append("undeploy")

    blocks = re.findall(r"```python\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    async with memory_log() as log:
        names: dict[str, Any] = {"log": log, "work": work, "undeploy": undeploy}
        for block in blocks:
            code = compile(block, _PAGE, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            ran = eval(code, names)
            if inspect.isawaitable(ran):
                await ran
        assert done == ["build", "deploy", "tell", "undeploy"]
        plan = (await log.session("s-42").load()).plans["release-7"]
        assert {step.step_id: step.status for step in plan.steps.values()} == {
            "build": "rolled_back",
            "deploy": "rolled_back",
            "tell": "completed",
            "watch": "skipped",
            "undo:deploy": "completed",
        }
