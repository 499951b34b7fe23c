"""A chat in the browser: who loses the connection comes back, and has missed nothing.

    uvicorn --factory --timeout-graceful-shutdown 5 examples.chat_app:app

Then open http://127.0.0.1:8000/#my-chat.

What the user says is an event. A worker answers it, here in the same process: so the answer is
recorded though nobody listens, and goes on elsewhere if this process is killed. The page follows
the session with server-sent events. Only messages that are recorded have an id, their version, with
which the browser comes back; of an answer that is being written it then gets all there is so far.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, FastAPI, Header, Request
from fastapi.responses import FileResponse, JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel

import agentjournal as aj

AGENT = "chat"
PAGE = Path(__file__).with_name("chat.html")

Model: TypeAlias = Callable[[Sequence[Mapping[str, Any]]], AsyncIterator[str]]


async def answer(model: Model, run: aj.Run) -> None:
    """Answer what the user said, piece by piece as the model says it."""
    while not run.answered:
        window = await run.window(max_tokens=8_000)
        async with run.stream_message() as message:
            async for text in model(window.messages):
                await message.write(text)


def chat_app(connecting: AbstractAsyncContextManager[aj.Log], model: Model) -> FastAPI:
    """Return the application, which works on the log as long as it runs."""

    @asynccontextmanager
    async def at_work(app: FastAPI) -> AsyncGenerator[None]:
        async with connecting as log:
            app.state.log = log
            working = log.work(agent=AGENT, concurrency=100, poll_s=0.1)
            answering = asyncio.create_task(working.run(partial(answer, model)))
            yield
            working.stop()
            await answering

    app = FastAPI(lifespan=at_work)
    app.include_router(routes)
    app.add_exception_handler(aj.AppendRejected, refused)
    app.add_exception_handler(aj.AppendIdReused, refused)
    return app


async def refused(_: Request, error: Exception) -> JSONResponse:
    """Say why the log does not take what came in."""
    return JSONResponse({"detail": str(error)}, status_code=422)


routes = APIRouter()


def log_of(request: Request) -> aj.Log:
    """Return the log of the application."""
    log: aj.Log = request.app.state.log
    return log


TheLog: TypeAlias = Annotated[aj.Log, Depends(log_of)]


class Said(BaseModel):
    """What the user says, under an id of the browser's: said again, it is said once."""

    message_id: str
    text: str


@routes.post("/chats/{chat}/messages", status_code=202)
async def say(chat: str, said: Said, log: TheLog) -> None:
    """Record what the user says. The answer comes to whoever follows."""
    message = aj.MessageAdded(role="user", content=said.text, message_id=said.message_id)
    await log.session(chat, agent=AGENT).append(message, append_id=said.message_id)


@routes.get("/chats/{chat}/events", response_class=EventSourceResponse)
async def follow(
    chat: str, log: TheLog, last_event_id: Annotated[int, Header()] = 0
) -> AsyncIterable[ServerSentEvent]:
    """Yield messages as they are recorded, and pieces of those that are being written."""
    async with aclosing(log.session(chat).live(after=last_event_id)) as items:
        async for item in items:
            if isinstance(item, aj.Delta):
                piece = {"message_id": item.message_id, "offset": item.offset, "text": item.text}
                yield ServerSentEvent(event="delta", data=piece)
            elif isinstance(item.event, aj.MessageAdded):
                yield ServerSentEvent(id=str(item.version), data=shown(item.event))


def shown(message: aj.MessageAdded) -> Mapping[str, str]:
    """Return a message as the page shows it."""
    text = "".join(part.text for part in message.parts if isinstance(part, aj.TextPart))
    return {"message_id": message.message_id, "role": message.role, "text": text}


@routes.get("/")
async def page() -> FileResponse:
    """Return the page."""
    return FileResponse(PAGE)


async def echo(messages: Sequence[Mapping[str, Any]]) -> AsyncIterator[str]:
    """Stand for a model: repeat what was said last, slowly."""
    for word in f"You said: {messages[-1]['content']}".split():
        await asyncio.sleep(0.2)
        yield f"{word} "


def app() -> FastAPI:
    """Return the application on the log that the environment names, or the stack nearby."""
    return chat_app(aj.connect(), echo)
