"""A model's server on this machine: it answers what a test has it answer, well or badly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agentjournal.memory.model_settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: a status and a body, after a while; `dies` closes instead."""

    body: bytes = b""
    status: int = 200
    after_s: float = 0.0
    dies: bool = False
    endless: bool = False  # the body again and again


Answering: TypeAlias = Callable[[dict[str, Any]], Reply]


def fact(message: int, attribute: str, value: str, quote: str, **other: Any) -> dict[str, Any]:
    """Return a fact in the form that a model is asked for."""
    return {
        "message": message,
        "about": "user",
        "attribute": attribute,
        "op": "add",
        "quote": quote,
        "value": value,
        **other,
    }


def answered(facts: object, *, tokens: int | None = 100) -> Reply:
    """Return a completion with facts, as a good server has it."""
    return completed(json.dumps({"facts": facts}), tokens=tokens)


def completed(
    content: str | None,
    *,
    tokens: int | None = 100,
    finish_reason: str = "stop",
    **message: Any,
) -> Reply:
    """Return a completion with a text."""
    body: dict[str, Any] = {
        "id": "c-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
    }
    if tokens is not None:
        body["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": tokens}
    return Reply(json.dumps(body).encode())


@dataclass(slots=True)
class ModelServer:
    """What was asked of it, and what it answers next; the last answer is repeated."""

    answers: list[Reply | Answering] = field(default_factory=list[Reply | Answering])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keys: list[str] = field(default_factory=list[str])
    url: str = ""

    def settings(self, **changed: Any) -> ModelSettings:
        """Return the settings by which it is found."""
        given: dict[str, Any] = {"key": "k-1", "timeout_s": 10, **changed}
        return ModelSettings("test-model", self.url, **given)

    def shown(self, number: int = -1) -> list[dict[str, Any]]:
        """Return the messages that a question showed."""
        lines = self.asked[number]["messages"][1]["content"].splitlines()
        return [json.loads(line) for line in lines]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests."""
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        asked = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.asked.append(asked)
        self.keys.append(headers.get("authorization", ""))
        assert head[0].startswith("POST /v1/chat/completions ")
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        reply = answer if isinstance(answer, Reply) else answer(asked)
        await asyncio.sleep(reply.after_s)
        if reply.dies:
            return False
        length = 10**12 if reply.endless else len(reply.body)
        writer.write(
            f"HTTP/1.1 {reply.status} Any\r\ncontent-type: application/json\r\n"
            f"retry-after-ms: 1\r\ncontent-length: {length}\r\n\r\n".encode()
            + reply.body
        )
        while reply.endless:
            writer.write(reply.body)
            await writer.drain()
        await writer.drain()
        return True


@asynccontextmanager
async def model_server(*answers: Reply | Answering) -> AsyncGenerator[ModelServer]:
    """Run a server until the end of the block."""
    model = ModelServer(list(answers))
    running: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.add(asyncio.create_task(model.serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    model.url = f"http://{host}:{port}/v1"
    try:
        yield model
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def all_of(facts: Sequence[dict[str, Any]], *, tokens: int = 100) -> Answering:
    """Return who proposes of these facts those whose message is shown."""

    def answer(asked: dict[str, Any]) -> Reply:
        lines = asked["messages"][1]["content"].splitlines()
        shown = {json.loads(line)["message"] for line in lines}
        return answered([each for each in facts if each["message"] in shown], tokens=tokens)

    return answer
