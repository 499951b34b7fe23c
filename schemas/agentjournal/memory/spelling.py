"""What is typed in haste, written out: `dont`, `im` and `weve` have lost their apostrophes.

The words that are read differ from those that were typed; quotes are of what was typed.
"""

from __future__ import annotations

import re

_START = (
    r"(?:^\W*|[,;:.]\s+|(?<![\w'])(?:but|so|ok|okay|yes|yeah|nah|no|then|because|bc|cause|since)\s)"
)
_TAKING = r"be|take|have|go|get|use|stay|stick|keep|pick|do|need|pay|make"
_BEING = r"not|now|all|both|still|a|an|on|at|in|with|going|done|(?!being)[a-z]{2,}ing"
_CHOOSING = r"keeping|dropping|staying|moving to|going with|switching|sticking"
_WHAT_IT_IS = (
    r"a|an|the|all|called|named|now|not|just|only|in|on|at|my|our|for|no|been|web|going|written"
    r"|hosted|built|based|due|actually|pure|\d[\w.]*"
)
_WRITTEN_OUT = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\b(do|does|did|is|are|was|have|has|had|would|could|should|ca|wo)nt\b", r"\1n't"),
        (r"\bim\b", "I'm"),
        (r"\bive\b", "I've"),
        (r"\b(you|they|we)(ve|re)\b(?<!were)", r"\1'\2"),
        (r"\b(that|there|here|what|who|he|she)s\b", r"\1's"),
        (rf"({_START})lets\b", r"\1let's"),
        (r"(?<![\w'])id (?=(?:like|love|prefer|rather|want|say|need|appreciate)\b)", "I'd "),
        (rf"({_START})ill (?=(?:{_TAKING})\b)", r"\1I'll "),
        (rf"({_START})were (?=(?:{_BEING})\b)", r"\1we're "),
        (rf"\b(and )were (?=(?:{_CHOOSING})\b)", r"\1we're "),
        (rf"\bits (?=(?:{_WHAT_IT_IS})\b)", "it's "),
        (r"(?<![\w'.-])(?:pls|plz)(?![\w'-])", "please"),
        (r"(?<![\w'.-])(?:bc|cuz|coz)(?![\w'-])", "because"),
    )
)
_ANY = re.compile(
    r"\b(?:\w{2,6}nt|im|ive|\w{2,4}ve|\w{2,4}re|\w{2,5}s|id|ill|pls|plz|bc|cuz|coz)\b",
    re.IGNORECASE,
)


def written_out(text: str) -> str:
    """Return a text with the apostrophes that its words lack."""
    if _ANY.search(text) is None:
        return text
    for pattern, instead in _WRITTEN_OUT:
        text = pattern.sub(instead, text)
    return text
