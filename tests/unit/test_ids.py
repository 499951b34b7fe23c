"""Stream ids: any text that people may read, in one spelling; event ids: ordered by time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.errors import AppendRejected
from agentjournal.ids import STREAM_KINDS, new_event_id, parse_stream, stream_id

CONTROL = [*range(32), *range(127, 160)]
names = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("/% .~+é😀"),
    min_size=1,
    max_size=160,
)


def refusal(kind: str, tenant: str, name: str) -> tuple[str, str]:
    with pytest.raises(AppendRejected) as refused:
        stream_id(kind, tenant, name)
    return refused.value.path, refused.value.reason


def test_a_stream_id_is_kind_tenant_and_id() -> None:
    assert stream_id("session", "acme", "s-42") == "session/acme/s-42"
    assert stream_id("user", "acme", "u_7.~") == "user/acme/u_7.~"


def test_what_is_no_letter_digit_or_one_of_four_signs_is_percent_encoded_as_utf_8() -> None:
    assert stream_id("task", "a/b", "ä %😀+") == "task/a%2Fb/%C3%A4%20%25%F0%9F%98%80%2B"


@given(st.sampled_from(STREAM_KINDS), names, names)
def test_every_id_comes_back_as_it_was(kind: str, tenant: str, name: str) -> None:
    stream = stream_id(kind, tenant, name)
    assert re.fullmatch(r"[a-z]+/[A-Za-z0-9_.~%-]+/[A-Za-z0-9_.~%-]+", stream)
    assert parse_stream(stream) == (kind, tenant, name)


def test_control_characters_are_refused_in_both_parts() -> None:
    for code in CONTROL:
        text = f"a{chr(code)}b"
        assert refusal("session", text, "s") == ("tenant", f"{text!r} holds control characters")
        assert refusal("session", "t", text) == ("id", f"{text!r} holds control characters")


@pytest.mark.parametrize("code", [0x20, 0x7E, 0xA0, 0xAD, 0x2028, 0xFFFF, 0x10FFFF])
def test_everything_beside_control_characters_is_taken(code: int) -> None:
    assert parse_stream(stream_id("session", "t", chr(code))) == ("session", "t", chr(code))


@pytest.mark.parametrize("character", ["a", "é", "😀"])
def test_an_id_has_1_to_255_characters_however_many_bytes_they_take(character: str) -> None:
    longest = character * 255
    assert parse_stream(stream_id("session", "t", longest))[2] == longest
    assert parse_stream(stream_id("session", longest, "s"))[1] == longest
    assert refusal("session", "t", longest + character) == ("id", "must have 1 to 255 characters")
    assert refusal("session", "", "s") == ("tenant", "must have 1 to 255 characters")


def test_a_stream_takes_at_most_4096_bytes_for_it_is_a_key_of_tables() -> None:
    wide = "😀" * 255  # 3,060 bytes, and 9 are the kind and the slashes
    assert len(stream_id("session", "é" * 171 + "x", wide)) == 4_096
    assert refusal("session", "é" * 171 + "xx", wide) == (
        "stream",
        "takes 4,097 bytes percent-encoded, at most 4,096",
    )


def test_half_of_a_surrogate_pair_is_refused() -> None:
    assert refusal("session", "t", "a\ud800") == (
        "id",
        r"'a\ud800' holds half of a surrogate pair",
    )


def test_an_unknown_kind_is_refused() -> None:
    path, reason = refusal("sessions", "t", "s")
    assert path == "stream"
    assert "'sessions' is not one of session, task, user, account, project" in reason


@pytest.mark.parametrize(
    "stream",
    [
        *("", "session", "session/t", "/t/s", "session//s", "session/t/", "session/t/s/", "x/t/s"),
        *("session/t/a/b", "Session/t/s", "session/t/s ", " session/t/s"),
        *("session/t/%c3%a4", "session/t/%61", "session/t/ä", "session/t/a b", "session/t/a+b"),
        *("session/t/%", "session/t/%2", "session/t/%zz", "session/t/%FF", "session/t/%ED%A0%80"),
        *("session/t/%00", "session/t/%C2%85", "session/t/" + "a" * 256, "session/t/%C3%A4" * 2),
    ],
)
def test_another_spelling_is_no_stream(stream: str) -> None:
    with pytest.raises(AppendRejected):
        parse_stream(stream)


def test_an_event_id_is_a_uuid_7_of_this_millisecond() -> None:
    before = time.time_ns() // 1_000_000
    made = new_event_id()
    after = time.time_ns() // 1_000_000
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", made
    )
    assert before <= int(made.replace("-", "")[:12], 16) <= after


def test_event_ids_of_one_moment_differ() -> None:
    assert len({new_event_id() for _ in range(10_000)}) == 10_000
