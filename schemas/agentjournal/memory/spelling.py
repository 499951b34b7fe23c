"""What is typed in haste, written out: `dont`, `im` and `weve` have lost their apostrophes.

The words that are read differ from those that were typed; quotes are of what was typed.
"""

from __future__ import annotations

from agentjournal.memory.talk import Talk


def written_out(text: str, talk: Talk) -> str:
    """Return a text with the apostrophes that its words lack."""
    if talk.hasty.search(text) is None:
        return text
    for pattern, instead in talk.written_out:
        text = pattern.sub(instead, text)
    return text
