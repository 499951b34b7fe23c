"""How often what is found has the answer: in ten sentences, and within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agentjournal.memory.passages import passages_of
from agentjournal.memory.ranking import bm25
from agentjournal.windows.tokens import default_count
from evals.data import Corpus, Question
from evals.intervals import Share
from evals.labelled import Entity, Happened, LabelledSession
from evals.promoting import Extractor
from evals.searching import (
    Bm25,
    Embed,
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
OURS = ("recall, lexical", "recall, fused")

Texts: TypeAlias = Mapping[str, Sequence[str]]  # by entity


@dataclass(frozen=True, slots=True)
class Method:
    """A way to find something: in which texts, and in which order."""

    texts: Texts
    search: Searcher


def methods(corpus: Corpus, extractor: Extractor, embed: Embed | None) -> dict[str, Method]:
    """Return every method by its name; those that need a model only where there is one."""
    passages = _cut(corpus, passages_of)
    plain = _cut(corpus, sentences)
    turns = _cut(corpus, lambda text: [text])
    found = {
        "nothing": Method(plain, nothing),
        "random sentences": Method(plain, at_random),
        "last sentences": Method(plain, latest),
        "last messages": Method(turns, latest),
        "BM25 over sentences": Method(plain, by_score(Bm25())),
        "BM25 over messages": Method(turns, by_score(Bm25())),
        "facts alone": Method(_facts(corpus, extractor), by_score(bm25)),
        OURS[0]: Method(passages, by_score(bm25)),
    }
    if embed is not None:
        near = cosine(embed)
        found["MiniLM over sentences"] = Method(plain, by_score(near))
        found["linear fusion over messages"] = Method(turns, by_score(fused(Bm25(), near, 0.4)))
        found[OURS[1]] = Method(passages, by_score(fused(bm25, near, 0.5)))
    found["source of the answer"] = Method({}, nothing)
    return found


def in_top(method: Method, questions: Sequence[Question]) -> Share:
    """Return how many questions have an accepted answer in the first ten that are found."""
    hits = 0
    for question in questions:
        texts = method.texts.get(question.entity, [])
        order = method.search(question.text, texts)[:TOP]
        context = "\n".join(texts[index] for index in order) or _source(method, question)
        hits += contains(context, question.answers)
    return Share(hits, len(questions))


def in_budgets(method: Method, questions: Sequence[Question]) -> dict[int, Share]:
    """Return for each budget how many questions have an accepted answer within so many tokens."""
    count = default_count()
    costs = {name: [count(text) + 1 for text in texts] for name, texts in method.texts.items()}
    hits = dict.fromkeys(BUDGETS, 0)
    for question in questions:
        texts = method.texts.get(question.entity, [])
        order = method.search(question.text, texts)
        for budget in BUDGETS:
            context = within(order, texts, costs.get(question.entity, []), budget)
            hits[budget] += contains(context or _source(method, question), question.answers)
    return {budget: Share(found, len(questions)) for budget, found in hits.items()}


def _source(method: Method, question: Question) -> str:
    """Return what the answer was taken from: of the method that is given nothing else."""
    return "" if method.texts else question.source


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
        found[name] = [f"{each.attribute}: {each.value}" for each in candidates]
    return found


def _message(name: str, place: int, text: str) -> Happened:
    parts = [{"type": "text", "text": text}]
    key = f"{name}:{place}"
    said = {"message_id": key, "role": "user", "parts": parts, "status": "complete"}
    return Happened(key, "2025-01-06T09:00:00Z", "message.added", said)
