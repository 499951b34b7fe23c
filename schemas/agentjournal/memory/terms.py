"""The words that a text is found by: the same for what is kept and for what is asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

MAX_TERM = 64  # characters; what is longer is no word
MAX_TERMS = 64  # of a query: no question has more to say
# Whole numbers and words; a number keeps its point, so that 4.5 is not 4 and 5.
_WORD = re.compile(r"\d+(?:[.,:]\d+)+|\w+")
_LANGUAGE = "english"
# Words that stand in every other sentence. A question is asked with them, not about them.
_COMMON = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "against",
        "all",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "did",
        "do",
        "does",
        "doing",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "herself",
        "him",
        "himself",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "me",
        "more",
        "most",
        "my",
        "myself",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "ourselves",
        "out",
        "over",
        "own",
        "s",
        "same",
        "she",
        "should",
        "so",
        "some",
        "such",
        "t",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "themselves",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "you",
        "your",
        "yours",
        "yourself",
        "yourselves",
    ]
)


def terms_of(text: str) -> list[str]:
    """Return the stems of the words of a text that say something, in their order."""
    shown = unicodedata.normalize("NFKC", text).casefold()
    words = (word for word in _WORD.findall(shown) if word not in _COMMON)
    return [_stem(word) for word in words if len(word) <= MAX_TERM]


def query_terms(query: str) -> list[str]:
    """Return what a query asks for, each term once; a query of common words alone asks for none."""
    return list(dict.fromkeys(terms_of(query)))[:MAX_TERMS]


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer  # noqa: PLC0415 - for whoever searches only

    stem: Callable[[str], str] = snowballstemmer.stemmer(_LANGUAGE).stemWord
    return stem


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return _stemmer()(word)
