"""How well passages answer a query: BM25 over their terms, fused with the likeness of vectors.

The statements in SQL compute the same figures over the same terms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from agentjournal.memory.terms import query_terms, terms_of

K1 = 1.2
B = 0.4  # how much length counts: passages are sentences, of nearly one length
MOST_OFTEN = 4  # a term that stands there more often counts as this often
VECTOR_SHARE = 0.5  # of the fused score
SHARE_OF_BEST = 0.5  # of a passage's score, that of the best beside it

K = TypeVar("K", bound=Hashable)


class Scored(NamedTuple):
    """A candidate: what BM25 gives it, and its cosine with the query; None: it has no vector."""

    lexical: float
    likeness: float | None


def bm25(query: str, texts: Sequence[str]) -> list[float]:
    """Return the score of each text; 0: none of the query's terms stands in it."""
    return bm25_of(query_terms(query), [Document.of(text) for text in texts])


class Document(NamedTuple):
    """A text: how often its terms stand in it, and how many there are."""

    often: Mapping[str, int]
    length: int

    @classmethod
    def of(cls, text: str) -> Document:
        """Return a text as it is counted."""
        terms = terms_of(text)
        return cls(Counter(terms), len(terms))


class Counted(NamedTuple):
    """What documents are scored among: how many there were, and how many terms in all of them."""

    documents: int
    terms: int


def bm25_of(
    asked: Sequence[str], documents: Sequence[Document], among: Counted | None = None
) -> list[float]:
    """Return the score of each document.

    `among` is more than the documents where some are gone. Source: Robertson and Zaragoza, The
    Probabilistic Relevance Framework (2009); the idf is never negative.
    """
    among = among or Counted(len(documents), sum(each.length for each in documents))
    average = max(among.terms / max(among.documents, 1), 1.0)
    idf: dict[str, float] = {}
    for term in asked:
        holding = sum(1 for each in documents if term in each.often)
        idf[term] = _idf(max(among.documents, holding), holding)
    return [
        sum(idf[t] * _weight(often[t], length / average) for t in asked if t in often)
        for often, length in documents
    ]


def _idf(documents: int, holding: int) -> float:
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def _weight(often: int, length: float) -> float:
    often = min(often, MOST_OFTEN)
    return often * (K1 + 1) / (often + K1 * (1 - B + B * length))


def fused(candidates: Mapping[K, Scored]) -> dict[K, float]:
    """Return one score from 0 to 1 for each candidate: both measures scaled by their most, added.

    Texts that have nothing in common have a cosine of 0 or so: that is where likeness begins.
    Where there are no vectors it is the lexical score alone. Source: Bruch et al., An Analysis of
    Fusion Functions for Hybrid Retrieval (2022).
    """
    most = max((each.lexical for each in candidates.values()), default=0.0) or 1.0
    alike = {key: max(each.likeness or 0.0, 0.0) for key, each in candidates.items()}
    if all(each.likeness is None for each in candidates.values()):
        return {key: each.lexical / most for key, each in candidates.items()}
    nearest = max(alike.values()) or 1.0
    return {
        key: (1 - VECTOR_SHARE) * each.lexical / most + VECTOR_SHARE * alike[key] / nearest
        for key, each in candidates.items()
    }


def with_the_best_beside(
    scores: Mapping[K, float], whole: Callable[[K], Hashable]
) -> dict[K, float]:
    """Return the scores, each half its own and half the best of the same whole.

    What answers a question often stands beside the sentence that has its words.
    """
    highest: dict[Hashable, float] = {}
    for key, score in scores.items():
        highest[whole(key)] = max(score, highest.get(whole(key), 0.0))
    return {
        key: (1 - SHARE_OF_BEST) * score + SHARE_OF_BEST * highest[whole(key)]
        for key, score in scores.items()
    }


def best(scores: Mapping[K, float], order: Iterable[K]) -> list[K]:
    """Return the keys of scores above 0, the highest first, equal ones as in `order`.

    Scores are equal to six places: what was added in another order differs behind these.
    """
    places = {key: place for place, key in enumerate(order)}
    found = [key for key, score in scores.items() if score > 0]
    return sorted(found, key=lambda key: (-round(scores[key], 6), places[key]))
