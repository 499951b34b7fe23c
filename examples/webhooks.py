"""Sends a webhook for every turn that ends and every approval that is asked for.

    WEBHOOK_URL=https://example.com/hook WEBHOOK_SECRET=whsec_… python -m examples.webhooks

Signed as Standard Webhooks has it. The receiver knows an event that came before by its webhook-id.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import httpx2
import orjson
from standardwebhooks import Webhook

import agentjournal as aj

SENT = ("turn.ended", "approval.requested")
RETRY = aj.Retry(max_attempts=8, backoff_s=[1, 5, 30, 60, 120], on=["HTTPError"])


def sender(
    client: httpx2.AsyncClient, url: str, secret: str
) -> Callable[[aj.Recorded], Awaitable[None]]:
    """Return what sends an event: it raises where the receiver does not take it."""
    webhook = Webhook(secret)

    async def send(event: aj.Recorded) -> None:
        payload = {"type": event.type, "timestamp": event.recorded_at, "stream": event.stream}
        body = orjson.dumps(payload | {"data": orjson.Fragment(event.raw_data)})
        now = datetime.now(UTC)
        headers = {
            "content-type": "application/json",
            "webhook-id": event.id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": webhook.sign(event.id, now, body.decode()),
        }
        (await client.post(url, content=body, headers=headers)).raise_for_status()

    return send


async def main(url: str, secret: str) -> None:
    """Send for ever: a session whose webhooks are not taken is parked, the others go on."""
    async with aj.connect() as log, httpx2.AsyncClient(timeout=10) as client:
        await log.service("webhooks", types=SENT, retry=RETRY).run(sender(client, url, secret))


if __name__ == "__main__":
    asyncio.run(main(os.environ["WEBHOOK_URL"], os.environ["WEBHOOK_SECRET"]))
