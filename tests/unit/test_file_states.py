"""Which files there are after some changes."""

from __future__ import annotations

from typing import Literal

from agentjournal.events import FileChanged
from commands.file_states import FileState, file_states, same_path

Reason = Literal["create", "edit", "delete", "revert"]


def changed(path: str, reason: Reason, before: str | None, after: str | None) -> FileChanged:
    return FileChanged(
        path=path, reason=reason, before_digest=before, after_digest=after, artifact=after
    )


def test_a_file_is_as_its_last_change_left_it() -> None:
    changes = [
        (2, changed("b", "create", None, "1")),
        (3, changed("a", "create", None, "2")),
        (4, changed("b", "edit", "1", "3")),
        (7, changed("c", "create", None, "4")),
        (8, changed("c", "delete", "4", None)),
    ]
    assert file_states(changes) == [
        FileState("a", 3, "create", "2", "2"),
        FileState("b", 4, "edit", "3", "3"),
    ]
    assert [each.path for each in file_states(changes[:4])] == ["a", "b", "c"]


def test_a_file_that_was_put_back_to_nothing_is_gone_and_may_come_again() -> None:
    changes = [
        (1, changed("a", "create", None, "1")),
        (2, changed("a", "revert", "1", None)),
    ]
    assert file_states(changes) == []
    again = [*changes, (3, changed("a", "revert", None, "1"))]
    assert file_states(again) == [FileState("a", 3, "revert", "1", "1")]


def test_a_change_that_tells_no_content_leaves_a_file_whose_content_is_not_known() -> None:
    [state] = file_states([(1, changed("a", "edit", None, None))])
    assert (state.content, state.version) == (None, 1)


def test_one_path_in_two_ways_of_writing_it_is_one_file() -> None:
    changes = [(1, changed("./a//b", "create", None, "1")), (2, changed("a/b", "edit", "1", "2"))]
    assert file_states(changes) == [FileState("a/b", 2, "edit", "2", "2")]
    assert same_path("/a/./b/") == "/a/b"
    assert same_path("a/../b") == "a/../b"
