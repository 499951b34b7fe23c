"""docs/approvals-and-handoffs.md: its lines run, in their order."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import agentjournal
from agentjournal.testing import memory_log
from tests.agents import asks, says

PAGE = Path(__file__).parents[2] / "docs" / "approvals-and-handoffs.md"


class Bank:
    """Pays."""

    def __init__(self) -> None:
        self.paid: dict[str, int] = {}

    async def pay(self, amount: int, *, idempotency_key: str) -> str:
        self.paid[idempotency_key] = amount
        return f"paid {amount}"


async def test_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    program = (
        "async def main():\n" + textwrap.indent("\n".join(blocks), "    ") + "    return locals()"
    )
    script, bank = iter([asks("c", "pay", amount=10), says("It is paid.")]), Bank()

    async def model(_: Sequence[Any]) -> agentjournal.MessageAdded:
        return next(script)

    names: dict[str, Any] = {
        "agentjournal": agentjournal,
        "Any": Any,
        "Mapping": Mapping,
        "log": memory_log(),
        "bank": bank,
        "model": model,
    }
    exec(compile(program, str(PAGE), "exec"), names)
    found = await names["main"]()
    assert list(bank.paid.values()) == [10]
    assert (found["approval"].outcome, found["done"].outcome) == ("open", "completed")
    assert found["over_a_hundred"]({"amount": 100}) is None
    assert found["over_a_hundred"]({"amount": 101}).question == "Pay 101?"
    assert "[Handed over to billing]" in found["window"].messages[-1]["content"]
