"""The three servers as tests use them: they answer, and keep their data through a kill."""

from __future__ import annotations

import pytest

from local.stack import Stack

pytestmark = pytest.mark.stack


def test_every_server_runs_and_has_an_address(stack: Stack) -> None:
    assert all(stack.pid(name) for name in ("kafka", "postgres", "redis"))
    assert stack.settings.kafka.startswith("127.0.0.1:")
    assert stack.settings.postgres.startswith("postgresql://postgres@127.0.0.1:")
    assert stack.settings.redis.startswith("redis://127.0.0.1:")
