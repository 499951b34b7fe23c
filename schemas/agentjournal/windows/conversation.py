"""The conversation as entries: messages in their order, each call with its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any

from agentjournal.events import ReasoningPart, RefusalPart, TextPart, ToolCallPart
from agentjournal.state import Compaction, Message, SessionState
from agentjournal.tool_calls import ToolCall
from agentjournal.windows.answers import answers_of
from agentjournal.windows.tool_output import MAX_CHARACTERS, cut_output

NO_RESULT = "[no result is recorded for this call: whether it took effect is not known]"


@dataclass(frozen=True, slots=True)
class Result:
    """What the model is shown of a call's end."""

    call_id: str
    text: str
    is_error: bool = False
    version: int | None = None  # of its event; None: there is none yet


@dataclass(frozen=True, slots=True)
class Entry:
    """A message with the results of all its calls, which are never shown apart.

    `version` is that of the message. A `kept` one is never cut.
    """

    role: str
    parts: Sequence[Any]
    version: int
    name: str | None = None
    results: Sequence[Result] = ()
    kept: bool = False

    @property
    def text(self) -> str:
        """The text parts, a line break between two of them."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def calls(self) -> list[ToolCallPart]:
        """The calls that the model asks for."""
        return [part for part in self.parts if isinstance(part, ToolCallPart)]

    @property
    def key(self) -> tuple[int | None, ...]:
        """What the entry's content is a function of: events do not change."""
        if not self.results:  # as it is with most
            return (self.version,)
        return (self.version, *[result.version for result in self.results])

    def texts(self) -> Iterator[str]:
        """Yield all text that a model reads."""
        for part in self.parts:
            if isinstance(part, TextPart | RefusalPart):
                yield part.text
            elif isinstance(part, ToolCallPart):
                yield part.name
                yield part.arguments_text
            elif isinstance(part, ReasoningPart):
                yield from filter(None, (part.text, part.summary, part.encrypted))
        for result in self.results:
            yield result.text


def entries_of(state: SessionState, *, max_output: int = MAX_CHARACTERS) -> list[Entry]:
    """Return what is to be shown of a session: nothing that was retracted, rewound or compacted.

    A compacted stretch is its summary; system and developer messages in it stay. What people and
    other agents answered stands among the messages, where it came.
    """
    shown = _messages(state, max_output)
    told = [
        (version, Entry("user", [TextPart(text=text)], version))
        for version, text in answers_of(state)
        if not any(each.first_version <= version <= each.last_version for each in state.compactions)
    ]
    return [entry for _, entry in merge(shown, told, key=lambda placed: placed[0])]


def _messages(state: SessionState, max_output: int) -> list[tuple[int, Entry]]:
    """Return the messages and summaries, each with the version that it stands at."""
    shown: list[tuple[int, Entry]] = []
    summed_up: set[int] = set()
    for message in state.messages:
        if message.status in {"retracted", "rewound"}:
            continue
        is_kept = message.role in {"system", "developer"}
        over = next((c for c in state.compactions if _covers(c, message)), None)
        if over is not None and not is_kept and over.version not in summed_up:
            summed_up.add(over.version)
            shown.append((message.version, _summary(over)))
        if over is None or is_kept:
            results = [_result(state.calls[c.call_id], max_output) for c in message.tool_calls]
            version = message.version
            entry = Entry(message.role, message.parts, version, message.name, results, is_kept)
            shown.append((version, entry))
    return shown


def _covers(compaction: Compaction, message: Message) -> bool:
    return compaction.first_version <= message.version <= compaction.last_version


def _summary(compaction: Compaction) -> Entry:
    first, last = compaction.first_version, compaction.last_version
    lines = [f"[Summary of the conversation, versions {first} to {last}]", compaction.summary]
    if compaction.carried:
        lines.append("[Carried over as it was written]")
        lines += [f"{kind}: {value}" for kind, value in compaction.carried]
    return Entry("user", [TextPart(text="\n".join(lines))], compaction.version, kept=True)


def _result(call: ToolCall, max_output: int) -> Result:
    if call.outcome == "open":
        # A fork does not wait for what its parent's worker may still be at.
        return Result(call.call_id, NO_RESULT, version=call.version if call.is_inherited else None)
    text = _output_text(call)
    where = f"the result of call {call.call_id}, version {call.ended_version}"
    cut = cut_output(text, where, max_output)
    return Result(call.call_id, cut, call.outcome == "failed", call.ended_version)


def _output_text(call: ToolCall) -> str:
    if isinstance(call.output, str):
        return call.output
    if call.output:
        return "\n".join(part.text for part in call.output if isinstance(part, TextPart))
    return f"Error: {call.error.message}" if call.error is not None else ""
