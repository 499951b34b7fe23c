"""Plain methods to find a sentence, and what of a question's answer they bring back."""

from __future__ import annotations

import math
import operator
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from evals.normal import tokens

Score: TypeAlias = Callable[[str, Sequence[str]], list[float]]  # higher is better
Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]

# A sentence ends at a mark that is followed by a capital or a digit, and not after a title.
ENDS = re.compile(
    r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bSt\.)(?<=[.!?])[\"')\u201d\u2019]*\s+|\n+"
)
TIME = re.compile(r"\b0?(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?")
COMMON = """a an and are as at be been by can could did do does for from had has have how i if in
    is it its me my of on or our so that the their them there they this to was we were what when
    where which who why will with would you your"""
STOP = frozenset(COMMON.split())


class Searcher(Protocol):
    """Ranks the sentences of one entity for a query: indices, best first."""

    def __call__(self, query: str, texts: Sequence[str], /) -> list[int]: ...


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, as they stand in it."""
    return [each.strip() for each in ENDS.split(text) if each and each.strip()]


def by_score(score: Score) -> Searcher:
    """Return the searcher that puts the best score first, and what came first where two tie."""

    def search(query: str, texts: Sequence[str]) -> list[int]:
        scores = score(query, texts)
        return sorted(range(len(texts)), key=lambda index: (-scores[index], index))

    return search


def nothing(_query: str, _texts: Sequence[str]) -> list[int]:
    """Find nothing."""
    return []


def at_random(query: str, texts: Sequence[str]) -> list[int]:
    """Return the sentences in an order that the query's text seeds."""
    order = list(range(len(texts)))
    random.Random(query).shuffle(order)  # noqa: S311 - a yardstick, no secret
    return order


def latest(_query: str, texts: Sequence[str]) -> list[int]:
    """Return the last sentences first."""
    return list(reversed(range(len(texts))))


class Bm25:
    """BM25 over words without stop words, the statistics of one entity's sentences.

    Source: Robertson and Zaragoza, "The probabilistic relevance framework" (2009).
    """

    def __init__(self, *, k1: float = 1.2, b: float = 0.75) -> None:
        self._k1, self._b = k1, b
        self._of: Sequence[str] | None = None
        self._counts: list[Counter[str]] = []
        self._rarity: dict[str, float] = {}

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text."""
        if self._of is not texts:
            self._read(texts)
        asked = [word for word in _words(query) if word in self._rarity]
        lengths = [counted.total() for counted in self._counts]
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        scores: list[float] = []
        for counted, length in zip(self._counts, lengths, strict=True):
            damped = self._k1 * (1 - self._b + self._b * length / (mean or 1.0))
            found = (
                self._rarity[w] * counted[w] * (self._k1 + 1) / (counted[w] + damped) for w in asked
            )
            scores.append(sum(found))
        return scores

    def _read(self, texts: Sequence[str]) -> None:
        self._of = texts
        self._counts = [Counter(_words(text)) for text in texts]
        within = Counter(word for counted in self._counts for word in counted)
        total = len(texts)
        self._rarity = {w: math.log(1 + (total - n + 0.5) / (n + 0.5)) for w, n in within.items()}


def cosine(embed: Embed) -> Score:
    """Return the score by the angle between vectors, which are made once for a list of texts."""
    known: dict[int, list[Sequence[float]]] = {}

    def score(query: str, texts: Sequence[str]) -> list[float]:
        if id(texts) not in known:
            known[id(texts)] = [unit(each) for each in embed(texts)]
        (asked,) = map(unit, embed([query]))
        return [dot(asked, each) for each in known[id(texts)]]

    return score


def fused(one: Score, other: Score, weight: float) -> Score:
    """Return both scores, each brought to 0..1 within the query: `weight` of the second."""

    def score(query: str, texts: Sequence[str]) -> list[float]:
        left, right = _scaled(one(query, texts)), _scaled(other(query, texts))
        return [(1 - weight) * a + weight * b for a, b in zip(left, right, strict=True)]

    return score


def contains(context: str, answers: Sequence[str]) -> bool:
    """Whether an accepted answer stands in the context, word for word.

    Of an answer that lists several things, each has to. How a number, a time of day, a hyphen or a
    plural is written does not count.
    """
    plain = _comparable(context)
    return any(all(_comparable(part) in plain for part in answer.split(", ")) for answer in answers)


def within(order: Sequence[int], texts: Sequence[str], costs: Sequence[int], budget: int) -> str:
    """Return the context of the best sentences that a budget of tokens has room for."""
    chosen: list[int] = []
    for index in order:
        if costs[index] <= budget:
            budget -= costs[index]
            chosen.append(index)
        if budget < 4:
            break
    return "\n".join(texts[index] for index in chosen)


def _comparable(text: str) -> str:
    timed = TIME.sub(lambda found: f"{int(found[1])}:{found[2] or '00'} {found[3]}m", text.lower())
    words = tokens(timed.replace("-", " "))
    return f" {' '.join(word.removesuffix('s') for word in words)} "


def _words(text: str) -> list[str]:
    return [_stem(word) for word in tokens(text) if word not in STOP]


def _stem(word: str) -> str:
    """Return a word without its commonest endings: both sides lose the same ones."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _scaled(scores: Sequence[float]) -> list[float]:
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(each - low) / (high - low) if high > low else 0.0 for each in scores]


def unit(vector: Sequence[float]) -> Sequence[float]:
    """Return the vector at length 1."""
    length = math.sqrt(sum(each * each for each in vector))
    return [each / length for each in vector] if length else vector


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the inner product: of unit vectors, their cosine."""
    product: float = sum(map(operator.mul, one, other))
    return product
