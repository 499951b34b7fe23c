"""Fixtures that every ring of tests shares."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from local.stack import Stack, running


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """The three servers, started once; what dies stays dead until a test starts it."""
    with running(tmp_path_factory.mktemp("stack"), restart=False) as servers:
        yield servers
