"""Reading logs that grow."""

from __future__ import annotations

from pathlib import Path

from local.logs import Followed, last_lines


def test_the_last_lines_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    log.write_bytes(b"one\ntwo\nthr\xffee\n")
    assert last_lines(log, 2) == ["two", "thr�ee"]
    assert last_lines(log, 0) == []
    assert last_lines(log, 100) == ["one", "two", "thr�ee"]
    assert last_lines(tmp_path / "none.log", 5) == []


def test_a_followed_log_gives_whole_lines_once(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    log.write_text("old\n", encoding="utf-8")
    followed = Followed(log, from_start=False)
    with log.open("a", encoding="utf-8") as file:
        file.write("new\nhal")
        file.flush()
        assert followed.new_lines() == ["new"]
        file.write("f\n")
        file.flush()
        assert followed.new_lines() == ["half"]
    assert followed.new_lines() == []


def test_a_log_that_was_put_aside_is_read_from_its_new_beginning(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    log.write_text("a long first log\n", encoding="utf-8")
    followed = Followed(log, from_start=True)
    assert followed.new_lines() == ["a long first log"]
    log.write_text("new\n", encoding="utf-8")
    assert followed.new_lines() == ["new"]
