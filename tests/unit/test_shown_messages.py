"""What is shown of a message while it is written, and kept in case its writer dies."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal.drafts import (
    Draft,
    KeptDraft,
    Piece,
    decode_draft,
    decode_piece,
    encode_draft,
    encode_piece,
    is_abandoned,
)
from agentjournal.streaming import MOST_STREAMED_BYTES
from tests.servers import eventually
from tests.unit.streamed import DRAFT, Kept, Recorder, streamed


async def test_many_pieces_are_few_publications() -> None:
    recorder, kept = Recorder(), Kept()
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with streamed(recorder, kept) as message:
        for _ in range(2_000):
            await message.write("token ")
    assert recorder.message.text == "token " * 2_000
    assert len(kept.puts) <= 2 + (loop.time() - began) / 0.1


async def test_the_first_piece_is_shown_at_once() -> None:
    recorder, kept = Recorder(), Kept()
    async with streamed(recorder, kept) as message:
        await message.write("a")
        await eventually(lambda: kept.puts, timeout_s=0.09)


async def test_a_model_that_is_always_ahead_does_not_hold_up_what_is_shown() -> None:
    recorder, kept = Recorder(), Kept()
    async with streamed(recorder, kept) as message:
        for _ in range(100):
            await message.write("token ")
        assert kept.puts, "though nothing else was waited for"


async def test_a_writer_that_says_nothing_says_that_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentjournal.streaming.BEAT_S", 0.01)
    recorder, kept = Recorder(), Kept()
    async with streamed(recorder, kept) as message:
        await message.write("a")
        await eventually(lambda: len(kept.puts) >= 4)
    assert kept.puts[:3] == [("a", 0), ("", 1), ("", 1)]


async def test_without_redis_it_is_recorded_all_the_same() -> None:
    recorder, kept = Recorder(), Kept(is_away=True)
    async with streamed(recorder, kept) as message:
        await message.write("a")
    assert recorder.message.text == "a"
    recorder = Recorder()
    async with streamed(recorder, None) as message:
        await message.write("a")
    assert recorder.message.text == "a"


async def test_once_redis_is_back_it_has_all_that_was_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentjournal.streaming._OUTAGE_PAUSE_S", 0.01)
    recorder, kept = Recorder(), Kept(is_away=True)
    async with streamed(recorder, kept) as message:
        await message.write("a")
        await eventually(lambda: kept.tries >= 2)
        await message.write("b")
        kept.is_away = False
        await eventually(lambda: kept.text == "ab")
    assert kept.puts[0] == ("ab", 0)


async def test_what_is_kept_of_a_message_fits_into_an_append() -> None:
    recorder, kept = Recorder(), Kept()
    piece = "\0" * 1_000  # 6,000 bytes of JSON
    async with streamed(recorder, kept) as message:
        for _ in range(100):
            await message.write(piece)
    assert recorder.message.text == piece * 100
    assert kept.text == piece * (MOST_STREAMED_BYTES // 6_002)


def test_drafts_and_pieces_survive_with_any_text() -> None:
    draft = Draft("d", "m \N{PILE OF POO}", "assistant", "name", None, 7)
    assert decode_draft("d", encode_draft(draft)) == draft
    piece = Piece("d", "m", "assistant", 3, "\0\ud800 $text \U0001f600")
    assert decode_piece(encode_piece(piece)) == piece


@pytest.mark.parametrize("raw", [b"", b"{}", b"[1]", b"1", b'["d","m","r","0","t"]', b"\xff"])
def test_what_is_no_piece_is_refused(raw: bytes) -> None:
    with pytest.raises((TypeError, ValueError)):
        decode_piece(raw)


def test_a_writer_is_given_up_when_it_is_silent_or_its_lease_was_taken() -> None:
    mine = KeptDraft(DRAFT._replace(fence=5), "", idle_s=3.0)
    assert not is_abandoned(mine, 4.0, None)
    assert is_abandoned(mine, 2.0, None)
    assert not is_abandoned(mine, 4.0, fence=5)
    assert is_abandoned(mine, 4.0, fence=6)
    assert not is_abandoned(mine, 4.0, fence=4)
    assert not is_abandoned(KeptDraft(DRAFT, "", idle_s=3.0), 4.0, fence=6)
