"""Whatever goes wrong with a model: what the rules found stands, and the reason is told."""

from __future__ import annotations

import json

import pytest

from agentjournal.memory.model_extracting import ModelExtracting
from agentjournal.memory.model_settings import ModelSettings
from agentjournal.memory.openai_model import (
    CUT,
    DECLINED,
    NO_ANSWER,
    NO_JSON,
    NOT_REACHED,
    STATUS,
    TOO_LARGE,
    TOO_LONG,
)
from agentjournal.memory.statements import statements_of
from tests.model_server import Reply, all_of, answered, completed, fact
from tests.unit.model_extracted import (
    ALLERGIC,
    HOBBY,
    PAINTS,
    extracted,
    facts,
    long_session,
    reasons,
)
from tests.unit.said_events import USER, session, user


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (completed("The user paints."), NO_JSON),
        (completed(None), NO_JSON),
        (completed("[]"), NO_JSON),
        (completed('{"facts": {}}'), NO_JSON),
        (completed('{"facts": [' + "[" * 5_000), NO_JSON),
        (completed('{"facts": [{"message": 1, "abo', finish_reason="length"), CUT),
        (completed('{"facts": {}}', finish_reason="length"), NO_JSON),
        (completed(None, refusal="I cannot help with that."), DECLINED),
        (Reply(b"<html>"), NO_JSON),
        (Reply(b'{"choices": []}'), NO_JSON),
        (Reply(b'{"choices": [{"message": "hi"}]}'), NO_JSON),
        (Reply(b"\xff\xfe"), NO_JSON),
        (Reply(b"[]"), NO_JSON),
        (completed("x" * 1_100_000), TOO_LARGE),
        (Reply(b" " * 65_536, endless=True), TOO_LARGE),
        (Reply(b"{}", status=401), f"{STATUS}401"),
        (Reply(b"{}", status=500), f"{STATUS}500"),
        (Reply(dies=True), NOT_REACHED),
    ],
)
async def test_whatever_a_model_answers_what_the_rules_found_stands(
    reply: Reply, reason: str
) -> None:
    found, without, _ = await extracted([user(f"{ALLERGIC} {PAINTS}")], reply, retries=0)
    assert facts(found) == facts(without) == [("allergy", "peanuts")]
    assert found.summary == without.summary
    assert reasons(found, without) == [reason]


async def test_a_server_that_is_not_there_or_too_slow_costs_no_more_than_its_time() -> None:
    found, without, _ = await extracted([user(PAINTS)], Reply(after_s=60), timeout_s=0.2, retries=5)
    assert (facts(found), reasons(found, without)) == ([], [NO_ANSWER])
    away = ModelExtracting(ModelSettings("m", "http://127.0.0.1:9/v1", retries=0))
    found = await away.extract(statements_of(session(user(ALLERGIC))), [USER])
    assert facts(found) == [("allergy", "peanuts")]
    assert [each.reason for each in found.refused] == [NOT_REACHED]


async def test_a_server_that_fails_for_a_moment_is_asked_again_so_often_and_no_more() -> None:
    busy = Reply(b"{}", status=429)
    found, _, count = await extracted([user(PAINTS)], busy, busy, answered([HOBBY]), retries=2)
    assert (facts(found), count) == ([("hobby", "painting watercolours")], 3)
    found, without, count = await extracted([user(PAINTS)], busy, retries=1)
    assert (reasons(found, without), count) == ([f"{STATUS}429"], 2)


async def test_who_is_away_is_not_asked_for_every_part_of_a_session() -> None:
    found, without, count = await extracted(long_session(9), Reply(b"{}", status=503), retries=0)
    assert count == 1
    assert set(reasons(found, without)) == {f"{STATUS}503"}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        # What llama.cpp answers, and what OpenAI does.
        ({"code": 400, "type": "exceed_context_size_error", "n_ctx": 4096}, TOO_LONG),
        ({"code": "context_length_exceeded", "type": "invalid_request_error"}, TOO_LONG),
        ({"code": None, "type": "BadRequestError"}, f"{STATUS}400"),
        ({"code": [], "type": {}}, f"{STATUS}400"),
        ("too long", f"{STATUS}400"),
    ],
)
async def test_what_is_too_long_for_a_model_is_said_so_and_keeps_no_other_part_back(
    error: object, reason: str
) -> None:
    refused = Reply(json.dumps({"error": error}).encode(), status=400)
    every = [fact(number, "hobby", "painting watercolours", PAINTS) for number in range(1, 10)]
    found, without, count = await extracted(long_session(9), refused, all_of(every))
    assert reasons(found, without) == [reason]
    assert count > 2
    assert len(facts(found)) == 9 - min(each.statement.version for each in found.candidates) + 1


async def test_an_answer_of_no_use_costs_the_tokens_that_its_server_states() -> None:
    async def asked(reply: Reply) -> int:
        _, _, count = await extracted(long_session(9), reply, session_tokens=30_000)
        return count

    unstated = await asked(completed("?", tokens=None))
    assert unstated < await asked(completed("?", tokens=10))
    assert unstated < await asked(completed(None, refusal="No.", tokens=10))
