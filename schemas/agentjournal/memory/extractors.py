"""What makes something of a session: the port, the rules alone, and what settings ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from agentjournal.events import Entity, Extractor
from agentjournal.memory.candidates import Extraction, Statement
from agentjournal.memory.extracting import EXTRACTOR, extract
from agentjournal.memory.rules import Rules, default_rules
from agentjournal.memory.slots import Slots, default_slots, read_slots

if TYPE_CHECKING:
    from agentjournal.settings import Settings

_QUICK = 200  # statements that are not worth a thread


class Extracting(Protocol):
    """What makes something of a session; `extractor` is its name and version."""

    @property
    def extractor(self) -> Extractor: ...

    async def extract(
        self, statements: Sequence[Statement], entities: Sequence[Entity]
    ) -> Extraction:
        """Return what is worth keeping. What it raises parks the session."""
        ...


@dataclass(frozen=True, slots=True)
class RuleExtracting:
    """The extractor that needs no model. With slots or rules of your own, give your own version."""

    slots: Slots = field(default_factory=default_slots)
    rules: Rules = field(default_factory=default_rules)
    extractor: Extractor = EXTRACTOR

    async def extract(
        self, statements: Sequence[Statement], entities: Sequence[Entity]
    ) -> Extraction:
        """Return what the rules find."""
        if len(statements) <= _QUICK:
            return extract(statements, entities, self.slots, self.rules)
        return await asyncio.to_thread(extract, statements, entities, self.slots, self.rules)


def extracting_of(settings: Settings) -> Extracting:
    """Return what settings ask for: the rules, with their slots, and a model if they name one.

    Raises NotConfigured for a file of slots that is not right, or without what a model needs.
    """
    rules = RuleExtracting(read_slots(settings.slots))
    if settings.model is None:
        return rules
    from agentjournal.memory.model_extracting import ModelExtracting  # noqa: PLC0415 - it needs us

    return ModelExtracting(settings.model, rules)
