"""A model behind an endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from functools import cache
from types import TracebackType
from typing import Any, NamedTuple, Self

import openai
import orjson
from httpx2 import create_ssl_context
from openai import AsyncOpenAI, DefaultAsyncHttpx2Client

from agentjournal.memory.candidates import UNREAD
from agentjournal.memory.model_asking import MAX_ANSWER_TOKENS, Question
from agentjournal.memory.model_settings import ModelSettings

NO_ANSWER = f"{UNREAD}the model did not answer in time"
NOT_REACHED = f"{UNREAD}the model could not be reached"
TOO_LARGE = f"{UNREAD}the model's answer is too large"
NO_JSON = f"{UNREAD}the model's answer is not of the form asked for"
CUT = f"{UNREAD}the model's answer was cut off"
DECLINED = f"{UNREAD}the model declined"
TOO_LONG = f"{UNREAD}more than the model can read at once"
STATUS = f"{UNREAD}the model's server answered "
_MOST_BYTES = 1_000_000  # of an answer
_OF_THIS_QUESTION = frozenset({400, 413, 422})  # another may be answered
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})  # OpenAI, llama.cpp


class Answer(NamedTuple):
    """What a model proposes, in no form that is checked yet; tokens as its server states them."""

    facts: list[object]
    tokens: int | None


class ModelFailedError(Exception):
    """There is no answer. `reason` says why, in fixed words; what was sent is not in it.

    `is_away`: the next question would fare no better. `tokens`: what it took all the same, as
    the server states it.
    """

    def __init__(self, reason: str, *, is_away: bool = False, tokens: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.is_away, self.tokens = reason, is_away, tokens


@cache
def _certificates() -> ssl.SSLContext:
    """Return whom to trust: reading that takes longer than all else that a client is made of."""
    return create_ssl_context()


class OpenAIModel:
    """Connections to a model, open until the end of the block."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._client = AsyncOpenAI(
            api_key=settings.key or "none",  # servers of one's own often want none
            base_url=settings.url,
            timeout=settings.timeout_s,
            max_retries=settings.retries,
            http_client=DefaultAsyncHttpx2Client(verify=_certificates()),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self._client.close()

    async def ask(self, question: Question, schema: Mapping[str, Any], timeout_s: float) -> Answer:
        """Return the answer; its server is asked again where that may help, within `timeout_s`.

        Raises ModelFailedError.
        """
        try:
            async with asyncio.timeout(min(timeout_s, self._settings.timeout_s)):
                return _answer(await self._sent(question, schema))
        except (TimeoutError, openai.APITimeoutError):
            raise ModelFailedError(NO_ANSWER, is_away=True) from None
        except openai.APIStatusError as error:
            raise _failed(error) from None
        except ModelFailedError:
            raise
        except Exception:  # noqa: BLE001 - of the client, of HTTP: the rules' result stands
            raise ModelFailedError(NOT_REACHED, is_away=True) from None

    async def _sent(self, question: Question, schema: Mapping[str, Any]) -> bytes:
        more: dict[str, Any] = {
            "max_completion_tokens": MAX_ANSWER_TOKENS,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "facts", "strict": True, "schema": dict(schema)},
            },
            **self._settings.parameters,
        }
        read = bytearray()
        completions = self._client.with_streaming_response  # so that no answer fills the memory
        async with completions.chat.completions.create(
            model=self._settings.name,
            messages=[
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.shown},
            ],
            extra_body=more,  # a server may know parameters that the client does not
        ) as response:
            async for part in response.iter_bytes():
                read += part
                if len(read) > _MOST_BYTES:
                    raise ModelFailedError(TOO_LARGE)
        return bytes(read)


def _failed(error: openai.APIStatusError) -> ModelFailedError:
    body = error.body if isinstance(error.body, dict) else {}
    if not _TOO_LONG.isdisjoint(str(body.get(name)) for name in ("code", "type")):
        return ModelFailedError(TOO_LONG)
    is_away = error.status_code not in _OF_THIS_QUESTION
    return ModelFailedError(f"{STATUS}{error.status_code}", is_away=is_away)


def _answer(read: bytes) -> Answer:
    try:
        given = orjson.loads(read)
    except ValueError:
        raise ModelFailedError(NO_JSON) from None
    facts, tokens = _facts(given), _tokens(given)
    if isinstance(facts, str):
        raise ModelFailedError(facts, tokens=tokens)
    return Answer(facts, tokens)


def _facts(given: Any) -> list[object] | str:
    """Return what is proposed, or why nothing is."""
    is_cut = False
    try:
        choice = given["choices"][0]
        is_cut = choice.get("finish_reason") == "length"
        if choice["message"].get("refusal"):
            return DECLINED
        facts = orjson.loads(choice["message"]["content"])["facts"]
    except (LookupError, TypeError, ValueError, AttributeError):
        return CUT if is_cut else NO_JSON
    return facts if isinstance(facts, list) else NO_JSON


def _tokens(given: Any) -> int | None:
    usage = given.get("usage") if isinstance(given, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    is_count = isinstance(total, int) and not isinstance(total, bool) and total >= 0
    return total if is_count else None
