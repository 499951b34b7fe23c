"""The promoter on real servers: who is promoted and when, once, and whom an error leaves alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

import agentjournal as aj
from agentjournal.events import Entity, Extractor
from agentjournal.ids import stream_id
from agentjournal.memory.openai_model import STATUS
from agentjournal.settings import Settings
from consumers.promoter import PromoterOptions
from consumers.roles import run_promoter
from local.stack import Stack
from tests.janitors import met, with_limits
from tests.model_server import Reply, all_of, fact, model_server
from tests.promoted import PlainExtracting, completed_of, said, said_of
from tests.servers import Role, connected, fresh_settings, query, roles, roles_in_a_process

pytestmark = pytest.mark.stack

BY = Extractor(name="plain", version="1")
QUICK = PromoterOptions(scan_every_s=0.05, heartbeat_s=0.2, outage_pause_s=0.05)


@pytest.fixture(scope="module")
def journal(stack: Stack) -> Generator[Settings]:
    """A log of this module's own: a promoter promotes the sessions of every tenant."""
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer", "projector"):
        yield settings


def promoter(extracting: PlainExtracting | None = None) -> Role:
    """Return the role, to be run beside others."""
    return partial(run_promoter, options=QUICK, extracting=extracting or PlainExtracting(BY))


def promoted(log: aj.Log, *names: str) -> Callable[[], Awaitable[bool]]:
    """Return whether sessions were promoted."""

    async def are_promoted() -> bool:
        found = [await completed_of(log.session(name)) for name in names]
        return all(found)

    return are_promoted


async def test_who_ended_or_is_idle_is_promoted_once_and_again_when_it_goes_on(
    journal: Settings, tmp_path: Path
) -> None:
    tenant = f"tenant-{uuid4().hex[:8]}"
    limited = with_limits(journal, tmp_path, f"[tenant.{tenant}]\npromote_after_idle_s = 0.5\n")
    async with connected(journal, tenant=tenant) as log, connected(journal) as other:
        await log.session("idle", user="u-1").append(said("city=Rome"))
        ended = other.session("ended", user="u-1")
        await ended.append([said("city=Oslo"), aj.SessionEnded()])
        await other.session("open", user="u-2").append(said("city=Bonn"))
        async with roles(limited, promoter(), promoter()):
            await met(promoted(log, "idle"))
            await met(promoted(other, "ended"))
            assert await said_of(log, "u-1") == [("city", "Rome")]
            assert await said_of(other, "u-1") == [("city", "Oslo")]
            await ended.append([said("city=Kiel"), aj.SessionEnded()])

            async def is_known() -> bool:
                return ("city", "Kiel") in await said_of(other, "u-1")

            await met(is_known)
            assert await said_of(other, "u-1") == [("city", "Oslo"), ("city", "Kiel")]
        assert [each.through_version for each in await completed_of(ended)] == [2, 5]
        assert [each.through_version for each in await completed_of(log.session("idle"))] == [2]
        assert await completed_of(other.session("open")) == []


async def test_a_deleted_session_takes_along_what_it_had_taught(journal: Settings) -> None:
    async with connected(journal) as log:
        memory = log.memory(user="u-3")
        session = log.session("gone", user="u-3")
        await session.append([said("city=Rome"), aj.SessionEnded()])
        never = log.session("never", user="u-3")
        await never.append([said("city=Oslo"), aj.SessionDeleted(reason="asked to")])
        async with roles(journal, promoter()):
            await met(promoted(log, "gone"))
            assert [each.value for each in await memory.facts()] == ["Rome"]
            deletion = await session.append(aj.SessionDeleted(reason="asked to"))

            async def is_followed() -> bool:
                return not await memory.facts()

            await met(is_followed)

            async def are_noted() -> bool:
                rows = await query(
                    journal,
                    "SELECT stream, version FROM agentjournal_internal.promoter_sessions "
                    f"WHERE stream IN ('{session.stream}', '{never.stream}') AND error IS NULL",
                )
                noted = {row["stream"]: row["version"] for row in rows}
                return noted == {session.stream: deletion.last_version, never.stream: 3}

            await met(are_noted)
        [learned, _] = await said_of(log, "u-3")  # the log keeps what was learned
        assert learned == ("city", "Rome")


async def test_sessions_of_one_project_that_end_together_wait_for_nobody(
    journal: Settings,
) -> None:
    count = 20
    project = Entity(kind="project", id="p-1")
    async with connected(journal) as log:
        names = [f"s-{number}" for number in range(count)]
        for name in names:
            session = log.session(name)
            update = aj.SessionUpdated(entities=[project])
            await session.append([update, said(f"topic*={name}"), aj.SessionEnded()])
        async with roles(journal, promoter()):
            await met(promoted(log, *names))
        stream = stream_id("project", log.settings.tenant, project.id)
        rows = await query(
            journal,
            f"SELECT data->>'value' AS value FROM agentjournal.events WHERE stream = '{stream}'",
        )
        assert sorted(row["value"] for row in rows) == sorted(names)
        refused = await query(
            journal,
            f"SELECT * FROM agentjournal_internal.refused WHERE stream = '{stream}'",
        )
        assert refused == []


async def test_a_session_that_fails_is_parked_with_its_error_and_others_go_on(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        bad, good = log.session("bad", user="u-1"), log.session("good", user="u-1")
        await bad.append([said("boom"), aj.SessionEnded()])
        await good.append([said("city=Rome"), aj.SessionEnded()])
        failed = (
            "SELECT error, attempts, version FROM agentjournal_internal.promoter_sessions "
            "WHERE error IS NOT NULL"
        )

        async def is_parked() -> bool:
            return bool(await query(journal, failed))

        async with roles(journal, promoter()):
            await met(is_parked)
            await met(promoted(log, "good"))
            [row] = await query(journal, failed)
            assert row == {"error": "ValueError: boom", "attempts": 1, "version": 3}
            shown = (
                "SELECT session_id, through_version, status, error FROM agentjournal.promotions "
                f"WHERE tenant = '{log.settings.tenant}' ORDER BY session_id"
            )
            assert await query(journal, shown) == [
                {
                    "session_id": "bad",
                    "through_version": 3,
                    "status": "failed",
                    "error": "ValueError: boom",
                },
                {
                    "session_id": "good",
                    "through_version": 2,
                    "status": "completed",
                    "error": None,
                },
            ]
            # It is left alone until it goes on, then it is tried again.
            await log.session("later", user="u-1").append([said("x=y"), aj.SessionEnded()])
            await met(promoted(log, "later"))
            assert await query(journal, failed) == [row]
            retract = aj.MessageRetracted(message_id=await _first_message(bad), reason="wrong")
            await bad.append(retract)
            await met(promoted(log, "bad"))
        assert await query(journal, failed) == []


async def _first_message(session: aj.Session) -> str:
    return (await session.load()).messages[0].message_id


async def test_who_begins_later_promotes_what_is_there_and_nothing_again(
    journal: Settings,
) -> None:
    newer = PlainExtracting(Extractor(name="late", version="1"))
    async with connected(journal) as log:
        await log.session("old", user="u-1").append([said("city=Rome"), aj.SessionEnded()])
        async with roles(journal, promoter(newer)):
            await met(promoted(log, "old"))
            await met(partial(_has_places, journal))
        count = newer.count
        async with roles(journal, promoter(newer)):
            await log.session("new", user="u-1").append([said("city=Oslo"), aj.SessionEnded()])
            await met(promoted(log, "new"))
        assert newer.count == count + 1


async def _has_places(settings: Settings) -> bool:
    found = await query(
        settings,
        "SELECT FROM agentjournal_internal.promoter_places WHERE extractor = 'late'",
    )
    return bool(found)  # in every partition that holds anything, at the same time


async def test_a_model_adds_to_what_the_rules_find_and_holds_up_nothing_when_it_fails(
    journal: Settings,
) -> None:
    paints = "My weekends go into painting watercolours."
    sings = "There is a choir that swallows my evenings."
    proposed = [
        fact(2, "hobby", "painting watercolours", paints),
        fact(5, "hobby", "choir", sings),
    ]
    async with connected(journal) as log, model_server(all_of(proposed)) as server:
        named = replace(journal, model=server.settings(retries=0))
        session = log.session("s", user="u-1")

        async def reached(count: int) -> bool:
            return len(await completed_of(session)) == count

        async with roles(named, partial(run_promoter, options=QUICK)):
            await session.append([said(f"{paints} I'm allergic to nuts."), aj.SessionEnded()])
            await met(partial(reached, 1))
            assert await said_of(log, "u-1") == [
                ("allergy", "nuts"),
                ("hobby", "painting watercolours"),
            ]
            server.answers[:] = [Reply(b"{}", status=500)]
            await session.append([said(f"{sings} I live in Oslo."), aj.SessionEnded()])
            await met(partial(reached, 2))
            assert (await said_of(log, "u-1"))[2:] == [("home_city", "Oslo")]
            server.answers[:] = [all_of(proposed)]
            await session.append([said("Bye."), aj.SessionEnded()])
            await met(partial(reached, 3))
            assert (await said_of(log, "u-1"))[3:] == [("hobby", "choir")]
        first, second, third = await completed_of(session)
        assert first.extractor.version.endswith(".test-model")
        assert {each.extractor.version for each in (second, third)} == {first.extractor.version}
        assert [each.learned for each in (first, second, third)] == [2, 1, 1]
        assert f"{STATUS}500" in {each.reason for each in second.refused}
        held = await log.memory(user="u-1").facts()
        assert {(each.attribute, each.value) for each in held} == {
            ("allergy", "nuts"),
            ("hobby", "painting watercolours"),
            ("home_city", "Oslo"),
            ("hobby", "choir"),
        }


async def test_a_message_retracted_after_its_promotion_takes_its_facts_along(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        session, other = log.session("s", user="u-1"), log.session("t", user="u-1")
        await session.append([said("topic*=chess"), said("topic*=tea\ncity=Rome")])
        await other.append(said("topic*=tea"))
        for each in session, other:
            await each.promote(extracting=PlainExtracting(BY))
        message = (await session.load()).messages[1]
        await session.append(aj.MessageRetracted(message_id=message.message_id, reason="wrong"))
        await session.promote(extracting=PlainExtracting(BY))
        held = await log.memory(user="u-1").facts()
        assert sorted((each.attribute, each.value) for each in held) == [
            ("topic", "chess"),
            ("topic", "tea"),
        ]
        history = await log.memory(user="u-1").history()
        gone = [each for each in history if each.ended_by == "retracted"]
        assert {each.value for each in gone} == {"tea", "Rome"}
        assert {source.session_id for each in gone for source in each.evidence} == {"s"}


async def test_a_session_whose_words_were_all_retracted_has_no_summary_any_more(
    journal: Settings,
) -> None:
    summaries = "SELECT summary FROM agentjournal.session_summaries WHERE session_id = 'gone'"
    async with connected(journal) as log:
        session = log.session("gone", user="u-2")

        async def promoted() -> list[str]:
            await session.promote()
            await log.caught_up(await session.append(aj.SessionUpdated(title="a title")))
            return [row["summary"] for row in await query(journal, summaries)]

        await session.append(said("The plover is mine."))
        assert await promoted() == ["Asked: The plover is mine."]
        [message] = (await session.load()).messages
        await session.append(aj.MessageRetracted(message_id=message.message_id, reason="wrong"))
        assert await promoted() == []
