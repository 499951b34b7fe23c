"""Redaction of secrets, ready made: `connect(redact=Redactor())`. Needs `agentjournal[redact]`.

What it returns depends on the event alone, so an append that is sent again has the same bytes.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any

from agentjournal.errors import NotConfigured
from agentjournal.event_texts import Path, Place, Text, rebuilt, texts_of, with_texts
from agentjournal.events import Event
from agentjournal.secret_spans import Detect, Names, Span, may_hold, spans_of, with_marks

_LOG = logging.getLogger(__name__)

# A text under such a name is secret, whatever it looks like.
SECRET_FIELDS = (
    "*password",
    "*passwd",
    "*passphrase",
    "*secret",
    "*secret_key",
    "*api_key",
    "*access_token",
    "*refresh_token",
    "*auth_token",
    "*private_key",
    "authorization",
    "proxy_authorization",
)


class Redactor:
    """Replaces secrets in events by marks like `[redacted:github-pat]`, and counts them.

    An event that held some says so in its field `$redacted`: where, of which kind, and how many.
    """

    def __init__(
        self,
        *,
        fields: Collection[str] = SECRET_FIELDS,
        keep: Collection[str] = (),
        key: bytes | None = None,
        rules: Sequence[str | PathLike[str]] = (),
        detect: Detect | None = None,
    ) -> None:
        """`fields` name fields whose text is secret, `*x` those that end like it; case and
        punctuation do not matter. `keep` are kinds to leave as they are.

        With a `key`, which is a secret too, a mark has 8 digits that are the same for the same
        secret. `rules` are files of further rules, as Kingfisher has them. `detect` takes the place
        of it. Raises NotConfigured when it is needed and not installed, ValueError for rules that
        are none.
        """
        if key is not None and len(key) < 16:
            raise ValueError("a key has at least 16 bytes")
        self._names = Names(fields)
        self._keep, self._key = frozenset(keep), key
        files = tuple(fspath(each) for each in rules)
        self._detect = _detector(files) if detect is None else detect
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many secrets of each kind were replaced since this was made."""
        return MappingProxyType(dict(self._counts))

    def __call__(self, event: Event) -> Event:
        """Return the event without its secrets; itself when there is none in it."""
        texts = texts_of(event, self._opens)
        found = {
            index: kept
            for index, spans in spans_of(texts, self._detect, self._names).items()
            if (kept := [span for span in spans if span.kind not in self._keep])
        }
        if not found:
            return event
        form, places = with_texts(event, list(self._written(texts, found)), self._opens)
        redacted = rebuilt(event, form, _said(places, found))
        self._note(event.type, found)
        return redacted

    def _opens(self, json: str) -> bool:
        return may_hold(json, self._detect, self._names)

    def _written(self, texts: Sequence[Text], found: Mapping[int, list[Span]]) -> Iterator[str]:
        """Yield the texts, with marks. Keys of objects with the same mark stay apart."""
        taken: Counter[bytes] = Counter()
        for index, text in enumerate(texts):
            made = text.raw
            if index in found:
                made = with_marks(text.raw, found[index], self._key)
                if text.place.is_key:
                    taken[made] += 1
                    made = made if taken[made] == 1 else b"%s#%d" % (made, taken[made])
            yield made.decode("utf-8", "surrogatepass")

    def _note(self, event_type: str, found: Mapping[int, list[Span]]) -> None:
        counted = Counter(
            span.kind for spans in found.values() for span in spans if not span.is_rest
        )
        self._counts.update(counted)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items()))
        _LOG.warning("redacted in %s: %s", event_type, kinds)


def _said(places: Sequence[Place], found: Mapping[int, list[Span]]) -> list[dict[str, Any]]:
    """Return where there were how many secrets of which kind, as the event says it."""
    counted: Counter[tuple[Path, str]] = Counter()
    for index, spans in sorted(found.items()):
        for span in spans:
            counted[places[index].path, span.kind] += not span.is_rest
    return [
        {"path": list(path), "kind": kind, "count": count}
        for (path, kind), count in counted.items()
    ]


def _detector(rules: tuple[str, ...]) -> Detect:
    try:
        from agentjournal.kingfisher_secrets import detector  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise NotConfigured("redaction needs `pip install 'agentjournal[redact]'`") from error
    return detector(rules)
