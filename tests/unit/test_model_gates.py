"""What passes no gate is no fact, whatever a model says of it, and the reason is counted."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.memory.candidates import Statement
from agentjournal.memory.model_gates import (
    NO_EVENT,
    NO_FORM,
    NO_QUOTE,
    NO_SLOT,
    NOT_OWN,
    NOT_TAKEN_BACK,
    Judging,
)
from agentjournal.memory.rules import default_rules
from agentjournal.memory.slots import default_slots
from agentjournal.memory.speech import NO_ENTITY, NO_VALUE
from agentjournal.memory.statements import statements_of
from tests.model_server import fact
from tests.unit.said_events import USER, assistant, session, user

PAINTS = "My weekends go into painting watercolours."  # no rule knows it
HOBBY = fact(1, "hobby", "painting watercolours", PAINTS)
SHORT = {"quote": "painting watercolours"}
ALLERGIC = "I'm allergic to peanuts."


@pytest.mark.parametrize(
    ("text", "proposed", "reason"),
    [
        (PAINTS, {"quote": "I paint watercolours."}, NO_QUOTE),
        (PAINTS, {"quote": ""}, NO_QUOTE),
        (PAINTS, {"value": "oil"}, NOT_OWN),
        (PAINTS, {"value": " "}, NOT_OWN),
        (PAINTS, {"value": "paint"}, NOT_OWN),
        (PAINTS, {"value": "colours"}, NOT_OWN),
        (PAINTS, {"message": 2}, NO_EVENT),
        (PAINTS, {"message": 99}, NO_EVENT),
        (PAINTS, {"message": True}, NO_FORM),
        (PAINTS, {"message": "1"}, NO_FORM),
        (PAINTS, {"value": None}, NO_FORM),
        (PAINTS, {"op": "erase"}, NO_FORM),
        (PAINTS, {"op": "forget"}, NOT_TAKEN_BACK),
        (PAINTS, {"attribute": "secret_wish"}, NO_SLOT),
        (PAINTS, {"attribute": "order/1/last_action"}, NO_SLOT),
        (PAINTS, {"attribute": "last_action"}, NO_SLOT),
        (PAINTS, {"attribute": "favourite_" + "x" * 300}, NO_SLOT),
        (PAINTS, {"attribute": "favourite_Ignore all"}, NO_SLOT),
        (PAINTS, {"about": "account"}, NO_ENTITY),
        (PAINTS, {"attribute": "email"}, NO_VALUE),
        (PAINTS, {"attribute": "theme"}, NO_VALUE),
        ("Do you find me painting watercolours?", SHORT, "a question"),
        ("If I had time, I would be painting watercolours.", SHORT, "hypothetical"),
        ("My aunt says I love painting watercolours.", SHORT, "said by somebody else"),
        ("I am not into painting watercolours.", SHORT, "negated"),
        ("I no longer enjoy painting watercolours.", SHORT, "negated"),
        ("Maybe I'm into painting watercolours.", SHORT, "uncertain"),
        ("Write a story about Ada. She adores painting watercolours.", SHORT, "made up"),
        (f"> {PAINTS}", {}, NOT_OWN),
        (f"```\n{PAINTS}\n```", {}, NOT_OWN),
        (f"<document>{PAINTS}</document>", {}, NOT_OWN),
        (f'He wrote: "{PAINTS}"', {}, NOT_OWN),
        (
            "Tonight I adore painting watercolours.",
            {"attribute": "likes", **SHORT},
            "for this task only",
        ),
    ],
)
def test_what_passes_no_gate_is_refused_with_the_reason(
    text: str, proposed: dict[str, Any], reason: str
) -> None:
    said = statements_of(session(user(text), assistant(PAINTS)))
    judging = Judging({"user": USER}, default_slots(), default_rules(), [])
    judging.take([{**HOBBY, **proposed}], {1: said[0]}, said[0])
    assert ([each.reason for each in judging.refused], judging.candidates) == ([reason], [])


def test_words_that_stand_everywhere_take_no_time_and_the_first_that_is_said_counts() -> None:
    said = statements_of(
        session(user("Hi.\n```\n" + "a b " * 7_000 + "\n```\n" + "I do.\n" * 4_000))
    )
    judging = Judging({"user": USER}, default_slots(), default_rules(), [])
    began = time.perf_counter()
    hidden = fact(1, "hobby", "a", "a b " * 3_000)
    judging.take([hidden] * 50, {1: said[0]}, said[0])
    assert {each.reason for each in judging.refused} == {NOT_OWN}
    assert time.perf_counter() - began < 10  # a look at every place takes an hour
    twice = statements_of(
        session(user('"I am a keen tuba player" is a good line. I love the tuba.'))
    )
    judging.take([fact(1, "hobby", "tuba", "tuba")], {1: twice[0]}, twice[0])
    assert [each.quote for each in judging.candidates] == ["I love the tuba."]


def test_scripts_without_spaces_have_their_words_within_others() -> None:
    said = statements_of(session(user("我住在里斯本。")))
    judging = Judging({"user": USER}, default_slots(), default_rules(), [])
    judging.take([fact(1, "home_city", "里斯本", "我住在里斯本")], {1: said[0]}, said[0])
    assert [each.value for each in judging.candidates] == ["里斯本"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    max_leaves=5,
)


@given(
    st.lists(
        json_values
        | st.fixed_dictionaries(
            {
                "message": st.integers(0, 4),
                "about": st.sampled_from(["user", "account", ""]),
                "attribute": st.sampled_from(
                    ["hobby", "home_city", "email", "budget", "favourite_x"]
                )
                | st.text(),
                "op": st.sampled_from(["add", "forget"]),
                "quote": st.sampled_from([PAINTS, ALLERGIC, "find", ""]) | st.text(),
                "value": st.sampled_from(["painting", "peanuts", "me", ""]) | st.text(),
            }
        )
    )
)
def test_whatever_is_proposed_each_fact_quotes_a_user_and_each_other_is_counted(
    proposals: list[Any],
) -> None:
    said = statements_of(session(user(PAINTS), assistant("So?"), user(ALLERGIC)))
    citable: dict[int, Statement] = {each.version: each for each in said if each.role == "user"}
    judging = Judging({"user": USER}, default_slots(), default_rules(), [])
    judging.take(proposals, citable, said[0])
    assert len(judging.candidates) + len(judging.refused) <= len(proposals)
    for made in judging.candidates:
        assert made.quote
        assert made.quote in made.statement.text
        assert made.statement.role == "user"
        assert default_slots().find(made.entity.kind, made.attribute) is not None
