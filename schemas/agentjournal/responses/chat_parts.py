"""Content of chat messages as parts: what has a word becomes that part, the rest is kept raw."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from pydantic import ValidationError

from agentjournal.codec import encode
from agentjournal.events import (
    AudioPart,
    DocumentPart,
    ImagePart,
    Part,
    ProviderPart,
    ReasoningPart,
    Record,
    RefusalPart,
    TextPart,
    VideoPart,
)

PROVIDER = "openai"

_HEADER_OF_DATA_URL = re.compile(r"data:([A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+)[;,]")
_ENDING = re.compile(r"\.([A-Za-z0-9]{1,5})(?:[?#].*)?\Z", re.DOTALL)
_MEDIA_TYPES = {
    "bmp": "image/bmp",
    "csv": "text/csv",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "md": "text/markdown",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
}
# What reading a part raises that is not in the form that its type has.
_OTHER_FORM = (AttributeError, KeyError, TypeError, ValidationError)
_FIELD_NAME = re.compile("[^$\ud800-\udfff][^\ud800-\udfff]*")
Raw: TypeAlias = Mapping[str, Any]
Build: TypeAlias = Callable[[Raw], Part]


def content_parts(content: Any) -> list[Part]:
    """Return `content` of a message as parts; null has none."""
    if content is None:
        return []
    if isinstance(content, list):
        return [_part(item) for item in content]
    return [_part({"type": "text", "text": content} if isinstance(content, str) else content)]


def reasoning_parts(message: Raw) -> tuple[list[Part], set[str]]:
    """Return what a model thought, and the names of the fields that it was in."""
    parts: list[Part] = []
    taken: set[str] = set()
    blocks = message.get("thinking_blocks")
    if isinstance(blocks, list) and blocks:
        parts += [_thinking_block(block) for block in blocks]
        taken.add("thinking_blocks")
    shown = "".join(part.text or "" for part in parts if isinstance(part, ReasoningPart))
    for name in ("reasoning_content", "reasoning"):
        text = message.get(name)
        if isinstance(text, str):
            taken.add(name)
            if text and text != shown:  # else the blocks say it, with their signatures
                fields = {"text": text, "provider": PROVIDER, "field": name}
                parts.append(ReasoningPart.model_validate(fields))
                shown = shown or text
    return parts, taken


def unknown_fields(raw: Raw, taken: Collection[str], model: type[Record]) -> dict[str, Any]:
    """Return the fields that have no word here, as extra fields of a `model`.

    Names that the model uses itself, or cannot write, are kept in `provider_fields`.
    """
    plain: dict[str, Any] = {}
    awkward: dict[str, Any] = {}
    for name, value in raw.items():
        if name not in taken:
            fits = name not in {*model.model_fields, "content"} and _FIELD_NAME.fullmatch(name)
            (plain if fits else awkward)[name] = value
    return {**plain, "provider_fields": awkward} if awkward else plain


def as_text(value: Any) -> str:
    """Return text as it is, null as none, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else encode(value).decode()


def _part(raw: Any) -> Part:
    try:
        return _BUILD[raw["type"]](raw)
    except _OTHER_FORM:
        return ProviderPart(provider=PROVIDER, raw=raw)


def _thinking_block(raw: Any) -> Part:
    try:
        names = _THINKING[raw["type"]]
        fields = {to: raw[name] for name, to in names.items() if raw.get(name) is not None}
        rest = unknown_fields(raw, ("type", *names), ReasoningPart)
        fields = {**rest, **fields, "provider": "anthropic", "field": "thinking_blocks"}
        return ReasoningPart.model_validate(fields)
    except _OTHER_FORM:
        return ProviderPart(provider="anthropic", raw=raw)


_THINKING = {
    "thinking": {"thinking": "text", "signature": "signature"},
    "redacted_thinking": {"data": "encrypted"},
}


def _text(raw: Raw) -> Part:
    rest = unknown_fields(raw, ("type", "text"), TextPart)
    return TextPart.model_validate({**rest, "text": raw["text"]})


def _refusal(raw: Raw) -> Part:
    rest = unknown_fields(raw, ("type", "refusal"), RefusalPart)
    return RefusalPart.model_validate({**rest, "text": raw["refusal"]})


def _linked(name: str, model: type[ImagePart | VideoPart], otherwise: str) -> Build:
    def build(raw: Raw) -> Part:
        link = raw[name]
        link = {"url": link} if isinstance(link, str) else link
        rest = _both(
            unknown_fields(raw, ("type", name), model), unknown_fields(link, ("url",), model)
        )
        media_type = _media_type(link["url"], otherwise)
        return model.model_validate({**rest, "media_type": media_type, "uri": link["url"]})

    return build


def _audio(raw: Raw) -> Part:
    given = raw["input_audio"]
    media_type = f"audio/{given['format']}"
    rest = _both(
        unknown_fields(raw, ("type", "input_audio"), AudioPart),
        unknown_fields(given, ("data", "format"), AudioPart),
    )
    uri = f"data:{media_type};base64,{given['data']}"
    return AudioPart.model_validate({**rest, "media_type": media_type, "uri": uri})


def _file(raw: Raw) -> Part:
    given = raw["file"]
    uri, file_id = given.get("file_data"), given.get("file_id")
    named = _media_type(as_text(given.get("filename")), "application/octet-stream")
    rest = _both(
        unknown_fields(raw, ("type", "file"), DocumentPart),
        unknown_fields(given, ("file_data", "file_id"), DocumentPart),
    )
    fields = {
        **rest,
        **({"uri": uri} if uri is not None else {}),
        **({"file_id": file_id} if file_id is not None else {}),
        "media_type": _media_type(as_text(uri), named),
    }
    return DocumentPart.model_validate(fields)


def _both(outer: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    if outer.keys() & inner.keys():
        raise KeyError("the same name inside and outside: only the raw form keeps both")
    return {**outer, **inner}


def _media_type(url: str, otherwise: str) -> str:
    if header := _HEADER_OF_DATA_URL.match(url):
        return header[1][:255]
    ending = _ENDING.search(url[-200:]) if not url.startswith("data:") else None
    return _MEDIA_TYPES.get(ending[1].lower(), otherwise) if ending else otherwise


_BUILD: Mapping[str, Build] = {
    "text": _text,
    "refusal": _refusal,
    "image_url": _linked("image_url", ImagePart, "image/*"),
    "video_url": _linked("video_url", VideoPart, "video/*"),
    "input_audio": _audio,
    "file": _file,
}
