"""Files are written below one folder, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.writing_below import NotBelowError, write_below

STEPS = st.sampled_from(["..", ".", "", "a", "b", "link", "\0", "\ud800", "~", "x" * 300])
PATHS = st.lists(STEPS, max_size=5).map("/".join)


def tree(folder: Path) -> dict[str, bytes]:
    found = (each for each in folder.rglob("*") if each.is_file() and not each.is_symlink())
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in found}


def test_a_file_is_written_with_the_folders_above_it(tmp_path: Path) -> None:
    write_below(tmp_path, "src/deep/./a b.py", b"one")
    write_below(tmp_path, "src//deep/a b.py", b"two")
    assert tree(tmp_path) == {"src/deep/a b.py": b"two"}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/etc/x", "is an absolute path"),
        ("../x", "leads out of the folder"),
        ("a/../../x", "leads out of the folder"),
        ("", "is no path of a file"),
        ("a/", "is no path of a file"),
        ("a\0b", "is no path of a file"),
        ("\ud800", "is no path of a file"),
        ("x" * 300, "File name too long"),
        ("file/x", "Not a directory"),
        ("folder", "Is a directory"),
        ("link/x", "there is a symbolic link at link"),
        ("to_file", "there is a symbolic link at to_file"),
    ],
)
def test_what_leads_elsewhere_is_refused(tmp_path: Path, path: str, reason: str) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    (inside / "folder").mkdir(parents=True)
    outside.mkdir()
    (outside / "kept").write_bytes(b"kept")
    (inside / "file").write_bytes(b"file")
    (inside / "link").symlink_to(outside)
    (inside / "to_file").symlink_to(outside / "kept")
    before = tree(tmp_path)
    with pytest.raises(NotBelowError) as refused:
        write_below(inside, path, b"new")
    assert str(refused.value) == reason
    assert tree(tmp_path) == before


@given(path=PATHS)
def test_whatever_the_path_nothing_outside_changes(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    top = tmp_path_factory.mktemp("top")
    outside, inside = top / "outside", top / "inside"
    outside.mkdir()
    inside.mkdir()
    (inside / "link").symlink_to(outside)
    try:
        write_below(inside, path, b"new")
    except NotBelowError:
        assert tree(top) == {}
    else:
        assert [tree(outside), list(tree(inside).values())] == [{}, [b"new"]]
        assert sorted(each.name for each in top.iterdir()) == ["inside", "outside"]
