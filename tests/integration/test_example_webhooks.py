"""The webhooks of the examples, sent to a receiver that fails, is slow, and comes back."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI, Request, Response
from standardwebhooks import Webhook

from agentjournal import ApprovalRequested, Log, Retry
from agentjournal.settings import Settings
from examples.webhooks import SENT, sender
from tests.servers import connected, eventually
from tests.serving import eventually_parked, run, service_of
from tests.subscriber import group
from tests.support import message

pytestmark = pytest.mark.stack

SECRET = "whsec_" + base64.b64encode(b"a secret of at least 24 bytes").decode()


class Receiver:
    """Takes each webhook once, by its id; what it does with a request is told beforehand."""

    def __init__(self) -> None:
        self.taken: dict[str, dict[str, Any]] = {}
        self.requests = 0
        self.next: list[str] = []  # "down", "slow" or, by default, "up"
        self.is_down = False

    async def receive(self, request: Request) -> Response:
        self.requests += 1
        how = "down" if self.is_down else self.next.pop(0) if self.next else "up"
        if how == "down":
            return Response(status_code=503)
        payload = Webhook(SECRET).verify(await request.body(), dict(request.headers))
        self.taken.setdefault(request.headers["webhook-id"], payload)
        if how == "slow":
            await asyncio.sleep(1)  # it was taken, and nobody waits for the answer any more
        return Response(status_code=204)

    def questions(self, session: str) -> list[str]:
        """Return what was asked in a session, in the order that it came."""
        return [
            each["data"]["question"]
            for each in self.taken.values()
            if each["stream"].endswith(f"/{session}")
        ]


@asynccontextmanager
async def receiving() -> AsyncGenerator[tuple[Receiver, str]]:
    receiver, application = Receiver(), FastAPI()
    application.post("/hook")(receiver.receive)
    config = uvicorn.Config(application, port=0, log_level="error", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        await eventually(lambda: server.started or serving.done())
        host, port = server.servers[0].sockets[0].getsockname()
        yield receiver, f"http://{host}:{port}/hook"
    finally:
        server.should_exit = True
        await serving


async def ask(log: Log, session: str, *questions: str) -> None:
    for question in questions:
        asked = ApprovalRequested(approval_id=question, question=question)
        await log.session(session).append([message("not sent"), asked])


async def test_each_webhook_is_taken_once_though_it_is_sent_again(journal: Settings) -> None:
    async with (
        receiving() as (receiver, url),
        connected(journal) as log,
        httpx2.AsyncClient(timeout=0.3) as client,
    ):
        receiver.next = ["down", "slow", "down"]
        await ask(log, "s", "one", "two", "three")
        retry = Retry(max_attempts=5, backoff_s=[0.02])
        service = service_of(log, types=SENT, retry=retry)
        async with run(service, sender(client, url, SECRET)):
            await eventually(lambda: len(receiver.taken) == 3 and not receiver.next, timeout_s=20)
    assert receiver.questions("s") == ["one", "two", "three"]
    assert receiver.requests == 6  # three of them a second time
    assert {each["type"] for each in receiver.taken.values()} == {"approval.requested"}


async def test_what_a_receiver_did_not_take_is_sent_when_it_is_back(journal: Settings) -> None:
    async with (
        receiving() as (receiver, url),
        connected(journal) as log,
        httpx2.AsyncClient(timeout=0.3) as client,
    ):
        receiver.is_down = True
        await ask(log, "s", "one", "two")
        retry = Retry(max_attempts=2, backoff_s=[0.02])
        service = service_of(log, group(), types=SENT, retry=retry)
        async with run(service, sender(client, url, SECRET)):
            await eventually_parked(service, 1)
            assert "503" in (await service.parked())[0].error
            receiver.is_down = False
            await ask(log, "t", "other")
            await ask(log, "s", "three")
            await eventually(lambda: receiver.questions("t") == ["other"], timeout_s=20)
            assert receiver.questions("s") == []
            await service.redrive()
            await eventually(lambda: len(receiver.questions("s")) == 3, timeout_s=20)
    assert receiver.questions("s") == ["one", "two", "three"]
