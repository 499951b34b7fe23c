"""The window of a session at one version: what is shown, and what is said to be gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from agentjournal.state import SessionState
from agentjournal.windows.anthropic import anthropic
from agentjournal.windows.budget import Cut, cut
from agentjournal.windows.conversation import entries_of
from agentjournal.windows.identifiers import Identifier
from agentjournal.windows.measures import Measures
from agentjournal.windows.openai_chat import openai_chat
from agentjournal.windows.openai_responses import openai_responses
from agentjournal.windows.tokens import Count, default_count
from agentjournal.windows.tool_output import MAX_CHARACTERS

WindowFormat: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic"]
MOST_TRIM_TO = 0.9


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was cut: whole turns, or steps of the last one, by the versions of their messages."""

    messages: int = 0
    tokens: int = 0
    first_version: int | None = None
    last_version: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """`messages` as the API takes them; `version` of the session they were taken at.

    `system` is what Anthropic takes beside them, empty for the others. `tokens` is None when no
    budget was given, since then nothing is counted. `lost_identifiers` stood in what was dropped,
    and stand nowhere in the window.
    """

    messages: list[dict[str, Any]]
    version: int
    system: list[dict[str, Any]]
    tokens: int | None
    dropped: Dropped
    lost_identifiers: list[Identifier]


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """What a window is to be; raises ValueError when it cannot be that."""

    max_tokens: int | None = None
    trim_to: float = 0.7
    format: WindowFormat = "openai-chat"
    max_output: int = MAX_CHARACTERS  # characters that are shown of one tool's output

    def __post_init__(self) -> None:
        if self.format not in get_args(WindowFormat):
            known = ", ".join(get_args(WindowFormat))
            raise ValueError(f"format {self.format!r} is not known: {known} are")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValueError(f"max_tokens={self.max_tokens} is less than 1")
        if not 0 < self.trim_to <= MOST_TRIM_TO:
            raise ValueError(f"trim_to={self.trim_to} is not above 0 and at most {MOST_TRIM_TO}")
        if self.max_output < 1:
            raise ValueError(f"max_output={self.max_output} is less than 1")


class Windows:
    """Makes windows of one session, and remembers what was measured of its events."""

    def __init__(self) -> None:
        self._measures: dict[tuple[Count, int], Measures] = {}

    def window(
        self, state: SessionState, options: WindowOptions, count: Count | None = None
    ) -> Window:
        """Return the window of `state`.

        Raises WindowTooSmall when what must be kept is over the budget, ValueError when tokens are
        to be counted and there is no tokenizer.
        """
        entries, tokens = entries_of(state, max_output=options.max_output), None
        chosen, dropped = Cut(shown=entries), Dropped()
        if options.max_tokens is not None:
            measures = self._measured(count or default_count(), options.max_output)
            chosen = cut(entries, measures, options.max_tokens, options.trim_to)
            tokens = chosen.tokens
            dropped = _dropped(chosen, measures)
        system, messages = _rendered(chosen, options.format)
        return Window(messages, state.version, system, tokens, dropped, chosen.lost)

    def _measured(self, count: Count, max_output: int) -> Measures:
        key = (count, max_output)
        if key not in self._measures:
            self._measures[key] = Measures(count)
        return self._measures[key]


def _dropped(chosen: Cut, measures: Measures) -> Dropped:
    if not chosen.dropped:
        return Dropped()
    versions = [entry.version for entry in chosen.dropped]
    tokens = sum(map(measures.tokens, chosen.dropped))
    return Dropped(len(chosen.dropped), tokens, min(versions), max(versions))


def _rendered(chosen: Cut, form: WindowFormat) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    match form:
        case "anthropic":
            return anthropic(chosen.shown)
        case "openai-responses":
            return [], openai_responses(chosen.shown)
        case "openai-chat":
            return [], openai_chat(chosen.shown)
