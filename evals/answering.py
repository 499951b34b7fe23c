"""How often what is found has the answer: in ten sentences, and within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from agentjournal.memory.fact_text import fact_text
from agentjournal.memory.ranking import bm25
from evals.data import Corpus, Question
from evals.intervals import Share
from evals.labelled import Entity, Happened, LabelledSession
from evals.promoting import Extractor
from evals.recalling import FUSED, LEXICAL, Recalling, line_tokens
from evals.searching import (
    Bm25,
    Embed,
    Score,
    Searcher,
    at_random,
    by_score,
    contains,
    cosine,
    fused,
    latest,
    nothing,
    sentences,
    within,
)

TOP = 10
BUDGETS = (256, 512, 1_024, 2_048)
OURS = (LEXICAL, FUSED)

Texts: TypeAlias = Mapping[str, Sequence[str]]  # by entity


class Method(Protocol):
    """A way to find what answers a question."""

    def top(self, question: Question) -> str:
        """Return the first ten texts that are found."""
        ...

    def within(self, question: Question, budget: int) -> str:
        """Return what is found for a budget of tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """A plain method: texts, each by itself, in the order of a searcher."""

    texts: Texts
    search: Searcher
    costs: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def top(self, question: Question) -> str:
        """Return the first ten texts."""
        texts, order = self._found(question)
        return "\n".join(texts[index] for index in order[:TOP])

    def within(self, question: Question, budget: int) -> str:
        """Return the first texts that there is room for."""
        texts, order = self._found(question)
        if question.entity not in self.costs:
            self.costs[question.entity] = list(map(line_tokens, texts))
        return within(order, texts, self.costs[question.entity], budget)

    def _found(self, question: Question) -> tuple[Sequence[str], list[int]]:
        texts = self.texts.get(question.entity, [])
        return texts, self.search(question.text, texts)


@dataclass(frozen=True, slots=True)
class Recall:
    """What `memory.recall` answers, by its own code and statements."""

    recalling: Recalling

    def top(self, question: Question) -> str:
        """Return the ten sentences that answer best."""
        return "\n".join(self.recalling(question.entity, question.text))

    def within(self, question: Question, budget: int) -> str:
        """Return what it gives for a budget."""
        return "\n".join(self.recalling(question.entity, question.text, budget))


class Source:
    """The passage that the answer was taken from, whatever it takes."""

    def top(self, question: Question) -> str:
        """Return the passage."""
        return question.source

    def within(self, question: Question, budget: int) -> str:
        """Return the passage."""
        del budget
        return question.source


def methods(
    corpus: Corpus,
    extractor: Extractor,
    embed: Embed | None,
    ts_rank: Score | None,
    recallings: Mapping[str, Recalling],
) -> dict[str, Method]:
    """Return every method by its name; those that need a model or a server where there is one."""
    plain = _cut(corpus, sentences)
    turns = _cut(corpus, lambda text: [text])
    found: dict[str, Method] = {
        "nothing": Plain(plain, nothing),
        "random sentences": Plain(plain, at_random),
        "last sentences": Plain(plain, latest),
        "last messages": Plain(turns, latest),
        "BM25 over sentences": Plain(plain, by_score(Bm25())),
        "BM25 over messages": Plain(turns, by_score(Bm25())),
        "facts alone": Plain(_facts(corpus, extractor), by_score(bm25)),
    }
    if ts_rank is not None:
        found["ts_rank over sentences"] = Plain(plain, by_score(ts_rank))
    if embed is not None:
        near = cosine(embed)
        found["MiniLM over sentences"] = Plain(plain, by_score(near))
        found["linear fusion over messages"] = Plain(turns, by_score(fused(Bm25(), near, 0.4)))
    found |= {name: Recall(each) for name, each in recallings.items()}
    found["source of the answer"] = Source()
    return found


@dataclass(frozen=True, slots=True)
class Answers:
    """How often what a method finds has the answer: in ten, and within each budget of tokens."""

    top: Share
    budgets: Mapping[int, Share]


def answers(method: Method, questions: Sequence[Question]) -> Answers:
    """Return how many questions have an accepted answer in what the method finds."""
    every = len(questions)
    return Answers(
        Share(sum(contains(method.top(each), each.answers) for each in questions), every),
        {
            budget: Share(
                sum(contains(method.within(each, budget), each.answers) for each in questions),
                every,
            )
            for budget in BUDGETS
        },
    )


def _cut(corpus: Corpus, cut: Callable[[str], Sequence[str]]) -> Texts:
    return {
        name: [part for message in messages for part in cut(message)]
        for name, messages in corpus.messages.items()
    }


def _facts(corpus: Corpus, extractor: Extractor) -> Texts:
    """Return what promotion keeps of the conversations, as text."""
    found: dict[str, Sequence[str]] = {}
    for name, messages in corpus.messages.items():
        events = [_message(name, place, text) for place, text in enumerate(messages)]
        entities = (Entity("user", name),)
        session = LabelledSession(name, entities, tuple(events), (), frozenset(), ())
        candidates = extractor.read(session)[0].candidates
        found[name] = [fact_text(each.attribute, each.value) for each in candidates]
    return found


def _message(name: str, place: int, text: str) -> Happened:
    parts = [{"type": "text", "text": text}]
    key = f"{name}:{place}"
    said = {"message_id": key, "role": "user", "parts": parts, "status": "complete"}
    return Happened(key, "2025-01-06T09:00:00Z", "message.added", said)
