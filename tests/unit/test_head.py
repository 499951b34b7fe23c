"""The head's memory of appends: the last 256, found by their digest and by nothing else."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.ids import Position, Version
from streams.head import (
    EMPTY,
    ENTRY_SIZE,
    WINDOW,
    Seen,
    find_append,
    id_digest,
    remember_append,
    status_after,
    user_after,
    user_digest,
)


class Entry(NamedTuple):
    """An append as a naive model keeps it."""

    digest: bytes
    seen: Seen


def entries(digests: st.SearchStrategy[bytes]) -> st.SearchStrategy[Entry]:
    """Entries with few different bytes, so that digests turn up across the borders of entries."""
    seen = st.builds(
        Seen,
        st.binary(min_size=8, max_size=8) | st.just(bytes(8)),
        st.integers(1, 2**48 - 1).map(Version),
        st.integers(1, 1_000),
        st.integers(0, 2**48 - 1).map(Position),
    )
    return st.builds(Entry, digests, seen)


alike = st.lists(st.sampled_from([0, 1]), min_size=10, max_size=10).map(bytes)


def remembered(appends: list[Entry]) -> bytes:
    window = b""
    for digest, seen in appends:
        window = remember_append(window, digest, seen)
    return window


@given(st.lists(entries(alike), max_size=12), alike)
def test_an_append_is_found_where_a_naive_search_finds_it(
    appends: list[Entry], wanted: bytes
) -> None:
    naive = next((seen for digest, seen in appends if digest == wanted), None)
    assert find_append(EMPTY._replace(appends=remembered(appends)), wanted) == naive


@given(st.lists(entries(st.binary(min_size=10, max_size=10)), min_size=1, max_size=5), st.data())
def test_bytes_that_only_look_like_an_append_are_none(
    appends: list[Entry], data: st.DataObject
) -> None:
    window = remembered(appends)
    at = data.draw(st.integers(0, len(window) - 10))
    wanted = window[at : at + 10]
    naive = next((seen for digest, seen in appends if digest == wanted), None)
    assert find_append(EMPTY._replace(appends=window), wanted) == naive


def test_a_false_hit_does_not_hide_the_true_one_behind_it() -> None:
    digest = b"0123456789"
    # The end of one id and the beginning of the next look like the wanted one; so does a content.
    before = Seen(digest[:8], Version(int.from_bytes(digest[8:] + bytes(4))), 1, Position(0))
    true = Seen(b"contents", Version(9), 2, Position(7))
    ids = [b"z" * 5 + digest[:5], digest[5:] + b"z" * 5, digest]
    window = remembered([Entry(ids[0], before), Entry(ids[1], before), Entry(ids[2], true)])
    assert window.find(digest) == 5
    assert find_append(EMPTY._replace(appends=window), digest) == true
    only_in_contents = remembered([Entry(b"z" * 10, before)])
    assert only_in_contents.find(digest) == 10
    assert find_append(EMPTY._replace(appends=only_in_contents), digest) is None


def test_an_append_takes_32_bytes_in_this_order() -> None:
    seen = Seen(b"contents", Version(0x010203040506), 0x0708, Position(0x090A0B0C0D0E))
    entry = remember_append(b"", b"digest-of-", seen)
    assert entry == b"digest-of-contents" + bytes(range(1, 15))
    assert len(entry) == ENTRY_SIZE == 32


def test_the_257th_append_pushes_out_the_first() -> None:
    digests = [id_digest(f"a{n}") for n in range(257)]
    appends = [
        Entry(digest, Seen(bytes(8), Version(n + 1), 1, Position(n)))
        for n, digest in enumerate(digests)
    ]
    full = EMPTY._replace(appends=remembered(appends[:256]))
    assert len(full.appends) == WINDOW * 32
    assert [find_append(full, digest) for digest in digests[:256]] == [
        e.seen for e in appends[:256]
    ]
    beyond = EMPTY._replace(appends=remembered(appends))
    assert len(beyond.appends) == WINDOW * 32
    assert find_append(beyond, digests[0]) is None
    assert find_append(beyond, digests[1]) == appends[1].seen
    assert find_append(beyond, digests[256]) == appends[256].seen


def test_an_append_id_is_remembered_by_10_bytes_of_its_sha_256() -> None:
    assert id_digest("é") == hashlib.sha256(b"\xc3\xa9").digest()[:10]


def test_users_are_told_apart_without_their_names() -> None:
    assert user_digest("u-7") == hashlib.sha256(b"u-7").digest()[:16]
    assert user_digest(None) == b""
    assert user_digest("u-7") != user_digest("u-8")


def test_only_the_start_says_whose_a_session_is() -> None:
    held = user_digest("u-7")
    assert user_after(b"", "session.started", {"user": "u-7"}) == held
    assert user_after(held, "session.started", {}) == b""
    assert user_after(held, "session.updated", {"user": "u-8"}) == held


def test_the_status_follows_the_session_s_events() -> None:
    status = "open"
    seen: list[str] = []
    for event_type in (
        *("session.started", "session.updated", "message.added"),
        *("session.ended", "session.resumed", "session.expired", "session.deleted"),
    ):
        status = status_after(status, event_type)
        seen.append(status)
    assert seen == ["open", "open", "open", "ended", "open", "expired", "deleted"]
