"""Which files an import is about, and what their sessions are called."""

from __future__ import annotations

from pathlib import Path

from importers.files import files_of


def made(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[]", encoding="utf-8")


def names(*paths: Path) -> list[str]:
    return [file.name for file in files_of(paths)]


def test_a_file_is_called_by_its_stem_whatever_its_ending(tmp_path: Path) -> None:
    made(tmp_path, "a.json", "b.txt", "c.tar.jsonl")
    assert names(tmp_path / "a.json", tmp_path / "b.txt") == ["a", "b"]
    assert names(tmp_path / "c.tar.jsonl") == ["c.tar"]


def test_of_a_folder_the_json_files_at_any_depth_are_found_in_order(tmp_path: Path) -> None:
    made(tmp_path, "z.json", "a/x.JSONL", "a/b/c/y.json", "a/notes.md")
    found = files_of([tmp_path])
    assert [file.name for file in found] == ["y", "x", "z"]
    assert not any(file.is_named for file in found)


def test_files_with_one_stem_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    made(tmp_path, "a/run/chat.json", "b/run/chat.json", "other.json")
    assert names(tmp_path) == ["a-run-chat.json", "b-run-chat.json", "other"]
    made(tmp_path / "same", "x.json", "x.jsonl")
    assert names(tmp_path / "same") == ["same-x.json", "same-x.jsonl"]


def test_a_file_that_is_meant_twice_is_imported_once(tmp_path: Path) -> None:
    made(tmp_path, "a.json")
    found = files_of([tmp_path, tmp_path / "a.json", tmp_path / "." / "a.json"])
    assert [(file.name, file.is_named) for file in found] == [("a", True)]
