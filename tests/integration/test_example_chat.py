"""The chat of the examples: who goes away in mid-answer comes back and has missed nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx2
import pytest
import uvicorn

from agentjournal import Log
from agentjournal.settings import Settings
from examples.chat_app import chat_app
from tests.servers import connected, eventually

pytestmark = pytest.mark.stack


class Model:
    """A model that says what it is told to, when it is."""

    def __init__(self) -> None:
        self.words: asyncio.Queue[str | None] = asyncio.Queue()

    def says(self, *words: str | None) -> None:
        """Say these words; None ends the answer."""
        for word in words:
            self.words.put_nowait(word)

    async def __call__(self, messages: Sequence[Mapping[str, Any]]) -> AsyncIterator[str]:
        assert messages[-1]["role"] == "user"
        while (word := await self.words.get()) is not None:
            yield word


class Browser:
    """Shows what a page shows, and comes back as an `EventSource` does."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client, self._last_id = client, ""
        self.shown: dict[str, str] = {}
        self.offsets: list[int] = []

    @property
    def texts(self) -> list[str]:
        return list(self.shown.values())

    async def follow(self, until: Callable[[], bool]) -> None:
        """Follow the chat until then, and go away."""
        headers = {"Last-Event-ID": self._last_id} if self._last_id else {}
        request = self._client.stream("GET", "/chats/c/events", headers=headers)
        async with asyncio.timeout(30), request as response:
            async for event in httpx2.EventSource(response):
                self._show(event)
                if until():
                    return

    def _show(self, event: httpx2.ServerSentEvent) -> None:
        self._last_id = event.id
        said: Any = event.json()
        name = said["message_id"]
        if event.event == "message":
            self.shown[name] = said["text"]
            return
        self.offsets.append(said["offset"])
        before = self.shown.get(name, "") if said["offset"] else ""
        assert len(before) == said["offset"], "nothing is missing, nothing comes twice"
        self.shown[name] = before + said["text"]

    async def say(self, text: str) -> None:
        said = {"message_id": f"said-{text}", "text": text}
        (await self._client.post("/chats/c/messages", json=said)).raise_for_status()


@asynccontextmanager
async def chat_server(
    settings: Settings, model: Model, tenant: str
) -> AsyncGenerator[httpx2.AsyncClient]:
    """Serve the chat, and connect to it."""
    application = chat_app(connected(settings, tenant=tenant), model)
    config = uvicorn.Config(application, port=0, log_level="error", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        await eventually(lambda: server.started or serving.done())
        host, port = server.servers[0].sockets[0].getsockname()
        async with httpx2.AsyncClient(base_url=f"http://{host}:{port}", timeout=30) as client:
            yield client
    finally:
        server.should_exit = True
        await serving


@pytest.fixture
def tenant() -> str:
    return f"tenant-{uuid4().hex[:8]}"


async def answers(log: Log) -> list[tuple[str, str]]:
    messages = (await log.session("c").load()).messages
    return [(m.text, m.status) for m in messages if m.role == "assistant"]


async def test_who_comes_back_in_mid_answer_sees_all_of_it(journal: Settings, tenant: str) -> None:
    model = Model()
    async with chat_server(journal, model, tenant) as client:
        browser = Browser(client)
        await browser.say("Tell me.")
        model.says("Once ", "upon ")
        await browser.follow(lambda: browser.texts == ["Tell me.", "Once upon "])
        model.says("a ", "time")  # nobody listens
        await browser.follow(lambda: browser.texts[1:] == ["Once upon a time"])
        assert browser.offsets.count(0) >= 2, "it came to it anew"
        model.says(".", None)
        await browser.follow(lambda: browser.texts[1:] == ["Once upon a time."])
        await browser.say("More!")
        model.says("The end.", None)
        await browser.follow(lambda: browser.texts[2:] == ["More!", "The end."])


async def test_an_answer_is_recorded_though_nobody_listens(journal: Settings, tenant: str) -> None:
    model = Model()
    async with (
        chat_server(journal, model, tenant) as client,
        connected(journal, tenant=tenant) as log,
    ):
        browser = Browser(client)
        await browser.say("Tell me.")
        await browser.say("Tell me.")  # the browser had no answer to its request
        model.says("Once ")
        await browser.follow(lambda: browser.texts[1:] == ["Once "])
        model.says("upon a time.", None)
        async for recorded in log.session("c").events(follow=True):
            if recorded.type == "turn.ended":
                break
        assert await answers(log) == [("Once upon a time.", "complete")]
        await browser.follow(lambda: browser.texts == ["Tell me.", "Once upon a time."])
        assert "<form>" in (await client.get("/")).text


async def test_what_the_log_does_not_take_is_said(journal: Settings, tenant: str) -> None:
    model = Model()
    model.says("b", None)
    async with chat_server(journal, model, tenant) as client:
        said = {"message_id": "m-1", "text": "a"}
        too_long = await client.post(f"/chats/{'c' * 256}/messages", json=said)
        assert (too_long.status_code, "1 to 255 characters" in too_long.text) == (422, True)
        await client.post("/chats/c/messages", json=said)
        again = await client.post("/chats/c/messages", json=said | {"text": "b"})
        assert again.status_code == 422
