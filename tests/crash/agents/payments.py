"""A payment server: it knows its charges by their keys, and counts how often each was made."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any


class Payments:
    """What was charged: each order as often as it was, each key's receipt."""

    def __init__(self) -> None:
        self.charges: Counter[str] = Counter()
        self.receipts: dict[str, str] = {}

    def answer(self, asked: dict[str, str]) -> dict[str, Any]:
        """Charge once a key, or look for the receipt of one."""
        key, order = asked["key"], asked["order"]
        if asked["what"] == "charge" and key not in self.receipts:
            self.charges[order] += 1
            self.receipts[key] = f"receipt of {order}"
        return {"receipt": self.receipts.get(key)}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, whether or not anybody is left to read it."""
        line = await reader.readline()
        if line.endswith(b"\n"):
            writer.write(json.dumps(self.answer(json.loads(line))).encode() + b"\n")
        writer.close()


@asynccontextmanager
async def payment_server() -> AsyncGenerator[tuple[Payments, int]]:
    """Serve on a port of its own until the end of the block."""
    payments = Payments()
    server = await asyncio.start_server(payments.serve, "127.0.0.1", 0)
    async with server:
        yield payments, server.sockets[0].getsockname()[1]


async def ask(port: int, what: str, key: str, order: str) -> str | None:
    """Ask the payment server; return the receipt, None when there is none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(json.dumps({"what": what, "key": key, "order": order}).encode() + b"\n")
    await writer.drain()
    answer: dict[str, str | None] = json.loads(await reader.readline())
    writer.close()
    return answer["receipt"]
