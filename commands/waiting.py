"""Running a command's asynchronous part to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what `coroutine` gives."""
    quiet_drivers()
    return asyncio.run(coroutine)


def quiet_drivers() -> None:
    """Let drivers log nothing: what matters comes as an error, which is one line."""
    for name in ("aiokafka", "psycopg"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
