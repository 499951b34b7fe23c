"""Whose a fact is where several may be meant, and how a slot is called that is to be forgotten."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from agentjournal.memory.rules import Rules
from agentjournal.memory.slots import Slot


def called(slot: Slot, rules: Rules) -> str:
    """Return a pattern for a slot as it is called; what holds several values is named alone."""
    talk = rules.talk
    words = slot.names or (slot.attribute.replace("_", " "),)
    if slot.entity == "user" and slot.kind != "identifier":
        words = rules.slot_words.get(slot.attribute, (slot.attribute.replace("_", " "),))
    owner = talk.ours if slot.entity != "user" else talk.mine
    if slot.entity == "user" and slot.attribute in rules.slot_words:
        owner = talk.mine_or_that
    between = talk.former.pattern if slot.cardinality == "multiple" else r"\w+"
    named = "|".join(map(re.escape, words))
    called = (
        rf"\b(?:{owner.pattern}) (?:(?:{between}) )?(?<!{talk.not_behind.pattern})(?:{named})\b"
    )
    return rf"{called}(?! (?:{talk.another_thing.pattern})\b)"


def whose(kinds: Sequence[str], told: Sequence[str], rules: Rules, *, retracts: bool) -> list[str]:
    """Return which kind of entity is meant where several may be: the one whose words are said.

    Where both a company and a project may be meant, and neither one's words are said, it is the
    user's own. What is no longer so, of whom is not said, is so of none that it may be about.
    """
    words = _words_of_kinds(rules)
    for text in told:
        for kind in kinds:
            if kind in words and words[kind].search(text):
                return [kind]
    if "user" in kinds and len(kinds) > len(words):
        return ["user"]
    return list(kinds if retracts else kinds[:1])


@lru_cache(maxsize=16)
def _words_of_kinds(rules: Rules) -> Mapping[str, re.Pattern[str]]:
    """Return what tells that a project, or an account, is spoken of."""
    named = {kind: rules.templates.fragment(f"of_{kind}") for kind in ("project", "account")}
    return {kind: re.compile(text, re.IGNORECASE) for kind, text in named.items() if text}
