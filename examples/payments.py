"""A payment service as others run it: it pays once per idempotency key, and knows what it paid.

python -m examples.payments PORT
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel, Field


class Refund(BaseModel):
    """What is to be paid back."""

    order: int
    amount: Decimal = Field(gt=0)


class Receipt(BaseModel):
    """What the service says of a refund that was made."""

    receipt: str


class Payments:
    """What was paid back, in its order, and under which key."""

    def __init__(self) -> None:
        self.paid: list[Refund] = []
        self.receipts: dict[str, Receipt] = {}

    def pay(self, key: str, refund: Refund) -> Receipt:
        """Pay, or give the first answer again."""
        if key not in self.receipts:
            self.paid.append(refund)
            receipt = f"{refund.amount} for order {refund.order} is paid back"
            self.receipts[key] = Receipt(receipt=receipt)
        return self.receipts[key]

    def clear(self) -> None:
        """Let nothing have been paid."""
        self.paid.clear()
        self.receipts.clear()

    def __iter__(self) -> Iterator[str]:
        return iter([f"{refund.amount} for order {refund.order}" for refund in self.paid])


def payment_service(payments: Payments) -> FastAPI:
    """Return the service as a web application."""
    app = FastAPI()

    @app.post("/refunds")
    async def pay(refund: Refund, idempotency_key: Annotated[str, Header()]) -> Receipt:
        return payments.pay(idempotency_key, refund)

    @app.get("/refunds/{key}")
    async def find(key: str) -> Receipt:
        if key not in payments.receipts:
            raise HTTPException(404, "nothing was paid under this key")
        return payments.receipts[key]

    return app


if __name__ == "__main__":
    uvicorn.run(payment_service(Payments()), port=int(sys.argv[1]))
