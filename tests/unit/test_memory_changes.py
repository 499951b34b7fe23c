"""What changed at work holds as it is now; what was left, lifted or undone holds no longer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.memory_flows import Facts, holds

CHANGES: Sequence[tuple[tuple[str, ...], Facts]] = [
    # tools
    (("We run Celery for the jobs.", "Celery had to go in the end."), []),
    (("We use Memcached.", "We moved off Memcached in spring."), []),
    (("Our frontend is Angular.", "We finally threw out Angular."), []),
    (("Auth goes through Keycloak.", "Okta replaced Keycloak."), [("uses", "Okta")]),
    (("We're a Flask shop.", "We've left Flask for Litestar."), [("framework", "Litestar")]),
    (
        ("We deploy to Vercel.", "Vercel got pricey, so we're on Railway now."),
        [("deploy_target", "Railway")],
    ),
    (
        ("We're on Ruby 2.7.", "Ruby 2.7 is history, we're on 3.3 now."),
        [("language_version", "Ruby 3.3")],
    ),
    (
        ("We use yarn.", "We switched to bun.", "We went back to yarn."),
        [("package_manager", "yarn")],
    ),
    # the code
    (
        ("Our main branch is called master.", "We renamed master to trunk."),
        [("main_branch", "trunk")],
    ),
    (("Our line length is 88.", "We lowered the line length to 79."), [("line_length", 79)]),
    (
        ("We indent with tabs.", "Tabs are gone, we use two spaces now."),
        [("indentation", "two spaces")],
    ),
    # dates and money
    (("The deadline is 15 April.", "The deadline slipped by ten days."), []),
    (("The deadline is 15 April.", "The client extended the deadline by a week."), []),
    (("The deadline is 15 April.", "There is no deadline any more."), []),
    (
        ("Go-live is 2 March.", "We pushed the go-live back to 16 March."),
        [("deadline", "2026-03-16")],
    ),
    (
        ("Our budget is 6000 euros.", "We were given another 2,000, so 8,000 in total."),
        [("budget", "8,000")],
    ),
    (("Our budget is 6000 euros.", "There's no budget limit any more."), []),
    # how to answer
    (("Always answer in Polish.", "Danish is fine now."), [("reply_language", "Danish")]),
    (("Always answer in Polish.", "You don't need to answer in Polish any longer."), []),
    (
        ("Keep it short.", "Feel free to go into more detail from now on."),
        [("reply_style", "detailed")],
    ),
    (
        ("I like detailed explanations.", "Please keep it short from now on."),
        [("reply_style", "short")],
    ),
    (("No emojis please.", "You can use emojis again."), []),
    (("Be formal, please.", "You can be casual with me."), [("reply_style", "casual")]),
    # rules and decisions
    (("Never deploy on Fridays.", "We're allowed to deploy on Fridays again."), []),
    (("Never merge without a review.", "Merging without a review is fine from now on."), []),
    (("No meetings on Mondays.", "Meetings on Mondays are fine again."), []),
    (("Always sign your commits.", "You don't have to sign your commits any more."), []),
    (("No deploys until the release.", "The code freeze is over."), []),
    (("Tickets should be in English.", "Tickets don't need to be in English any more."), []),
    (
        ("Use British spelling in all docs.", "We've switched to American spelling."),
        [("rule", "American spelling")],
    ),
    (
        (
            "We decided to rebuild the portal.",
            "We've scrapped the plan to rebuild the portal.",
        ),
        [],
    ),
    (("We decided to split the importer.", "We're not splitting the importer after all."), []),
    (("We decided to outsource support.", "We changed our minds about outsourcing support."), []),
    # people and time
    (("My boss is Hanne Lund.", "Hanne Lund no longer works here."), []),
    (("Ivo is on my team.", "Ivo moved to a different team."), []),
    (("I work at Corwin Foods.", "I left Corwin Foods in October."), []),
    (("I'm not available on Thursdays.", "I can do Thursdays again."), []),
]


@pytest.mark.parametrize(("sessions", "facts"), CHANGES)
def test_what_changed_holds_as_it_is_now(sessions: Sequence[str], facts: Facts) -> None:
    assert holds(*sessions) == sorted(facts)


@pytest.mark.parametrize(
    ("said", "later"),
    [
        ("We use Memcached.", "Should we move off Memcached?"),
        ("We use Memcached.", "Tom wants to move off Memcached."),
        ("We use Memcached.", "My colleague says we moved off Memcached."),
        ("We use Memcached.", "Memcached was removed from the example in the docs."),
        ("We use Slack.", "I left Slack open all night."),
        ("We deploy to Heroku.", "I read that many are moving off Heroku."),
        ("We use Jest.", "We tried to replace Jest with Vitest but it didn't work out."),
        ("I use VS Code.", "My colleague moved to Neovim."),
        ("The deadline is 15 April.", "What happens if the deadline slips by a week?"),
        ("The deadline is 15 April.", "Their deadline was extended by a week."),
        ("The launch date is 15 April.", "They may push the launch to 20 May."),
        ("Our budget is 6000 euros.", "The marketing team got another 2000, so 8000 in total."),
        ("Our budget is 6000 euros.", "We got another 2000 users, so 8000 in total."),
        ("Our budget is 6000 euros.", "Tom says the budget is 5000 euros."),
        ("Always answer in Polish.", "Is Danish fine now?"),
        ("Keep it short.", "Can you explain this one in more detail?"),
        ("Never push to main.", "You can push the blue button now."),
        ("Never push to main.", "Why can't I push to main?"),
        ("No deploys until the release.", "Once the freeze is over we deploy."),
        ("We decided to rebuild the portal.", "Their plan to rebuild the portal was scrapped."),
        ("Ivo is on my team.", "Ivo left the team a note."),
        ("My boss is Hanne Lund.", "Hanne Lund has left the meeting."),
    ],
)
def test_what_is_asked_told_by_others_or_said_of_something_else_changes_nothing(
    said: str, later: str
) -> None:
    before = holds(said)

    assert before
    assert holds(said, later) == before


@pytest.mark.parametrize(
    "text",
    [
        "The client says the deadline is 4 May 2026.",
        "In my last company the main branch was called trunk.",
        "The competitor's app is written in Swift.",
        "For this one script use Python 2.7.",
        "In this file we go with plain JavaScript.",
        "Please use UTC for all timestamps.",
        "Okta handed over the parcel.",
    ],
)
def test_what_is_said_of_others_or_of_one_thing_is_not_learned(text: str) -> None:
    assert holds(text) == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Code comments should be in English from now on.",
            [("rule", "Code comments should be in English")],
        ),
        (
            "The search endpoint has to respond within 150 ms.",
            [("rule", "search endpoint has to respond within 150 ms")],
        ),
        ("I prefer TypeScript.", [("likes", "TypeScript")]),
    ],
)
def test_conventions_of_a_project_are_learned_as_such(
    text: str, facts: list[tuple[str, Any]]
) -> None:
    assert holds(text) == facts
