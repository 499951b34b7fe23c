"""What an event says, in a few words on one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from agentjournal.codec import encode
from agentjournal.events.wire import wire_form
from commands.harmless import one_line

_LONGEST_TEXT = 2_000  # of one field; what is longer is cut off anyway

Fields: TypeAlias = Mapping[str, Any]


def preview(event_type: str, fields: Any, most: int) -> str:
    """Return at most `most` characters about an event whose decoded `data` is `fields`."""
    if not isinstance(fields, Mapping):
        return one_line(_json(fields), most)
    words = _WORDS.get(event_type, _anything)
    return one_line(words(fields), most)


def part_text(part: Any) -> str:
    """Return the text of a part of a message or an output, or what stands for it."""
    match part:
        case {"type": "text" | "refusal", "text": str(text)}:
            return text
        case {"type": "reasoning"}:
            return str(part.get("text") or part.get("summary") or "")
        case {"type": "tool_call", "name": str(name)}:
            return f"→ {name}({part.get('arguments_text', '')})"
        case {"type": "provider"}:
            return f"[{part.get('provider')} part]"
        case {"type": str(kind)}:
            return f"[{' '.join((kind, *_media(part)))}]"
        case _:
            return _json(part)


def written_output(output: str | Sequence[Any] | None) -> Any:
    """Return what a tool gave back as it is written: text, or a list of parts."""
    return [wire_form(part) for part in output] if isinstance(output, list) else output


def output_text(output: Any) -> str:
    """Return the text of what a tool gave back: text, or parts of it."""
    if isinstance(output, list):
        return "\n".join(part_text(part) for part in output)
    return output if isinstance(output, str) else ""


def _media(part: Fields) -> list[str]:
    names = ("media_type", "alt", "uri", "file_id", "artifact")
    words = [str(part[name]) for name in names if part.get(name)]
    size = part.get("size")
    return [*words, f"{size:,} bytes"] if isinstance(size, int) else words


def _message(f: Fields) -> str:
    parts = f.get("parts")
    texts = [part_text(part) for part in parts] if isinstance(parts, list) else []
    return f"{f.get('role')}: {' '.join(text[:_LONGEST_TEXT] for text in texts)}"


def _tool_started(f: Fields) -> str:
    attempt = f.get("attempt", 1)
    again = f" attempt {attempt}" if attempt != 1 else ""
    return f"{f.get('tool')}({str(f.get('arguments_text'))[:_LONGEST_TEXT]}){again}"


def _tool_ended(f: Fields) -> str:
    error = f.get("error")
    if isinstance(error, Mapping):
        return f"{f.get('call_id')}: {error.get('type')}: {error.get('message')}"
    return f"{f.get('call_id')}: {output_text(f.get('output'))[:_LONGEST_TEXT]}"


def _model_called(f: Fields) -> str:
    model = f.get("response_model") or f.get("request_model")
    return f"{model} {f.get('input_tokens')} in, {f.get('output_tokens')} out, {f.get('status')}"


def _session_started(f: Fields) -> str:
    named = {"user": f.get("user"), "agent": f.get("agent"), "title": f.get("title")}
    return " ".join(f"{name} {value}" for name, value in named.items() if value)


def _note_set(f: Fields) -> str:
    return f"{f.get('key')} = {_json(f.get('value'))}"


def _only(*names: str) -> Callable[[Fields], str]:
    def words(f: Fields) -> str:
        return " ".join(str(f[name]) for name in names if f.get(name) is not None)

    return words


def _anything(f: Fields) -> str:
    return _json(f) if f else ""


def _json(value: Any) -> str:
    return encode(value).decode()[:_LONGEST_TEXT]


_WORDS: Mapping[str, Callable[[Fields], str]] = {
    "session.started": _session_started,
    "session.ended": _only("reason"),
    "session.deleted": _only("reason"),
    "turn.started": _only("trigger"),
    "turn.ended": _only("reason"),
    "message.added": _message,
    "message.retracted": _only("message_id", "reason"),
    "conversation.compacted": _only("summary"),
    "model.called": _model_called,
    "tool.started": _tool_started,
    "tool.completed": _tool_ended,
    "tool.failed": _tool_ended,
    "tool.settled": _tool_ended,
    "note.set": _note_set,
    "note.deleted": _only("key"),
    "decision.made": _only("question", "choice"),
}
