"""A message in passages: sentences, which are what is found and shown."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_PASSAGE = 600  # characters; a longer sentence is cut between words
MAX_PASSAGES = 400  # of one message: what was pasted beyond it is found in the log alone
_END = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s|$)|[\u3002\uff01\uff1f]+|\n+")
_ABBREVIATIONS = frozenset(
    [
        "mr.",
        "mrs.",
        "ms.",
        "dr.",
        "prof.",
        "st.",
        "jr.",
        "sr.",
        "inc.",
        "ltd.",
        "co.",
        "no.",
        "vs.",
        "etc.",
        "e.g.",
        "i.e.",
        "approx.",
        "dept.",
        "z.b.",
        "bzw.",
        "usw.",
        "nr.",
        "str.",
    ]
)


def passages_of(text: str) -> list[str]:
    """Return the passages of a text in their order; none for a text without a letter or digit."""
    found: list[str] = []
    for sentence in _sentences(text):
        for passage in _cut(sentence):
            if any(character.isalnum() for character in passage):
                found.append(passage)
                if len(found) == MAX_PASSAGES:
                    return found
    return found


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if end[0] == "." and _ends_short(text[start : end.end()]):
            continue
        yield text[start : end.end()].strip()
        start = end.end()
    yield text[start:].strip()


def _ends_short(text: str) -> bool:
    """Whether the point at the end belongs to an abbreviation or an initial."""
    word = text[-20:].rsplit(None, 1)[-1].lstrip("(\"'\u201c\u2018").casefold()
    return word in _ABBREVIATIONS or (len(word) == 2 and word[0].isalpha())


def _cut(sentence: str) -> Iterator[str]:
    while len(sentence) > MAX_PASSAGE:
        at = sentence.rfind(" ", 1, MAX_PASSAGE)
        at = at if at > 0 else MAX_PASSAGE
        yield sentence[:at].strip()
        sentence = sentence[at:].strip()
    yield sentence
