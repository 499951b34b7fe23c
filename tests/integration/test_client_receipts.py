"""Receipts over Redis: one that is lost is asked for again, whatever happened to the channel."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from agentjournal.receipts import Answer, Refusal, encode_answers
from agentjournal.settings import Settings
from tests.servers import connected, inside
from tests.support import message

pytestmark = pytest.mark.stack


async def test_a_receipt_that_was_lost_is_asked_for_again(journal: Settings) -> None:
    async with connected(journal) as log, Redis.from_url(journal.redis) as redis:
        session = log.session("s")
        await session.append(message("a"))
        await redis.client_kill_filter(_type="pubsub")
        receipt = await session.append(message("b"), timeout_s=15)
        assert receipt.first_version == 3
        assert (await session.append(message("c"))).first_version == 4


RUBBISH = [b"", b"rubbish", b"[1]", b"{}", b"\xff", b'[["s","a",1,"accepted"]]', b"[[]]"]


async def test_what_is_no_answer_does_not_stop_answers(journal: Settings) -> None:
    async with connected(journal) as log, Redis.from_url(journal.redis) as redis:
        session = log.session("s")
        for number, rubbish in enumerate(RUBBISH):
            await session.append(message(f"{number}"))
            assert await redis.publish(inside(log).appender.reply_to, rubbish) == 1
        assert (await session.append(message("b"), timeout_s=15)).first_version == 9


async def test_an_answer_to_another_append_settles_nothing(journal: Settings) -> None:
    async with connected(journal) as log, Redis.from_url(journal.redis) as redis:
        session = log.session("s")
        await session.append(message("a"))
        strange = [
            Answer(session.stream, "another", 1, Refusal("deleted")),
            Answer(log.session("t").stream, "b", 1, Refusal("deleted")),
        ]
        await redis.publish(inside(log).appender.reply_to, encode_answers(strange))
        assert (await session.append(message("b"), append_id="b")).first_version == 3
