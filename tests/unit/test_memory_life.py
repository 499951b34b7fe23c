"""What people tell of their lives: what changed and what ended holds no more, the rest does."""

from __future__ import annotations

import pytest

from tests.unit.memory_flows import Facts, holds
from tests.unit.test_memory_speech import told

JOB, WIFE, PET = "I work for Brightwell.", "My wife is Hanna.", "My cat is called Momo."
CAR, DIET, DRUG = "I drive a Fiat Panda.", "I'm vegetarian.", "I take metformin."
NUTS, BOSS = "I'm allergic to walnuts.", "My boss is Ruth."

ENDED: list[tuple[str, str]] = [
    (JOB, "I quit my job."),
    (JOB, "I got fired last Friday."),
    (JOB, "They let me go last week."),
    (JOB, "Got laid off yesterday."),
    (JOB, "I've been made redundant."),
    (JOB, "I left Brightwell at the end of the month."),
    (JOB, "Brightwell fired me."),
    (JOB, "I don't work there anymore."),
    (JOB, "I no longer have a job."),
    (BOSS, "My boss quit."),
    (BOSS, "Ruth left the company."),
    (BOSS, "I have a new boss now."),
    (BOSS, "I resigned yesterday."),
    ("I'm studying law.", "I dropped out."),
    ("I'm a student.", "I graduated last month."),
    ("I live in Bristol.", "We moved away from Bristol last spring."),
    (WIFE, "We've separated."),
    (WIFE, "My wife and I have separated."),
    (WIFE, "Hanna passed away."),
    ("My boyfriend is Luca.", "We broke up."),
    ("My boyfriend is Luca.", "Luca dumped me."),
    ("My boyfriend is Luca.", "we're not together anymore"),
    ("I'm engaged.", "We called off the wedding."),
    (PET, "Momo died last month."),
    (PET, "We had to put Momo down on Tuesday."),
    (PET, "Sadly Momo was run over yesterday."),
    (PET, "We lost Momo on Sunday."),
    (PET, "Momo didn't make it."),
    (CAR, "I sold my car."),
    (CAR, "My car was stolen."),
    (CAR, "My car got totalled last night."),
    (CAR, "I gave my car to my daughter."),
    (CAR, "I don't have a car anymore."),
    (CAR, "I don't drive anymore."),
    (DIET, "I eat meat again."),
    (DIET, "I've started eating chicken."),
    (DIET, "not a vegetarian any more"),
    ("I'm vegan.", "I've gone back to eating dairy."),
    ("I'm vegan.", "I gave up being vegan."),
    ("I'm on keto.", "I've quit keto."),
    ("I don't eat fish.", "I've started eating fish again."),
    ("I don't drink alcohol.", "I drink wine again now."),
    ("I don't drink coffee.", "I'm back on coffee."),
    ("I've stopped smoking.", "I've started smoking again."),
    (NUTS, "I've outgrown my walnut allergy."),
    (NUTS, "The test came back negative, no walnut allergy."),
    ("I play the cello.", "I stopped playing the cello."),
    ("My dentist is Dr Malik.", "My dentist has retired."),
]


@pytest.mark.parametrize(("said", "ended"), ENDED)
def test_what_has_ended_holds_no_more(said: str, ended: str) -> None:
    assert holds(said) != []
    assert holds(said, ended) == []


CHANGED: list[tuple[str, str, Facts]] = [
    (JOB, "I retired last month.", [("occupation", "retired")]),
    ("I live in Bristol.", "I left Bristol in the spring, now I'm in Cardiff.",
     [("home_city", "Cardiff")]),
    (WIFE, "I'm divorced now.", [("marital_status", "divorced")]),
    (WIFE, "My wife passed away in June.", [("marital_status", "widowed")]),
    ("My boyfriend is Luca.", "I'm single again.", [("marital_status", "single")]),
    ("I'm single.", "I've got a girlfriend now, her name is Ilse.", [("partner", "Ilse")]),
    ("We have two kids.", "We had a third child last week, Max.", [("child", "Max")]),
    ("I'm pregnant.", "The baby's here! Her name is Elsie.", [("child", "Elsie")]),
    (CAR, "I sold my car and bought a Cupra Born.", [("vehicle", "Cupra Born")]),
    (DRUG, "My doctor switched me to insulin.", [("medication", "insulin")]),
    (DRUG, "I've been switched from metformin to insulin.", [("medication", "insulin")]),
    ("I'm on lisinopril.", "They changed my lisinopril to losartan.",
     [("medication", "losartan")]),
    ("I'm on warfarin.", "I'm on apixaban now instead of warfarin.", [("medication", "apixaban")]),
    ("I love sushi.", "I can't stand sushi these days.", [("dislikes", "sushi")]),
    ("I hate olives.", "I actually like olives now.", [("likes", "olives")]),
    ("I'm Joe.", "My name isn't Joe, it's Jo.", [("name", "Jo")]),
    ("My dentist is Dr Malik.", "I've changed dentists, it's Dr Rowe now.",
     [("doctor", "Dr Rowe")]),
    ("I have two cats, Pip and Squeak.", "Squeak ran away.", [("pet", "Pip")]),
]  # fmt: skip


@pytest.mark.parametrize(("said", "changed", "facts"), CHANGED)
def test_what_has_changed_holds_as_it_is_now(said: str, changed: str, facts: Facts) -> None:
    assert holds(said, changed) == facts


UNCHANGED: list[tuple[str, str]] = [
    (JOB, "If I quit my job, what happens to my pension?"),
    (JOB, "I almost quit my job today."),
    (JOB, "I dreamed that I quit my job."),
    (JOB, "I got fired from my first job at sixteen."),
    (JOB, "My wife got laid off."),
    (JOB, "I left early because the office was cold."),
    (JOB, "I quit the app and restarted."),
    (BOSS, "My boss left for lunch."),
    (WIFE, "My sister and her husband broke up."),
    (WIFE, "We split the bill and went home."),
    (WIFE, "We almost broke up last month."),
    (WIFE, "I left my wife at the airport."),
    (WIFE, "Hanna and I are getting divorced."),
    (PET, "My uncle Momo died."),
    (PET, "Momo died laughing, haha."),
    (PET, "Our neighbour's cat died."),
    (CAR, "My brother's car was stolen."),
    (CAR, "I'm thinking of selling my car."),
    (CAR, "I don't have the car today, it's in the garage."),
    (CAR, "How much would I get if I sold my car?"),
    (DIET, "My husband eats meat again."),
    (DIET, "I wish I could eat meat again."),
    ("I'm gluten-free.", "I eat meat again."),
    (DRUG, "Should I ask to be switched to insulin?"),
    (DRUG, "My mother was switched to insulin."),
    (NUTS, "My son has no walnut allergy, thankfully."),
    ("I live in Leeds.", "My sister moved to Linz last weekend."),
]


@pytest.mark.parametrize(("said", "then"), UNCHANGED)
def test_what_did_not_end_or_is_of_another_changes_nothing(said: str, then: str) -> None:
    assert holds(said, then) == holds(said)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I've stopped drinking coffee.", [("avoids", "coffee")]),
        ("We've cut out sugar.", [("avoids", "sugar")]),
        ("I no longer drink coffee.", [("avoids", "coffee")]),
        ("I've been off sugar since January.", [("avoids", "sugar")]),
        ("I don't drink tea either.", [("avoids", "tea")]),
        ("I'm from Portugal.", [("hometown", "Portugal")]),
        ("I come from a small town called Weiz.", [("hometown", "Weiz")]),
        ("I'm going by Lou these days.", [("preferred_name", "Lou")]),
    ],
)
def test_habits_origins_and_names_are_learned_as_they_are_said(text: str, facts: Facts) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "We had a third one, Max.",
        "If we had a third child, Max would be jealous.",
        "My boss moved to Hamburg.",
        "My daughter went to Leeds.",
        "I stopped drinking my coffee when the phone rang.",
        "I gave up coffee for a week.",
        "My doctor told me to quit smoking.",
        "My sister had a baby, Otto.",
        "I'm flying from Portugal.",
        "I'm from Croatia Airlines.",
        "Suppose I quit my job.",
        "My colleague says we broke up.",
        "Is it true that I eat meat again?",
        "In my novel I sold my car.",
    ],
)
def test_what_is_not_said_of_oneself_is_neither_learned_nor_taken_back(text: str) -> None:
    assert told(text) == []
