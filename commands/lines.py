"""Styled lines with an indent: wrapped to a terminal's width, left whole where output is piped."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from commands.harmless import harmless
from commands.printing import print_line, terminal

_RULE = "─"
_MOST_RULE = 80


@dataclass(frozen=True, slots=True)
class Line:
    """A line of output; a rule is drawn on to the end of the line."""

    text: Text
    indent: int = 0
    rule: bool = False


def line(*parts: str | tuple[str, str], indent: int = 0, rule: bool = False) -> Line:
    """Return a line of parts, each a text or (text, style), shown harmlessly."""
    text = Text()
    for part in parts:
        written, style = (part, "") if isinstance(part, str) else part
        text.append(harmless(written), style)
    return Line(text, indent, rule)


def block(text: str, *, indent: int, style: str = "") -> list[Line]:
    """Return a line for each line of `text`."""
    return [line((each, style), indent=indent) for each in harmless(text).split("\n")]


def print_styled(lines: Iterable[Line]) -> None:
    """Print lines: with colours and wrapped on a terminal, plain and whole elsewhere."""
    if sys.stdout.isatty():
        write_styled(lines, terminal())
        return
    for each in lines:
        print_line(plain(each))


def write_styled(lines: Iterable[Line], console: Console) -> None:
    """Write lines to a console, none longer than it is wide."""
    for each in lines:
        text = each.text
        if each.rule:
            text = text.copy()
            left = min(console.width, _MOST_RULE) - text.cell_len - each.indent
            text.append(_RULE * max(0, left), "dim")
        text.overflow = "fold"
        # Padding that is not expanded makes no line of an empty text.
        indented = Padding(text, (0, 0, 0, each.indent), expand=False)
        console.print(indented if text.plain else text)


def plain(each: Line) -> str:
    """Return the line without styles."""
    text = " " * each.indent + each.text.plain
    if each.rule:
        text += _RULE * 3
    return text.rstrip()
