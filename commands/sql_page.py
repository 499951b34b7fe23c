"""Write docs/sql.md: questions, and the comments that migrations give views, columns, functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agentjournal.sql_statements import read_statements
from consumers.postgres_migrations import read_migrations

SQL_PAGE = Path(__file__).resolve().parents[1] / "docs" / "sql.md"

_COMMENT = re.compile(
    r"^COMMENT ON (VIEW|COLUMN|FUNCTION) agentjournal\.(\w+)(?:\.(\w+)|\(([^)]*)\))? IS\s+"
    r"((?:'(?:[^']|'')*'\s*)+);",
    re.MULTILINE,
)
_LITERAL = re.compile(r"'((?:[^']|'')*)'")

_HEAD = """\
# The SQL views

Made from the comments in `consumers/migrations` by `python -m commands.sql_page`.

Everything that can be asked is in the schema `agentjournal`; `agentjournal sql` and
`agentjournal psql` ask as the role `agentjournal_analyst`, which reads these views and nothing
else.

* A row belongs to a `tenant`, and to a session or a task: exactly one of `session_id` and `task_id`
  says which. Views of what only sessions have know no tasks.
* `version` and `…_version` are versions of events in that stream, so `agentjournal.events` has the
  whole story, and its `raw_data` the exact bytes. Order is `version`.
* `…_at` and `…_until` are times with a zone. Those of events are the broker's; the rest is what a
  writer said.
* Columns whose meaning starts with JSON are `jsonb`, null where an event does not say. Values that
  JSON cannot hold are in the escape forms of `agentjournal.codec`. What Postgres cannot hold is
  replaced: NUL by `␀`, half of a surrogate pair in text by `�`, JSON beyond its bounds by
  `{"$unreadable": true}`.
* No table knows what time it is. What depends on it is a function, asked as of a moment; of views
  only `runnable` asks as of now.

```sql
-- What runs, and nobody knows how it ended?
SELECT session_id, tool, started_at FROM agentjournal.unknown_calls(now()) WHERE tenant = 'default';

-- Which steps of a plan are left, in order?
SELECT step_id, title, status FROM agentjournal.steps
WHERE tenant = 'default' AND session_id = 's-42' AND in_plan AND status <> 'completed'
ORDER BY planned_index;

-- What did a handoff lead to, and what did it cost?
SELECT t.path, t.agent, s.cost FROM agentjournal.session_tree AS t
JOIN agentjournal.sessions AS s USING (tenant, session_id)
WHERE t.tenant = 'default' AND t.root_session_id = 's-42' ORDER BY t.path;
```
"""


class Comment(NamedTuple):
    """What a view, a column of it, or a function means."""

    kind: str  # VIEW, COLUMN or FUNCTION
    name: str  # of the view or the function
    column: str  # empty: of the whole
    arguments: str  # of a function: their types
    text: str


def comments() -> list[Comment]:
    """Return the comments of all migrations, the last of each thing, in the order of the first."""
    found: dict[tuple[str, str, str], Comment] = {}
    for migration in read_migrations():
        for kind, name, column, arguments, literals in _COMMENT.findall(migration.sql.decode()):
            text = "".join(_LITERAL.findall(literals)).replace("''", "'")
            found[kind, name, column] = Comment(kind, name, column, arguments, text)
    return list(found.values())


def sql_page() -> str:
    """Return the text of docs/sql.md."""
    return "\n".join((_HEAD, *_questions(), *_views(), *_functions()))


def _questions() -> Iterator[str]:
    yield "## Questions that an analyst asks\n"
    for statement in read_statements("commands", "questions.sql").values():
        yield f"```sql\n{statement};\n```\n"


def _views() -> Iterator[str]:
    every = comments()
    for view in (each for each in every if each.kind == "VIEW"):
        yield f"## {view.name}\n\n{view.text}\n\n| column | meaning |\n| --- | --- |"
        for each in every:
            if each.kind == "COLUMN" and each.name == view.name:
                yield f"| `{each.column}` | {each.text} |"
        yield ""


def _functions() -> Iterator[str]:
    yield "## Functions\n\n| function | rows |\n| --- | --- |"
    for each in comments():
        if each.kind == "FUNCTION":
            yield f"| `{each.name}(as_of {each.arguments})` | {each.text} |"
    yield ""


def main() -> None:
    """Write the page."""
    SQL_PAGE.write_text(sql_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
