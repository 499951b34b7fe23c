"""`agentjournal memory` on real servers."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import agentjournal as aj
from agentjournal import Log
from agentjournal.settings import Settings
from commands.app import command_line
from tests.promoted import said

pytestmark = pytest.mark.stack


def run(*words: str, answers: str | None = None) -> Result:
    return CliRunner().invoke(command_line("memory"), ["memory", *words], input=answers)


def shown(*words: str) -> dict[str, Any]:
    """Return what is printed as JSON."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def held(*words: str) -> list[tuple[str, Any, str | None]]:
    """Return attribute, value, and why it ended, of each fact that is shown."""
    return [(each["attribute"], each["value"], each["ended_by"]) for each in shown(*words)["facts"]]


async def told(settings: Settings) -> datetime:
    """Let a user say two things in two sessions, and one otherwise; return when that was not yet.

    The project that the second is about gets a fact from a program.
    """
    project = aj.Entity(kind="project", id="p")
    async with Log(settings) as log:
        first = log.session("s-1", user="u")
        await first.append([said("I'm allergic to peanuts. My email is ada@example.com.")])
        await first.promote()
        known = await log.memory(user="u").facts()
        second = log.session("s-2", user="u", entities=[project])
        await second.append([said("My new email is ada@example.org.")])
        await second.promote()
        await log.memory(project="p").remember("language", {"name": "Python", "since": 3})
        await log.memory(user="u").facts()
        await log.memory(project="p").facts()
        return max(fact.confirmed_at for fact in known)


def test_what_is_known_is_shown_with_its_source_and_on_request_its_history(
    named: Settings,
) -> None:
    before = asyncio.run(told(named)).isoformat()
    allergy = ("allergy", "peanuts", None)
    assert held("u") == [allergy, ("email", "ada@example.org", None)]
    older = ("email", "ada@example.com", "superseded")
    assert held("u", "--history") == [allergy, older, ("email", "ada@example.org", None)]
    assert held("u", "--known-at", before) == [allergy, ("email", "ada@example.com", None)]
    assert held("u", "--as-of", "2020-01-01T00:00") == []
    assert held("--project", "p") == [("language", {"name": "Python", "since": 3}, None)]

    head, *rows = run("u").output.splitlines()
    assert head.split() == ["attribute", "value", "since", "kind", "session", "quote", "fact"]
    peanuts, email, gap, summaries, *sessions = rows
    assert "s-1" in peanuts.split()
    assert "I'm allergic to peanuts." in peanuts
    assert "My new email is ada@example.org." in email
    assert (gap, summaries.split()) == ("", ["session", "promoted", "summary"])
    assert [row.split()[0] for row in sessions] == ["s-2", "s-1"]
    [row] = [row for row in run("u", "--history").output.splitlines() if "superseded" in row]
    assert "ada@example.com" in row

    [source] = json.loads(run("u", "--explain", "allergy", "--json").stdout)
    assert (source["session_id"], source["role"]) == ("s-1", "user")
    assert source["text"] == "I'm allergic to peanuts. My email is ada@example.com."
    first = shown("u")["facts"][0]["fact_id"]
    assert "I'm allergic to peanuts." in run("u", "--explain", first[:8]).output


def test_what_is_forgotten_is_asked_about_and_shown_no_more(named: Settings) -> None:
    asyncio.run(told(named))
    kept = run("u", "--forget", "email", answers="n\n")
    assert (kept.exit_code, len(held("u"))) == (1, 2)
    assert "forget 2 facts of user u?" in kept.output
    gone = run("u", "--forget", "email", answers="y\n")
    assert gone.exit_code == 0, gone.output
    assert held("u") == [("allergy", "peanuts", None)]
    assert [each[2] for each in held("u", "--history")] == [None, "retracted", "retracted"]
    first = shown("u")["facts"][0]["fact_id"]
    assert run("u", "--forget", first[:8], "--yes").exit_code == 0
    nothing = run("u").output.splitlines()
    assert nothing[0] == "nothing is known of user u"
    assert shown("u")["facts"] == []
    again = run("u", "--forget", "allergy", "--yes")
    assert (again.exit_code, str(again.exception)) == (
        1,
        "no fact of user u is 'allergy'; known is nothing",
    )


def test_whoever_nothing_is_known_of_is_named(named: Settings) -> None:
    assert run("nobody").output == "nothing is known of user nobody\n"
    assert run("--account", "a").output == "nothing is known of account a\n"
    then = run("nobody", "--as-of", datetime.now(UTC).isoformat())
    assert then.output == "nothing is known of user nobody as of then\n"
    assert shown("nobody") == {
        "entity": {"kind": "user", "id": "nobody"},
        "facts": [],
        "sessions": [],
    }
    asyncio.run(told(named))
    assert held("u", "--tenant", f"{named.tenant}-other") == []
    assert len(held("u", "--tenant", named.tenant)) == 2


@pytest.mark.usefixtures("named")
def test_wrong_use_is_told() -> None:
    for wrong in (
        [],
        ["u", "--account", "a"],
        ["u", "--as-of", "soon"],
        ["u", "--yes"],
        ["u", "--explain", "a", "--forget", "b"],
        ["u", "--history", "--forget", "b"],
    ):
        assert run(*wrong).exit_code == 2, wrong
