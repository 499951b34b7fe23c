"""What a user confirms: a yes to a question that says how it is, read as if the user had said so.

Pure text in, text out. What the assistant offers, or asks leave for, is no such question.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentjournal.memory.talk import Talk
from agentjournal.memory.withdrawing import of_the_speaker


def confirmed(answer: str, asked: str, talk: Talk) -> Iterator[str]:
    """Yield what a bare yes says to the last question: nothing for an offer, or for a choice."""
    questions = [each for each in asked.split("\n") if each.strip()]
    if not questions or talk.yes.fullmatch(answer) is None:
        return
    question = talk.so_tag.sub("", questions[-1].strip().rstrip("?").rstrip())
    if talk.offer.search(question):
        return
    for pattern, form in talk.confirming:
        if found := pattern.fullmatch(question):
            yield of_the_speaker(form.format_map(found.groupdict()), talk)
            return
