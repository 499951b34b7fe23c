"""The world outside, as a test has it: effects that happened, whoever crashed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that an agent did to the world."""

    name: str
    arguments: Mapping[str, Any]
    key: str | None  # the idempotency key that came with it

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.name}({given})"


class Ledger:
    """Stands for the servers that an agent acts on. It outlives every crash of the agent.

    As payment servers do, it acts once under a key, and gives its first answer to every repeat.
    """

    def __init__(self) -> None:
        self._effects: list[Effect] = []
        self._answers: dict[str, Any] = {}

    async def act(
        self, name: str, /, *, key: str | None = None, answer: Any = None, **arguments: Any
    ) -> Any:
        """Let an effect happen, and return its `answer`.

        The agent waits twice: while the request is on its way, when nothing has happened, and while
        the answer is, when it has.
        """
        await asyncio.sleep(0)
        answered = self.record(name, key=key, answer=answer, **arguments)
        await asyncio.sleep(0)
        return answered

    def record(
        self, name: str, /, *, key: str | None = None, answer: Any = None, **arguments: Any
    ) -> Any:
        """Let an effect happen at once, and return its `answer`."""
        if key is not None and key in self._answers:
            return self._answers[key]
        self._effects.append(Effect(name, arguments, key))
        if key is not None:
            self._answers[key] = answer
        return answer

    def has(self, key: str) -> bool:
        """Return whether something happened under a key: what a tool's `verify` asks."""
        return key in self._answers

    def answer_to(self, key: str) -> Any:
        """Return the answer to what happened under a key. Raises KeyError when nothing did."""
        return self._answers[key]

    def clear(self) -> None:
        """Let nothing have happened."""
        self._effects.clear()
        self._answers.clear()

    def __iter__(self) -> Iterator[Effect]:
        return iter(list(self._effects))

    def __len__(self) -> int:
        return len(self._effects)

    def __repr__(self) -> str:
        return f"<Ledger: {', '.join(map(str, self._effects)) or 'nothing happened'}>"
