"""`agentjournal rebuild`: what it prints, and how it ends."""

from __future__ import annotations

import json

import psycopg
import pytest

from agentjournal.settings import Settings
from tests.e2e.console import Console
from tests.e2e.test_cli_verify import write

pytestmark = pytest.mark.stack


async def test_a_read_model_is_checked_rebuilt_and_its_old_tables_are_dropped(
    fresh: Settings,
) -> None:
    await write(fresh)
    console = Console(fresh)
    forged = (
        "UPDATE agentjournal_internal.messages_1 SET content = 'forged' WHERE session_id = 's-2'"
    )
    with psycopg.connect(fresh.postgres, autocommit=True) as connection:
        assert connection.execute(forged.encode()).rowcount == 1

    checked = console("rebuild", "conversation", "--check", "--json")
    assert checked.returncode == 1
    [found] = json.loads(checked.stdout)
    [difference] = found.pop("differences")
    assert found == {"projection": "conversation", "generation": 2, "events": 5, "switched": False}
    assert (difference["table"], difference["columns"]) == ("messages", ["content"])

    rebuilt = console("rebuild", "conversation")
    assert rebuilt.returncode == 0, rebuilt.stderr
    first, second = rebuilt.stdout.splitlines()
    assert first == "conversation: generation 2 is live now, 5 events read"
    assert second.startswith("  messages: 1 rows differ; the first, tenant=default, session_id=s-2")

    again = console("rebuild", "conversation", "--check")
    assert (again.returncode, again.stdout.splitlines()[1]) == (
        0,
        "  equal to the one that was live",
    )
    dropped = console("rebuild", "all", "--drop-old")
    assert (dropped.returncode, dropped.stdout) == (0, "conversation: dropped generation 1\n")


def test_wrong_use_is_told(journal: Settings) -> None:
    console = Console(journal)
    unknown = console("rebuild", "nothing")
    assert unknown.returncode == 1
    assert "there is no read model nothing: there are events, conversation" in unknown.stderr
    assert console("rebuild", "all", "--check", "--drop-old").returncode == 2
