"""An event as one line of a session's history: its version, when, who, what and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from agentjournal.envelope import Recorded
from commands.harmless import one_line
from commands.lines import Line, line
from commands.previews import preview
from commands.times import date_and_milliseconds

_LEAST_PREVIEW = 30
_MOST_COLUMN = 32  # a longer name breaks the column of its own line only


def history_lines(events: Sequence[Recorded], width: int) -> Iterator[Line]:
    """Yield a line an event, in order; only what it says is cut to `width` cells.

    A cause that is an event of the same session is named by its version.
    """
    versions = {each.id: each.version for each in events}
    digits = len(str(events[-1].version)) if events else 0
    who_width = _column(map(_who, events))
    type_width = _column(one_line(each.type) for each in events)
    for each in events:
        start = "  ".join(
            (
                f"{each.version:>{digits}}",
                date_and_milliseconds(each.recorded_at),
                _padded(_who(each), who_width),
                _padded(one_line(each.type), type_width),
            )
        )
        why = _why(each, versions)
        left = max(_LEAST_PREVIEW, width - cell_len(start) - cell_len(why) - (4 if why else 2))
        says = Text(preview(each.type, each.data, left))
        says.truncate(left, overflow="ellipsis")
        parts = [start, *filter(None, (says.plain,))]
        yield line("  ".join(parts), (f"  {why}" if why else "", "dim"))


def _who(recorded: Recorded) -> str:
    names = [one_line(name) for name in (recorded.agent, recorded.worker) if name]
    return "/".join(names) or "-"


def _why(recorded: Recorded, versions: Mapping[str, int]) -> str:
    words: list[str] = []
    if recorded.causation_id is not None:
        version = versions.get(recorded.causation_id)
        cause = recorded.causation_id if version is None else f"version {version}"
        words.append(f"because of {one_line(cause)}")
    if recorded.correlation_id is not None:
        words.append(f"for {one_line(recorded.correlation_id)}")
    return ", ".join(words)


def _column(texts: Iterator[str]) -> int:
    return max((width for text in texts if (width := cell_len(text)) <= _MOST_COLUMN), default=0)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
