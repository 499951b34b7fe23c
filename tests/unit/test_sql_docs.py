"""The page of the SQL views says what the database says of them."""

from __future__ import annotations

from agentjournal.sql_statements import read_statements
from commands.sql_page import SQL_PAGE, comments, sql_page


def test_the_page_of_views_is_up_to_date() -> None:
    assert SQL_PAGE.read_text(encoding="utf-8") == sql_page(), (
        "docs/sql.md is older than the migrations: run python -m commands.sql_page"
    )


def test_every_question_is_asked_of_one_tenant() -> None:
    for name, statement in read_statements("commands", "questions.sql").items():
        assert statement.startswith("-- "), name
        assert statement.count("tenant = 'default'") == 1, name


def test_a_comment_is_read_as_the_database_reads_it() -> None:
    found = {(each.name, each.column): each.text for each in comments()}
    assert found["notes", ""] == (
        "Working memory: the last note of each key, also a deleted one. What was noted before a "
        "session ended is not shown, nor what was noted before one expired that is not resumed yet."
    )
    assert found["plans", "created_at"] == "broker's time"
    assert found["unknown_calls", ""].startswith("Tool calls that are open")


def test_every_row_says_whose_it_is_and_where_it_comes_from() -> None:
    columns: dict[str, set[str]] = {}
    for each in comments():
        if each.kind == "COLUMN":
            columns.setdefault(each.name, set()).add(each.column)
    elsewhere = {
        "streams",
        "projection_status",
        "parked",
        "generations",
        "conflicts",
        "dead_letters",
        "facts",
        "current_facts",
        "fact_retractions",
        "searched_streams",
    }  # of streams and projections, of entities, and of requests that no event came from
    for view, found in columns.items():
        if view not in elsewhere:
            assert {"tenant", "session_id", "version"} <= found, view
