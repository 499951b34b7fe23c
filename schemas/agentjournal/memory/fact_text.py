"""A fact as a line of text."""

from __future__ import annotations

import re
from typing import Any

from agentjournal.codec import encode

_BETWEEN = re.compile(r"[/_]+")
FREE_TEXT = "text"  # the attribute of what fits no slot


def fact_text(attribute: str, value: Any) -> str:
    """Return what a fact says, like `seat preference: aisle`."""
    said = value if isinstance(value, str) else encode(value).decode()
    name = _BETWEEN.sub(" ", attribute).strip()
    return said if name in {"", FREE_TEXT} else f"{name}: {said}"
