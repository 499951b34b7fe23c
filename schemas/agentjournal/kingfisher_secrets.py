"""Secrets in bytes, found by Kingfisher: rules of some hundred services, compiled to native code.

It works in this process and asks no network. Its rules name a form that a service gave its keys;
none goes by how random a text looks, so digests and ids are not taken for secrets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from kingfisher_sdk import Finding, Rules, Scanner

from agentjournal.secret_spans import Detect, Found

# Beside a secret the rules find what it is used with: names of accounts, addresses. Of these, what
# is secret itself.
_SECRET_COMPANION = re.compile("secret|passphrase|security-token|api-key|consumer-key")
_NAME_OF_ACCOUNT = re.compile("-id$")
_CATALOGUE = re.compile(r"^(?:betterleaks|kingfisher|veles)(?:\.secrets/|\.)")
_NOT_IN_KINDS = re.compile(r"[^A-Za-z0-9._-]+")


@cache
def detector(rules: tuple[str, ...] = ()) -> Detect:
    """Return what finds secrets, by rules of its own and those in the files `rules`.

    Its own are compiled once on a machine, which takes seconds, and kept in a folder for caches.
    """
    scanners = [_built_in()]
    if rules:
        scanners.append(Scanner(Rules(rules, builtins=False, confidence="low", cache=False)))

    def detect(text: bytes) -> Sequence[Found]:
        # Text with a NUL in every other byte is read as UTF-16, and then places are others.
        plain = text.replace(b"\0", b"\x01")
        found = (each for scanner in scanners for each in scanner.scan(plain))
        return [_found(each) for each in found if _is_secret(each)]

    return detect


@cache
def _built_in() -> Scanner:
    return Scanner(Rules())


def _found(finding: Finding) -> Found:
    place = finding.location
    return Found(place["start_offset"], place["end_offset"], kind_of(finding.rule_id))


def _is_secret(finding: Finding) -> bool:
    if finding.visible:
        return True
    kind = kind_of(finding.rule_id)
    return bool(_SECRET_COMPANION.search(kind)) and not _NAME_OF_ACCOUNT.search(kind)


def kind_of(rule_id: str) -> str:
    """Return the name of a rule without the name of the catalogue that it comes from."""
    return _NOT_IN_KINDS.sub("-", _CATALOGUE.sub("", rule_id))
