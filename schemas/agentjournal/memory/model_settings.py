"""Which model reads sessions beside the rules, where it answers, and what it may cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from agentjournal.errors import NotConfigured

_PREFIX = "AGENTJOURNAL_MODEL"
_MOST_NAME = 200  # characters: the name is a part of the extractor's version
_MOST_REVISION = 1_000_000
_MOST_RETRIES = 10


def _parameters() -> Mapping[str, Any]:
    return {"temperature": 0}


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """A model behind an endpoint that speaks OpenAI's chat completions.

    What users and assistants said in a session is sent to `url`. Raise `revision` when you change
    the model: what the new one reads then takes the place of what the old one had learned.
    `parameters` are put into every request.

    Raises NotConfigured for a value that cannot be.
    """

    name: str
    url: str
    key: str | None = field(default=None, repr=False)
    revision: int = 1
    timeout_s: float = 30.0  # an answer, with what is spent on trying again
    retries: int = 2
    session_s: float = 120.0  # that a promotion waits for all answers
    session_tokens: int = 60_000  # that a promotion may use: of what is sent, and of answers
    parameters: Mapping[str, Any] = field(default_factory=_parameters, hash=False)

    def __post_init__(self) -> None:
        if not 0 < len(self.name) <= _MOST_NAME or not self.name.isprintable():
            raise NotConfigured(f"model name {self.name!r}: 1 to {_MOST_NAME} printable characters")
        address = urlsplit(self.url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise NotConfigured(f"model url {self.url!r} is not http://… or https://…")
        for what, least, most in (
            ("revision", 0, _MOST_REVISION),
            ("timeout_s", 0.001, 3_600),
            ("retries", 0, _MOST_RETRIES),
            ("session_s", 0.001, 86_400),
            ("session_tokens", 1, 10**9),
        ):
            if not least <= getattr(self, what) <= most:
                raise NotConfigured(
                    f"model {what} {getattr(self, what)!r} is not between {least} and {most}"
                )


def model_settings(environment: Mapping[str, str]) -> ModelSettings | None:
    """Return the model that AGENTJOURNAL_MODEL and what begins so name; None: none is used.

    Raises NotConfigured, which names the variable.
    """
    name, url = environment.get(_PREFIX), environment.get(f"{_PREFIX}_URL")
    if not name and not url:
        return None
    if not name or not url:  # no text is sent where nobody said that it may
        raise NotConfigured(f"{_PREFIX} and {_PREFIX}_URL go together: set both, or none")
    given: dict[str, Any] = {}
    for what, read in _READ.items():
        variable = f"{_PREFIX}_{what.upper()}"
        if text := environment.get(variable):
            given[what] = _read(variable, text, read)
    return ModelSettings(name, url, environment.get(f"{_PREFIX}_KEY") or None, **given)


def _read(variable: str, text: str, read: Any) -> Any:
    try:
        return read(text)
    except ValueError as error:
        raise NotConfigured(f"{variable} is {text!r}: {error}") from error


def _object(text: str) -> Mapping[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("give it a JSON object")  # noqa: TRY004 - a text that cannot be read
    return found


_READ: Mapping[str, Any] = {
    "revision": int,
    "timeout_s": float,
    "retries": int,
    "session_s": float,
    "session_tokens": int,
    "parameters": _object,
}
