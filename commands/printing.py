"""Output of commands: a table on a terminal, aligned plain lines elsewhere, or a JSON array."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from typing import Any, Literal, TypeVar

import orjson
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from commands.harmless import as_cell

T = TypeVar("T")

_GAP = 3  # between columns of a table on a terminal
_MOST_OPTIONAL = 32
_PAGE = 500  # rows that are held to find widths; later pages keep those of the first where piped


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    On a terminal a `short` one is never broken, and an `optional` one is left out where it is too
    narrow for all, the last first, or cut short.
    """

    name: str
    align: Literal["left", "right"] = "left"
    short: bool = False
    optional: bool = False


def terminal() -> Console:
    """Return standard output for styled text; what is printed is never read as markup."""
    _never_refuse(sys.stdout)
    return Console(markup=False, highlight=False, emoji=False)


def print_line(line: str) -> None:
    """Print a line at once, whatever the encoding of standard output can hold."""
    _never_refuse(sys.stdout)
    print(line, flush=True)


def print_rows(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under the names of their columns."""
    if sys.stdout.isatty():
        console = terminal()
        for page in _pages(rows, _PAGE, at_least_one=True):
            console.print(_table(columns, page, console.width))
        return
    _never_refuse(sys.stdout)
    for line in aligned(columns, rows):
        print(line)


def aligned(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a line of names and a line a row, two spaces between columns."""
    widths: list[int] = []
    for page in _pages(rows, _PAGE, at_least_one=True):
        shown = [[as_cell(cell) for cell in row] for row in page]
        if not widths:
            names = [as_cell(column.name) for column in columns]
            widths = [
                max(cell_len(row[at]) for row in (names, *shown)) for at in range(len(columns))
            ]
            shown = [names, *shown]
        for row in shown:
            cells = map(_padded, row, widths, columns)
            yield "  ".join(cells).rstrip()


def print_json_array(values: Iterable[Mapping[str, Any]]) -> None:
    """Print one JSON array, an object a line."""
    print_json_objects(orjson.dumps(value) for value in values)


def print_json_objects(objects: Iterable[bytes]) -> None:
    """Print one JSON array of objects that are JSON already, one a line."""
    before = b"[\n"
    for each in objects:
        sys.stdout.buffer.write(before + each)
        before = b",\n"
    sys.stdout.buffer.write(b"[]\n" if before == b"[\n" else b"\n]\n")
    sys.stdout.buffer.flush()


def print_json_line(line: bytes) -> None:
    """Print the bytes of one JSON value at once."""
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def say(line: str) -> None:
    """Tell something beside the output, on standard error."""
    _never_refuse(sys.stderr)
    print(line, file=sys.stderr, flush=True)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Table:
    shown = [[as_cell(cell) for cell in row] for row in rows]
    kept = _fitting(columns, shown, width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for at in kept:
        column = columns[at]
        table.add_column(
            Text(as_cell(column.name)),
            justify=column.align,
            no_wrap=column.short or column.optional,
            overflow="ellipsis" if column.optional else "fold",
            max_width=_MOST_OPTIONAL if column.optional else None,
        )
    for row in shown:
        table.add_row(*(Text(row[at]) for at in kept))
    return table


def _fitting(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    kept = list(range(len(columns)))
    names = [column.name for column in columns]
    widths = [max(cell_len(row[at]) for row in (names, *rows)) for at in kept]
    widths = [
        min(width, _MOST_OPTIONAL) if column.optional else width
        for width, column in zip(widths, columns, strict=True)
    ]
    for at in reversed(range(len(columns))):
        if sum(widths[each] + _GAP for each in kept) - _GAP > width and columns[at].optional:
            kept.remove(at)
    return kept


def _padded(cell: str, width: int, column: Column) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if column.align == "right" else cell + space


def _pages(rows: Iterable[T], size: int, *, at_least_one: bool) -> Iterator[list[T]]:
    rest = iter(rows)
    page = list(islice(rest, size))
    if at_least_one and not page:
        yield page
    while page:
        yield page
        page = list(islice(rest, size))


def _never_refuse(stream: Any) -> None:
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
