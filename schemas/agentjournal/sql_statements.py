"""Statements kept in .sql files, each behind a `-- name: …` line."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import LiteralString, cast

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def read_statements(package: str, file: str) -> dict[str, LiteralString]:
    """Return the statements of a file by name."""
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    parts = _NAME.split(text)
    # The text comes from our own package, never from a caller: as good as written in the source.
    return {
        name: cast("LiteralString", sql.strip().rstrip(";"))
        for name, sql in zip(parts[1::2], parts[2::2], strict=True)
    }
