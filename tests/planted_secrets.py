"""Secrets that never were: one of nearly every kind that the detector knows, made from its rule.

They are made anew in every run, so that no file holds what looks like a key.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from kingfisher_sdk import Rules, Scanner

from agentjournal.kingfisher_secrets import kind_of

_PLAIN = string.ascii_letters + string.digits
_CLASSES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": f"{_PLAIN}_",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": _PLAIN,
    "CATEGORY_NOT_WORD": " -",
    "CATEGORY_NOT_DIGIT": string.ascii_letters,
}
_FLAGS = re.compile(r"\(\?[a-z]+\)")  # in the middle of an expression, where Python has none
_TRIES = 6


class Planted(NamedTuple):
    """A text that holds a secret of a kind."""

    kind: str
    text: str
    secret: str


@cache
def planted() -> Sequence[Planted]:
    """Return a text with a secret of each kind that one can be made of by its expression alone."""
    rules = Rules()
    scanner = Scanner(rules)
    parse: Callable[[str], Any] = import_module("re._parser").parse
    made = [
        found
        for rule in rules.metadata()
        if rule["visible"]
        and (found := _of_rule(rule["id"], parse, rules.detail(rule["id"])["pattern"], scanner))
    ]
    return [each for each in made if each.secret.strip()]


def _of_rule(rule_id: str, parse: Any, pattern: str, scanner: Scanner) -> Planted | None:
    try:
        tree = parse(_FLAGS.sub("", pattern.replace("[[:alnum:]]", "[a-zA-Z0-9]")))
    except re.error:  # Rust's expressions know more than Python's
        return None
    for seed in range(_TRIES):
        try:
            text = f" {_text(tree, random.Random(f'{rule_id} {seed}'), {})} "
        except IndexError:  # a class of which no character is known here
            return None
        for finding in scanner.scan(text):
            if finding.rule_id == rule_id:
                return Planted(kind_of(rule_id), text, finding.secret)
    return None  # it takes something beside it


def _text(tree: Any, chance: random.Random, groups: dict[int, str]) -> str:
    return "".join(_piece(str(kind), what, chance, groups) for kind, what in tree)


def _piece(kind: str, what: Any, chance: random.Random, groups: dict[int, str]) -> str:
    made = ""  # of a place, or of what stands before or behind
    match kind:
        case "LITERAL":
            made = chr(what)
        case "NOT_LITERAL":
            made = chance.choice([each for each in _PLAIN if ord(each) != what])
        case "ANY":
            made = chance.choice(_PLAIN)
        case "IN":
            made = _one_of(what, chance)
        case "BRANCH":
            made = _text(chance.choice(what[1]), chance, groups)
        case "SUBPATTERN":
            groups[what[0] or 0] = made = _text(what[3], chance, groups)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = what
            is_open = least and most >= 16 and str(inner[0][0]) in {"IN", "ANY"}
            times = min(int(most), max(least, 24)) if is_open else least
            made = "".join(_text(inner, chance, groups) for _ in range(times))
        case "ATOMIC_GROUP":
            made = _text(what, chance, groups)
        case "GROUPREF":
            made = groups.get(what, "")
        case _:
            pass
    return made


def _one_of(items: Any, chance: random.Random) -> str:
    held: set[str] = set()
    is_other = False
    for kind, what in items:
        match str(kind):
            case "NEGATE":
                is_other = True
            case "LITERAL":
                held.add(chr(what))
            case "RANGE":
                held |= {chr(each) for each in range(what[0], min(what[1], 127) + 1)}
            case _:
                held |= set(_CLASSES[str(what)])
    if is_other:
        held = set(_PLAIN) - held
    return chance.choice(sorted(held & set(_PLAIN)) or sorted(held))


def token(seed: str = "") -> str:
    """Return what looks like a token of GitHub, and is none."""
    chance = random.Random(f"token {seed}")
    return "ghp_" + "".join(chance.choice(_PLAIN) for _ in range(36))


def pem(seed: str = "") -> str:
    """Return what looks like a private key over several lines, and is none."""
    chance = random.Random(f"pem {seed}")
    lines = ["".join(chance.choice(_PLAIN) for _ in range(64)) for _ in range(8)]
    name = "RSA PRIVATE KEY"
    return "\n".join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"])
