"""Forks as the views show them."""

from __future__ import annotations

import pytest

from agentjournal.settings import Settings
from tests.servers import connected, query
from tests.support import message

pytestmark = pytest.mark.stack


async def test_the_tree_of_sessions_shows_where_forks_left_their_parents(journal: Settings) -> None:
    async with connected(journal) as log:
        parent = log.session("p", user="u", agent="support", title="Refund")
        await parent.append([message("a"), message("b"), message("c")])
        fork = await parent.fork(at=3, session_id="f")
        await fork.append([message("d"), message("e")])
        child = await fork.fork(title="again")
        await log.caught_up(await child.append(message("f")))
        shown = await query(
            journal,
            "SELECT session_id, path, user_id, agent, title, parent_version, relation"
            f" FROM agentjournal.session_tree WHERE tenant = '{log.settings.tenant}'"
            " ORDER BY depth",
        )
        assert [tuple(row.values()) for row in shown] == [
            ("p", ["p"], "u", "support", "Refund", None, None),
            ("f", ["p", "f"], "u", "support", "Refund", 3, "fork"),
            (child.id, ["p", "f", child.id], "u", "support", "again", 3, "fork"),
        ]
