"""What is said plainly, in the words that come to mind first, is learned; its denial is not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agentjournal.memory.rules import default_rules
from tests.unit.test_memory_speech import told

PLAIN: list[tuple[str, list[tuple[str, Any]]]] = [
    ("My name is Jo Park.", [("name", "Jo Park")]),
    ("Please call me Max.", [("preferred_name", "Max")]),
    ("I wish to be addressed as Dr Osei.", [("preferred_name", "Dr Osei")]),
    ("I live in Lisbon.", [("home_city", "Lisbon")]),
    ("I moved from Paris to London.", [("home_city", "London")]),
    ("I no longer live in Berlin, I moved to Hamburg.", [("home_city", "Hamburg")]),
    ("I'm Portuguese.", [("nationality", "Portuguese")]),
    ("I work for Siemens.", [("employer", "Siemens")]),
    ("I left Acme and now work at Globex.", [("employer", "Globex")]),
    (
        "I work as a nurse at St. Mary's Hospital.",
        [("occupation", "nurse"), ("employer", "St. Mary's Hospital")],
    ),
    ("My boss is Karen Whitfield.", [("manager", "Karen Whitfield")]),
    ("My sister's name is Paula.", [("sibling", "Paula")]),
    ("We have two cats, Luna and Milo.", [("pet", "Luna"), ("pet", "Milo")]),
    ("My birthday is April 5.", [("birthday", "--04-05")]),
    ("My phone number is +49 30 1234567.", [("phone", "+49 30 1234567")]),
    ("My customer number is K-20418.", [("customer_number", "K-20418")]),
    ("I speak French and a bit of Italian.", [("speaks", "French"), ("speaks", "Italian")]),
    ("I drive a Toyota Yaris.", [("vehicle", "Toyota Yaris")]),
    ("I'm allergic to peanuts.", [("allergy", "peanuts")]),
    ("I have type 2 diabetes.", [("medical_condition", "type 2 diabetes")]),
    ("I can't eat nuts anymore.", [("avoids", "nuts")]),
    ("I don't eat pork.", [("avoids", "pork")]),
    ("I never fly with Ryanair.", [("avoids", "Ryanair")]),
    ("I'm not available on Mondays.", [("availability", "not on Mondays")]),
    ("I'm not available before 10.", [("availability", "not before 10")]),
    ("My maximum budget is 1,500 dollars.", [("budget", "1500 USD")]),
    ("I prefer tea to coffee.", [("likes", "tea")]),
    ("I prefer TypeScript over JavaScript.", [("likes", "TypeScript")]),
    ("I prefer a quiet room on a high floor.", [("likes", "quiet room on a high floor")]),
    ("I used to like sushi, now I prefer ramen.", [("~likes", "sushi"), ("likes", "ramen")]),
    ("I have changed my favourite colour to Teal.", [("favourite_colour", "Teal")]),
    ("Please always reply in German.", [("reply_language", "German")]),
    ("I always fly business class.", [("preferred_class", "business class")]),
    ("Our company has 120 employees.", [("size", 120)]),
    ("Our contract renews on 1 March 2027.", [("renewal_date", "2027-03-01")]),
    ("The contact person at our company is Omar Haddad.", [("contact", "Omar Haddad")]),
    ("We use Salesforce and Slack.", [("uses", "Salesforce"), ("uses", "Slack")]),
    ("We decided to use Postgres instead of MySQL.", [("database", "Postgres")]),
    ("We use Postgres rather than MySQL.", [("database", "Postgres")]),
    ("Instead of MySQL we use Postgres.", [("database", "Postgres")]),
    ("We chose React over Vue.", [("framework", "React")]),
    (
        "We switched from Jenkins to GitHub Actions.",
        [("uses", "GitHub Actions"), ("~uses", "Jenkins")],
    ),
    ("We will use Python 3.12 from now on.", [("language_version", "Python 3.12")]),
    ("The repository is github.com/example/harbour.",
     [("repository", "github.com/example/harbour")]),
    ("We moved the deadline to June 1, 2027.", [("deadline", "2027-06-01")]),
    ("Never commit generated files.", [("rule", "Never commit generated files")]),
    ("The team decided against microservices.", [("decision", "against microservices")]),
    ("I decided to cancel the gym membership.", [("decision", "cancel the gym membership")]),
    ("I replaced my iPhone with a Pixel 8.", [("~device", "iPhone"), ("device", "Pixel 8")]),
    (
        "I switched from metformin to insulin.",
        [("~medication", "metformin"), ("medication", "insulin")],
    ),
    ("We downgraded to the Basic plan.", [("plan", "Basic")]),
    ("Let's go with option B.", [("decision", "go with option B")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "facts"), PLAIN)
def test_what_is_said_plainly_is_learned(text: str, facts: list[tuple[str, Any]]) -> None:
    assert sorted(map(str, told(text))) == sorted(map(str, facts))


@pytest.mark.parametrize(
    "text",
    [
        "My email isn't jo@old.example.",
        "The deadline is not March 31, 2027.",
        "My customer number isn't K-20418.",
        "My seat is not the window.",
        "I'm not a nurse but a doctor.",
        "My blood pressure was 130 over 85 this morning.",
        "Please change my favourite colour in the list.",
        "They use MySQL.",
        "I wish my phone number was 030 1234567.",
        "Their repo is at github.com/example/harbour.",
        "My colleague says Priya is the owner of this project.",
        "My colleague says the project is called Harbour.",
    ],
)
def test_what_is_not_so_or_said_by_others_is_not_learned(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I don't live in Berlin anymore.", [("~home_city", "Berlin")]),
        ("I don't work at Acme any more.", [("~employer", "Acme")]),
        ("My email isn't jo@old.example anymore.", [("~email", "jo@old.example")]),
        ("My phone number is no longer valid.", [("~phone", None)]),
        ("I no longer use my old phone number.", [("~phone", None)]),
        ("I stopped taking metformin.", [("~medication", "metformin")]),
        ("I sold my ThinkPad.", [("~device", "ThinkPad")]),
        ("We got rid of Jenkins.", [("~uses", "Jenkins")]),
        ("My dog Rex died last year.", [("~pet", "Rex")]),
        ("Please take my allergy to peanuts off my file.", [("~allergy", "peanuts")]),
    ],
)
def test_what_holds_no_longer_is_taken_back(text: str, facts: list[tuple[str, Any]]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "My phone doesn't work anymore.",
        "My manager doesn't like me anymore.",
        "My wife no longer eats meat.",
        "My son doesn't live with us anymore.",
        "My budget is no longer an issue.",
        "I no longer have access to my email.",
        "I don't see my seats anymore in the app.",
        "Don't forget my birthday!",
        "Cancel my phone order.",
        "Remove my name from the attendee list for Friday.",
        "Ignore my email address in the signature.",
        "Forget the budget for a second.",
        "My colleague says I don't like spicy food anymore.",
    ],
)
def test_what_something_no_longer_does_takes_nothing_back(text: str) -> None:
    assert told(text) == []


_SENTENCES = sorted(
    {
        case.text
        for rule in default_rules().rules
        for case in rule.cases
        if case.asked is None and not re.search(r"[.!?;:,\n]\s|\?", case.text.strip())
    }
)


_FIRST_PERSON = re.compile(r"(?:I|We|My|Our|I'm|We're|I've|We've)\b")
_WRAPS = (
    "Suppose {}",
    "It is not true that {}",
    "Is it true that {}?",
    "For example, a user might write: {}",
)
_WRAPS_OF_ONES_OWN = ("Maybe {}", "I'm not sure whether {}", "I dreamed that {}")


def test_no_example_of_any_rule_is_learned_where_it_is_supposed_denied_or_asked() -> None:
    assert len(_SENTENCES) > 100
    learned: list[str] = []
    for text in _SENTENCES:
        said = text if re.match(r"I\b", text) else text[0].lower() + text[1:]
        for form in (*_WRAPS, *_WRAPS_OF_ONES_OWN * bool(_FIRST_PERSON.match(text))):
            wrapped = form.format(said.rstrip(".!") if form.endswith("?") else said)
            learned += [wrapped] * bool(told(wrapped))
    assert learned == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I don't know if I mentioned it, but I'm vegan.", [("diet", "vegan")]),
        ("I'm not sure if I told you, I live in Oslo.", [("home_city", "Oslo")]),
        ("If you need me, my number is +44 20 7946 0018.", [("phone", "+44 20 7946 0018")]),
        ("Please check if my account number 44-7712-90 is active.", []),
        ("I wonder whether my email is jo@example.org.", []),
    ],
)
def test_what_is_doubted_is_told_from_what_is_only_not_remembered_as_said(
    text: str, facts: list[tuple[str, object]]
) -> None:
    assert told(text) == facts
