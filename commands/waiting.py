"""Running a command's asynchronous part to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from commands.errors import NoTables
from commands.postgres_tables import are_missing

T = TypeVar("T")


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what `coroutine` gives. Raises NoTables."""
    quiet_drivers()
    try:
        return asyncio.run(coroutine)
    except Exception as error:
        if are_missing(error):
            raise NoTables from error
        raise


def quiet_drivers() -> None:
    """Let drivers log nothing: what matters comes as an error, which is one line."""
    for name in ("aiokafka", "psycopg"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
