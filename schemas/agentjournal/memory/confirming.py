"""What a user confirms: a yes to a question that says how it is, read as if the user had said so.

Pure text in, text out. What the assistant offers, or asks leave for, is no such question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentjournal.memory.withdrawing import of_the_speaker

_SO = r"that(?:'s| is) (?:still )?(?:right|correct|true|it|me|so)"
_ME = r"i (?:still )?(?:do|am|have)"
_YES = re.compile(
    rf"\W*(?:yes|yeah|yep|yup|correct|right|exactly|indeed|absolutely|{_SO}|{_ME})\b"
    rf"(?:\W+(?:yes|correct|right|exactly|indeed|still|it (?:still )?is|please|thanks|thank you"
    rf"|{_SO}|{_ME})\b)*\W*",
    re.IGNORECASE,
)
_LEAD = (
    r"\W*(?:(?:so|and|then|ok|okay|alright|thanks|thank you|great|perfect|to confirm"
    r"|just to (?:confirm|check|be sure)|am i right that|is it (?:right|correct|true) that"
    r"|i take it|can you confirm(?: that)?|(?:shall|should|may|can) i"
    r" (?:note|remember|save|record|keep in mind)(?: down)? that)\b\W*){0,3}"
)
_TAG = re.compile(
    r",? (?:right|correct|is that (?:right|correct)|isn't it|aren't you|yes)\W*$", re.IGNORECASE
)
_DOING = "have|live|work|prefer|use|speak|eat|drink|drive|own|study|take|like|love|hate|avoid|need"
_FORMS = tuple(
    (re.compile(_LEAD + pattern, re.IGNORECASE), form)
    for pattern, form in (
        (r"(?P<rest>your [\w' -]{2,40}? (?:is|are) [^?\n]{2,120})", "{rest}"),
        (r"(?:is|are) (?P<who>your [\w' -]{2,40}?) (?:still |now )?(?P<rest>[^?\n]{2,120})", ""),
        (r"(?:you're|you are|are you)(?: still| now)? (?P<rest>[^?\n]{2,120})", "I'm {rest}"),
        (rf"(?:do )?you(?: still| now)? (?P<rest>(?:{_DOING})\b[^?\n]{{2,120}})", "I {rest}"),
    )
)
_OFFER = re.compile(
    r"\b(?:this|today|tonight|tomorrow|would you|shall we|or|the (?:following|order|booking))\b",
    re.IGNORECASE,
)


def confirmed(answer: str, asked: str) -> Iterator[str]:
    """Yield what a bare yes says to the last question: nothing for an offer, or for a choice."""
    questions = [each for each in asked.split("\n") if each.strip()]
    if not questions or _YES.fullmatch(answer) is None:
        return
    question = _TAG.sub("", questions[-1].strip().rstrip("?").rstrip())
    if _OFFER.search(question):
        return
    for pattern, form in _FORMS:
        if found := pattern.fullmatch(question):
            parts = found.groupdict()
            said = form.format_map(parts) or f"{parts['who']} is {parts['rest']}"
            yield of_the_speaker(said)
            return
