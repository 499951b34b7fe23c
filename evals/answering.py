"""How often what is found has the answer: in ten sentences, and within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from agentjournal.ids import StreamId, Version
from agentjournal.memory.fact_text import fact_text
from agentjournal.memory.passages import passages_of
from agentjournal.memory.ranking import bm25
from agentjournal.memory.recalling import ranked
from agentjournal.memory.recalls import Asked, Found, Hit
from agentjournal.windows.tokens import default_count
from evals.data import Corpus, Question
from evals.intervals import Share
from evals.labelled import Entity, Happened, LabelledSession
from evals.promoting import Extractor
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
OURS = ("recall, lexical", "recall, fused")

STREAM = StreamId("user/evals/u")
NOW = datetime(2026, 1, 1, tzinfo=UTC)

Texts: TypeAlias = Mapping[str, Sequence[str]]  # by entity


@dataclass(frozen=True, slots=True)
class Method:
    """A way to find something: in which texts, and in which order."""

    texts: Texts
    search: Searcher


def methods(
    corpus: Corpus, extractor: Extractor, embed: Embed | None, ts_rank: Score | None
) -> dict[str, Method]:
    """Return every method by its name; those that need a model or a server where there is one."""
    facts = _facts(corpus, extractor)
    known = {name: [*facts[name], *each] for name, each in _cut(corpus, passages_of).items()}
    plain = _cut(corpus, sentences)
    turns = _cut(corpus, lambda text: [text])
    found = {
        "nothing": Method(plain, nothing),
        "random sentences": Method(plain, at_random),
        "last sentences": Method(plain, latest),
        "last messages": Method(turns, latest),
        "BM25 over sentences": Method(plain, by_score(Bm25())),
        "BM25 over messages": Method(turns, by_score(Bm25())),
        "facts alone": Method(facts, Recall(None)),
        OURS[0]: Method(known, Recall(None)),
    }
    if ts_rank is not None:
        found["ts_rank over sentences"] = Method(plain, by_score(ts_rank))
    if embed is not None:
        near = cosine(embed)
        found["MiniLM over sentences"] = Method(plain, by_score(near))
        found["linear fusion over messages"] = Method(turns, by_score(fused(Bm25(), near, 0.4)))
        found[OURS[1]] = Method(known, Recall(near))
    found["source of the answer"] = Method({}, nothing)
    return found


class Recall:
    """What `memory.recall` does, without its tables: the same scores, candidates and order."""

    def __init__(self, near: Score | None) -> None:
        self._near = near

    def __call__(self, query: str, texts: Sequence[str], /) -> list[int]:
        """Return the indices of what is found, best first."""
        lexical = bm25(query, texts)
        likeness = self._near(query, texts) if self._near else [None] * len(texts)
        chosen = {index for index in _most(lexical) if lexical[index] > 0}
        chosen |= set(_most(likeness)) if self._near else set()
        hits = [_hit(index, texts[index], lexical[index], likeness[index]) for index in chosen]
        lowest = min((each for each in likeness if each is not None), default=None)
        return [hit.number for hit, _ in ranked(Found(hits, lowest))]


def _most(scores: Sequence[float | None]) -> list[int]:
    """Return the indices of the candidates that a measure proposes."""
    order = sorted(range(len(scores)), key=lambda index: -(scores[index] or 0.0))
    return order[: Asked(STREAM, ()).most]


def _hit(index: int, text: str, lexical: float, likeness: float | None) -> Hit:
    return Hit(
        stream=STREAM,
        version=Version(1),
        number=index,
        tier="message",
        role="user",
        ref="",
        event_id="",
        text=text,
        said_at=NOW,
        lexical=lexical,
        likeness=likeness,
    )


@dataclass(frozen=True, slots=True)
class Answers:
    """How often what a method finds has the answer: in ten, and within each budget of tokens."""

    top: Share
    budgets: Mapping[int, Share]


def answers(method: Method, questions: Sequence[Question]) -> Answers:
    """Return how many questions have an accepted answer in what the method finds."""
    count = default_count()
    costs = {name: [count(text) + 1 for text in texts] for name, texts in method.texts.items()}
    hits: dict[int, int] = dict.fromkeys((TOP, *BUDGETS), 0)
    for question in questions:
        texts = method.texts.get(question.entity, [])
        order = method.search(question.text, texts)
        contexts: dict[int, str] = {TOP: "\n".join(texts[index] for index in order[:TOP])}
        for budget in BUDGETS:
            contexts[budget] = within(order, texts, costs.get(question.entity, []), budget)
        for name, context in contexts.items():
            hits[name] += contains(context or _source(method, question), question.answers)
    shares = {name: Share(found, len(questions)) for name, found in hits.items()}
    return Answers(shares.pop(TOP), shares)


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
        found[name] = [fact_text(each.attribute, each.value) for each in candidates]
    return found


def _message(name: str, place: int, text: str) -> Happened:
    parts = [{"type": "text", "text": text}]
    key = f"{name}:{place}"
    said = {"message_id": key, "role": "user", "parts": parts, "status": "complete"}
    return Happened(key, "2025-01-06T09:00:00Z", "message.added", said)
