"""Text into sentences, without what is not the speaker's own: pasted, quoted, code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

HIDDEN = "\x00"  # stands for a character that the speaker did not say
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?(?:</\1\s*>|\Z)", re.DOTALL)
_CITED = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_FORWARDED = re.compile(
    r"^[ \t]*-{2,}[^\n]{0,60}\b(?:forwarded|original|begin|start)\b[^\n]{0,60}$.*"
    r"|^[ \t]*from:[^\n]*\n(?:[ \t]*(?:to|cc|bcc|date|sent|subject|reply-to):[^\n]*\n?)+.*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_MACHINE = re.compile(
    r"^[ \t]*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:INFO|WARN|ERROR|DEBUG|TRACE)\b|Traceback )"
    r".*$",
    re.MULTILINE,
)
_QUOTED = re.compile(
    r'"([^"\n]{2,400})"|`([^`\n]{2,400})`|“([^”\n]{2,400})”|«([^»\n]{2,400})»|„([^“”\n]{2,400})[“”]'
)
_JSON = re.compile(r"^[ \t]*[{\[]\s*[\"{\[].*?^[ \t]*[}\]]", re.MULTILINE | re.DOTALL)
_END = re.compile(r"[.!?…]+[\"'”\u2019)\]]*(?=\s|$)|\n+")
_NUMBERED = re.compile(r"[ \t]*\d{1,2}\.")
_LEADER = re.compile(r"\.{4,}")  # "Licence ....... MIT": what is behind the dots belongs to it
_BULLET = re.compile(r"[ \t]*(?:[-*•+\u2013]|\(?\d{1,2}[.)]|\(?[a-z][.)])[ \t]+|\s+")
_LETTER = re.compile(r"[^\W_]")
_LONGEST_WORD = 24  # characters that are looked at for an abbreviation
_SHORT_QUOTE = 2  # words: a name or a term, not what somebody said
_SHORT_COMMAND = 5  # words: what is run, not what a program said


class Sentence(NamedTuple):
    """A sentence as it was written, and where it begins in its text."""

    text: str
    start: int

    @property
    def is_question(self) -> bool:
        """Whether it ends as one."""
        return self.text.rstrip("\"'”\u2019)]! ").endswith("?")


@dataclass(frozen=True, slots=True)
class Splitting:
    """What a language adds: abbreviations that end no sentence, and what announces pasted text."""

    abbreviations: frozenset[str]
    announces: re.Pattern[str]


def own_sentences(text: str, how: Splitting) -> Iterator[Sentence]:
    """Yield the sentences that the speaker says, with what is not the speaker's own hidden."""
    shown = hide(text, how)
    start = 0
    for end in _ends(shown, how):
        skipped = _BULLET.match(shown, start, end)
        begin = skipped.end() if skipped else start
        piece = shown[begin:end].rstrip()
        if _LETTER.search(piece.replace(HIDDEN, "")):
            yield Sentence(piece, begin)
        start = end


def hide(text: str, how: Splitting) -> str:
    """Return a text of the same length with all that is pasted or quoted hidden."""
    for pattern in (_FENCED, _TAGGED, _FORWARDED, _CITED, _MACHINE, _JSON):
        text = pattern.sub(_hidden, text)
    if (announced := how.announces.search(text)) is not None:
        text = text[: announced.end()] + _hidden_text(text[announced.end() :])
    return _QUOTED.sub(_hidden_speech, text)


def _hidden(found: re.Match[str]) -> str:
    return _hidden_text(found[0])


def _hidden_text(text: str) -> str:
    return re.sub(r"[^\n]", HIDDEN, text)


def _hidden_speech(found: re.Match[str]) -> str:
    """Hide what somebody said; a quoted name or term stays, and so does a command in backticks."""
    inner = next(group for group in found.groups() if group is not None)
    most = _SHORT_COMMAND if found[0].startswith("`") else _SHORT_QUOTE
    if len(inner.split()) <= most:
        return found[0]
    return found[0][0] + _hidden_text(inner) + found[0][-1]


def _goes_on(text: str, found: re.Match[str]) -> bool:
    """Return whether dots end no sentence: they lead to a value, or number a line of a list."""
    line = text.rfind("\n", 0, found.start()) + 1
    is_list = "\n" in text and _NUMBERED.fullmatch(text, line, found.end()) is not None
    if not is_list and _LEADER.fullmatch(found[0]) is None:
        return False
    return bool(text[found.end() :].split("\n", 1)[0].strip())


def _ends(text: str, how: Splitting) -> Sequence[int]:
    ends: list[int] = []
    for found in _END.finditer(text):
        if found[0].isspace():
            ends.append(found.end())
            continue
        if _goes_on(text, found):
            continue
        word = text[max(0, found.start() - _LONGEST_WORD) : found.start() + 1].rsplit(None, 1)[-1]
        is_short = found[0] == "." and word.lstrip("(\"'").casefold() in how.abbreviations
        if not is_short:
            ends.append(found.end())
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return ends
