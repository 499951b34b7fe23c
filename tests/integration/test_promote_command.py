"""`agentjournal promote` on real servers."""

from __future__ import annotations

import asyncio
import json

import pytest
from typer.testing import CliRunner

import agentjournal as aj
from agentjournal import Log
from agentjournal.settings import Settings
from commands.app import command_line
from tests.promoted import completed_of, said
from tests.servers import query

pytestmark = pytest.mark.stack

ALLERGIC = "I'm allergic to peanuts."


async def written(settings: Settings) -> None:
    async with Log(settings) as log:
        receipt = await log.session("s", user="u").append([said(ALLERGIC), aj.SessionEnded()])
        await log.caught_up(receipt)


async def completed(settings: Settings) -> list[aj.PromotionCompleted]:
    async with Log(settings) as log:
        return await completed_of(log.session("s"))


def lines(*arguments: str) -> list[list[object]]:
    """Return outcome, whom it is about, attribute and value of each line."""
    shown = CliRunner().invoke(command_line("promote"), ["promote", "--json", *arguments])
    assert shown.exit_code == 0, shown.output
    rows = json.loads(shown.output)
    assert {row["quote"] for row in rows} == {ALLERGIC}
    return [[row[name] for name in ("outcome", "about", "attribute", "value")] for row in rows]


def test_what_would_be_learned_is_shown_and_then_learned(named: Settings) -> None:
    asyncio.run(written(named))
    assert lines("s", "--dry-run") == [["learned", "user u", "allergy", "peanuts"]]
    assert asyncio.run(completed(named)) == []
    assert lines("s") == [["learned", "user u", "allergy", "peanuts"]]
    assert lines("s") == [["known", "user u", "allergy", "peanuts"]]
    [told] = asyncio.run(completed(named))
    assert (told.learned, told.through_version) == (1, 2)
    table = CliRunner().invoke(command_line("promote"), ["promote", "s"])
    head, row = table.output.splitlines()
    assert head.split()[:4] == ["outcome", "about", "attribute", "value"]
    assert row.split()[:5] == ["known", "user", "u", "allergy", "peanuts"]


def test_what_failed_is_tried_again(named: Settings) -> None:
    asyncio.run(written(named))
    for name in ("s", "no-such"):
        asyncio.run(
            query(
                named,
                "INSERT INTO agentjournal_internal.promoter_sessions VALUES ("
                f"'session/{named.tenant}/{name}', 'rules', '0', 3, 'ValueError: boom', 1, now())",
            )
        )
    again = CliRunner().invoke(command_line("promote"), ["promote", "--failed", "--json"])
    assert again.exit_code == 1, again.output  # one of them is not there
    rows = {row["stream"].rpartition("/")[2]: row for row in json.loads(again.output)}
    assert (rows["s"]["outcome"], rows["no-such"]["outcome"]) == ("completed", "failed")
    assert rows["no-such"]["why"].startswith("SessionNotFound")
    assert len(asyncio.run(completed(named))) == 1
    left = asyncio.run(
        query(
            named,
            "SELECT attempts FROM agentjournal_internal.promoter_sessions "
            f"WHERE error IS NOT NULL AND stream LIKE 'session/{named.tenant}/%'",
        )
    )
    assert left == [{"attempts": 2}]


def test_of_a_session_that_was_deleted_nothing_is_left_to_try(named: Settings) -> None:
    async def deleted() -> None:
        async with Log(named) as log:
            events = [said(ALLERGIC), aj.SessionDeleted(reason="asked to")]
            await log.caught_up(await log.session("d", user="u").append(events))

    asyncio.run(deleted())
    asyncio.run(
        query(
            named,
            "INSERT INTO agentjournal_internal.promoter_sessions VALUES ("
            f"'session/{named.tenant}/d', 'rules', '0', 2, 'ValueError: boom', 1, now())",
        )
    )
    again = CliRunner().invoke(command_line("promote"), ["promote", "--failed", "--json"])
    rows = {row["stream"]: row["outcome"] for row in json.loads(again.output)}
    assert rows[f"session/{named.tenant}/d"] == "completed"


@pytest.mark.usefixtures("named")
def test_wrong_use_is_told() -> None:
    for wrong, status in ([], 2), (["s", "--failed"], 2), (["no-such-session"], 1):
        refused = CliRunner().invoke(command_line("promote"), ["promote", *wrong])
        assert refused.exit_code == status, refused.output
