"""The extractor that asks a model as well: whatever that answers, what the rules find stands.

Facts of a model are kept for what they quote, never for what it says: they pass the gates of
`model_gates`. Its answers may differ from time to time, so a message is read by it once for each
version of the extractor, and not again where only something new was said.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from agentjournal.errors import NotConfigured
from agentjournal.events import Entity, Extractor
from agentjournal.memory.candidates import Extraction, Refused, Statement
from agentjournal.memory.extractors import RuleExtracting
from agentjournal.memory.model_asking import PROMPT, Question, answer_schema, questions_of
from agentjournal.memory.model_gates import Judging
from agentjournal.memory.model_settings import ModelSettings

if TYPE_CHECKING:
    from agentjournal.memory.openai_model import OpenAIModel

OVER_TOKENS = "model: over the tokens of a session"
OVER_SECONDS = "model: over the seconds of a session"
_KINDS = ("user", "account", "project")


@dataclass(frozen=True, slots=True)
class ModelExtracting:
    """The rules, and a model beside them. Its text goes to the endpoint that `settings` name.

    Raises NotConfigured where `openai` is not installed.
    """

    settings: ModelSettings
    rules: RuleExtracting = field(default_factory=RuleExtracting)

    def __post_init__(self) -> None:
        if find_spec("openai") is None:
            raise NotConfigured("a model needs `pip install 'agentjournal[model]'`")

    @property
    def extractor(self) -> Extractor:
        """The rules' name, so that either replaces what the other learned; version and model."""
        own, settings = self.rules.extractor, self.settings
        version = f"{own.version}+{settings.revision}.{PROMPT}.{settings.name}"
        return Extractor(name=own.name, version=version)

    async def extract(
        self, statements: Sequence[Statement], entities: Sequence[Entity]
    ) -> Extraction:
        """Return what the rules find, and what the model adds to it."""
        found = await self.rules.extract(statements, entities)
        about = _about(entities)
        judging = Judging(about, self.rules.slots, self.rules.rules, found.candidates)
        questions = list(questions_of(statements, about, self.rules.slots))
        if questions:
            await self._ask(questions, judging)
        candidates = sorted(
            [*found.candidates, *judging.candidates], key=lambda each: each.statement.version
        )
        return Extraction(candidates, [*found.refused, *judging.refused], found.summary)

    async def _ask(self, questions: Sequence[Question], judging: Judging) -> None:
        """Ask all that the budget of the session has room for, as long as there are answers."""
        # Importing it takes a second or two.
        module = await asyncio.to_thread(import_module, "agentjournal.memory.openai_model")
        settings, away = self.settings, ""
        until, left = time.monotonic() + settings.session_s, settings.session_tokens
        async with module.OpenAIModel(settings) as model:
            for question in questions:
                left_s = until - time.monotonic()
                reason = away or _over_budget(question, left, left_s)
                if reason:
                    judging.refused.append(Refused(reason, "", question.first))
                    continue
                tokens, away = await _asked(model, question, judging, left_s)
                left -= tokens


def _over_budget(question: Question, left: int, left_s: float) -> str:
    if left_s <= 0:
        return OVER_SECONDS
    return OVER_TOKENS if question.most_tokens > left else ""


async def _asked(
    model: OpenAIModel, question: Question, judging: Judging, left_s: float
) -> tuple[int, str]:
    """Ask one question; return about how many tokens it took, and why not to ask another."""
    from agentjournal.memory.openai_model import ModelFailedError  # noqa: PLC0415 - an extra

    try:
        answer = await model.ask(question, answer_schema(judging.about), left_s)
    except ModelFailedError as failed:
        judging.refused.append(Refused(failed.reason, "", question.first))
        return _taken(question, failed.tokens), failed.reason if failed.is_away else ""
    judging.take(answer.facts, question.citable, question.first)
    return _taken(question, answer.tokens), ""


def _taken(question: Question, stated: int | None) -> int:
    return question.most_tokens if stated is None else stated


def _about(entities: Sequence[Entity]) -> dict[str, Entity]:
    """Return the entities that are alone of their kind: of two nobody can say which is meant."""
    ids = {kind: {each.id for each in entities if each.kind == kind} for kind in _KINDS}
    return {each.kind: each for each in entities if len(ids[each.kind]) == 1}
