"""Which stretches of an event's texts are secrets, and what stands in their place: plain functions.

All texts of an event are looked through at once, each on a line behind the name of its field: many
rules know a secret by what stands beside it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from agentjournal.event_texts import Path, Text

_MARK = re.compile(rb"\[redacted:[A-Za-z0-9._-]+(?::[0-9a-f]{8})?(?:#[0-9]+)?\]")
_LEAST = 6  # bytes that are left of what was found when the marks in it are not counted
_NAME_BYTES = 64
_MOST_NAMES = 10_000
_NOT_IN_WORDS = re.compile("[^a-z0-9]")
# Under a name of a secret: nothing, a mark, or where it is to be had.
_NO_VALUE = re.compile(
    rb"\s*|%s|\$.*|\{\{.*\}\}|<[^<>]*>|\*+|sha256:[0-9a-f]{64}" % _MARK.pattern, re.DOTALL
)
# In a file of variables or a command: `DB_PASSWORD=x`. Small letters are code, which looks it up.
_VARIABLE_BACKWARDS = re.compile(rb"[A-Z0-9_]{3,63}[A-Z](?![A-Za-z0-9_$%.-])")
_LONGEST_VARIABLE = 64
_IS_SET = re.compile(rb"=(?=[^\s=])")  # found first: it is quick to look for
_VALUE = re.compile(
    rb"\"([^\"\n]+)\"|'([^'\n]+)'|([^\s\"'`;,&|<>()\[\]{}\\]+)(?=[\s\"'`;,&|<>\\]|$)"
)
_NAME_IN_JSON = re.compile(r'"([^"\\]{1,255})"\s*+:')
_ESCAPED = re.compile(r"\\(u00[0-9a-f]{2}|[^u])", re.IGNORECASE | re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Found(NamedTuple):
    """A secret: its bytes from `start` up to `end`."""

    start: int
    end: int
    kind: str


class Span(NamedTuple):
    """A stretch of one text that is secret, wholly or `is_rest` of one that began in another."""

    start: int
    end: int
    kind: str
    is_rest: bool = False


Detect: TypeAlias = Callable[[bytes], Sequence[Found]]


class Names:
    """Names of fields whose text is secret, whatever it looks like: `*secret` for all endings."""

    def __init__(self, fields: Collection[str]) -> None:
        endings = {plain_name(each) for each in fields if each.startswith("*")} - {""}
        self._endings = sorted(endings, key=len, reverse=True)
        self._kinds: dict[str, str | None] = {}  # of names that were asked for
        self._whole = {plain_name(each) for each in fields if not each.startswith("*")}

    def kind(self, name: str) -> str | None:
        """Return what a text under this name is called when it is secret."""
        if name not in self._kinds:
            if len(self._kinds) >= _MOST_NAMES:
                self._kinds.clear()
            self._kinds[name] = self._kind(name)
        return self._kinds[name]

    def _kind(self, name: str) -> str | None:
        plain = plain_name(name)
        if plain in self._whole:
            return f"field.{plain}"
        ending = next((each for each in self._endings if plain.endswith(each)), None)
        return None if ending is None else f"field.{ending}"

    def are_in(self, json: str) -> bool:
        """Whether an object in JSON has such a name, or a text in it gives a variable a value."""
        raw = json.encode("utf-8", "surrogatepass")
        names = {*_NAME_IN_JSON.findall(json), *(name for name, _ in _variables(raw))}
        return any(map(self.kind, names))


def may_hold(json: str, detect: Detect, names: Names) -> bool:
    """Whether there may be a secret in JSON, however often it was put into a text."""
    while not names.are_in(json) and not detect(json.encode("utf-8", "surrogatepass")):
        plain = _ESCAPED.sub(_unescaped, json)
        if plain == json:
            return False
        json = plain
    return True


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped[1:], 16)) if escaped[0] == "u" else _ESCAPES.get(escaped, escaped)


def spans_of(texts: Sequence[Text], detect: Detect, names: Names) -> dict[int, list[Span]]:
    """Return the secret stretches of those texts that have any, by the index of the text."""
    spans: dict[int, list[Span]] = {}
    lines = [_line(text) for text in texts]
    ends = list(accumulate(map(len, lines)))
    starts = {at: end - len(texts[at].raw) - 1 for at, end in enumerate(ends)}
    for found in detect(b"".join(lines)):
        _place(found, range(bisect_right(ends, found.start), len(texts)), texts, starts, spans)
    _across(texts, detect, spans)
    for index, (place, raw) in enumerate(texts):
        if assigned := list(_assigned(raw, names)):
            spans.setdefault(index, []).extend(assigned)
        kind = names.kind(place.name)
        if kind is not None and not place.is_key and _NO_VALUE.fullmatch(raw) is None:
            spans.setdefault(index, []).append(Span(0, len(raw), kind))
    return {index: merged(found) for index, found in spans.items()}


def _variables(raw: bytes) -> Iterator[tuple[str, int]]:
    """Yield the names of variables that are set in a text, and where their values begin."""
    for match in _IS_SET.finditer(raw):
        end = match.start()
        name = _VARIABLE_BACKWARDS.match(raw[max(0, end - _LONGEST_VARIABLE - 1) : end][::-1])
        if name is not None:
            yield name[0][::-1].decode(), match.end()


def _assigned(raw: bytes, names: Names) -> Iterator[Span]:
    """Yield the values of variables whose names are those of secrets."""
    for name, start in _variables(raw):
        kind = names.kind(name)
        if kind is None or (value := _VALUE.match(raw, start)) is None:
            continue
        number = value.lastindex or 0
        if _NO_VALUE.fullmatch(value[number]) is None:
            yield Span(*value.span(number), kind)


def plain_name(name: str) -> str:
    """Return a field's name without case and punctuation, as names are compared."""
    return _NOT_IN_WORDS.sub("", name.lower())


def _line(text: Text) -> bytes:
    name = text.place.name.encode("utf-8", "surrogatepass")[:_NAME_BYTES].replace(b"\n", b" ")
    return b"%s: %s\n" % (name, text.raw)


def _place(
    found: Found,
    among: Sequence[int],
    texts: Sequence[Text],
    starts: Mapping[int, int],
    spans: dict[int, list[Span]],
) -> None:
    """Put the stretches of what was found where they are; what is a field's name is no secret."""
    is_rest = False
    for index in among:
        if starts[index] >= found.end:
            break
        raw = texts[index].raw
        start, end = max(found.start - starts[index], 0), min(found.end - starts[index], len(raw))
        if start < end and not _is_marked(raw[start:end]):
            spans.setdefault(index, []).append(Span(start, end, found.kind, is_rest))
            is_rest = True


def _across(texts: Sequence[Text], detect: Detect, spans: dict[int, list[Span]]) -> None:
    """Find what is cut: its beginning ends one text, and the next one goes on with it."""
    runs: dict[Path, list[int]] = {}
    for index, text in enumerate(texts):
        if text.place.run is not None:
            runs.setdefault(text.place.run, []).append(index)
    for indexes in runs.values():
        if len(indexes) == 1:
            continue
        ends = list(accumulate(len(texts[index].raw) for index in indexes))
        starts = dict(zip(indexes, [0, *ends], strict=False))
        for found in detect(b"".join(texts[index].raw for index in indexes)):
            if any(found.start < seam < found.end for seam in ends):
                _place(found, indexes, texts, starts, spans)


def _is_marked(raw: bytes) -> bool:
    """Whether what was found is a mark, and nothing much besides."""
    return len(_MARK.sub(b"", raw)) < _LEAST and _MARK.search(raw) is not None


def merged(spans: Sequence[Span]) -> list[Span]:
    """Return the stretches in their order; those that overlap are one, of the longest's kind."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        last = kept[-1] if kept else None
        if last is None or span.start >= last.end:
            kept.append(span)
            continue
        longest = max(last, span, key=lambda each: each.end - each.start)
        kept[-1] = Span(
            last.start, max(last.end, span.end), longest.kind, last.is_rest and span.is_rest
        )
    return kept


def mark(kind: str, secret: bytes, key: bytes | None) -> bytes:
    """Return what stands in place of a secret: with a `key`, the same for the same secret.

    Without a key nothing of the secret is in it. A digest that anybody can compute would tell
    whoever guesses a short password that the guess is right.
    """
    if key is None:
        return b"[redacted:%s]" % kind.encode()
    digest = hmac.new(key, secret, hashlib.sha256).hexdigest()[:8]
    return b"[redacted:%s:%s]" % (kind.encode(), digest.encode())


def with_marks(raw: bytes, spans: Sequence[Span], key: bytes | None) -> bytes:
    """Return a text with a mark in place of every one of its secrets."""
    made: list[bytes] = []
    at = 0
    for span in spans:
        made += raw[at : span.start], mark(span.kind, raw[span.start : span.end], key)
        at = span.end
    return b"".join((*made, raw[at:]))
