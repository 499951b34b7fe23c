"""A streamed message is recorded once, whatever becomes of its writer and of what shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from agentjournal import (
    AppendIdReused,
    AppendRejected,
    MessageAbandoned,
    MessageAdded,
    ModelCalled,
    ReasoningPart,
    Receipt,
    StreamedMessage,
    TextPart,
    ToolCallPart,
    Unavailable,
)
from agentjournal.drafts import (
    Draft,
    Feed,
    KeptDraft,
    Piece,
    append_id_of,
    decode_draft,
    decode_piece,
    encode_draft,
    encode_piece,
    is_abandoned,
)
from agentjournal.events import Event
from agentjournal.ids import Partition, Position, StreamId, Version, stream_id
from agentjournal.streaming import MOST_STREAMED_BYTES
from tests.servers import eventually

STREAM = stream_id("session", "t", "s")
DRAFT = Draft("draft", "m-1", "assistant")


@dataclass
class Kept:
    """Keeps one draft, and may be away."""

    text: str = ""
    puts: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    dropped: list[str] = field(default_factory=list[str])
    is_away: bool = False
    tries: int = 0

    async def put(self, stream: StreamId, draft: Draft, text: str, published: int) -> None:
        assert (stream, draft) == (STREAM, DRAFT)
        await asyncio.sleep(0)
        self.tries += 1
        if self.is_away:
            raise Unavailable("Redis", "it is away")
        assert text[:published] == self.text[:published]
        self.puts.append((text[published:], published))
        self.text = text

    async def kept(self, streams: Sequence[StreamId]) -> Mapping[StreamId, Sequence[KeptDraft]]:
        return {stream: [KeptDraft(DRAFT, self.text, 0.0)] for stream in streams}

    async def drop(self, stream: StreamId, draft_id: str) -> None:
        assert stream == STREAM
        self.dropped.append(draft_id)

    def feed(
        self, deliver: Callable[[StreamId, Piece], None], begun: Callable[[StreamId], None]
    ) -> Feed:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


@dataclass
class Recorder:
    """Stands for a session that appends."""

    refusal: Exception | None = None
    appends: list[tuple[list[Event], str]] = field(default_factory=list[tuple[list[Event], str]])
    kept: list[asyncio.Future[Receipt]] = field(default_factory=list[asyncio.Future[Receipt]])
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.may_go_on.set()

    async def record(self, events: Sequence[Event], append_id: str) -> Receipt:
        await self.may_go_on.wait()
        if self.refusal is not None:
            raise self.refusal
        self.appends.append((list(events), append_id))
        version = Version(len(self.appends))
        return Receipt(STREAM, Partition(0), Position(0), version, version, False, append_id)

    @property
    def message(self) -> MessageAdded:
        (((message, *_), append_id),) = self.appends
        assert isinstance(message, MessageAdded)
        assert append_id == append_id_of(message.message_id)
        return message


def streamed(
    recorder: Recorder, drafts: Kept | None = None, draft: Draft = DRAFT
) -> StreamedMessage:
    return StreamedMessage(STREAM, draft, drafts, recorder.record, recorder.kept.append)


async def test_the_end_of_the_block_records_the_whole_text_once() -> None:
    recorder, kept = Recorder(), Kept()
    async with streamed(recorder, kept) as message:
        for word in ("Hel", "", "lo", "\0\ud83d", "\ude00"):
            await message.write(word)
        assert message.receipt is None
    assert recorder.message == MessageAdded(
        message_id="m-1", role="assistant", content="Hello\0\ud83d\ude00"
    )
    assert message.receipt is not None
    assert message.receipt.last_version == 1
    assert "".join(text for text, _ in kept.puts) == "Hello\0\ud83d\ude00"
    assert kept.dropped == ["draft"]


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


async def test_a_writer_that_says_nothing_says_that_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentjournal.streaming.BEAT_S", 0.01)
    recorder, kept = Recorder(), Kept()
    async with streamed(recorder, kept) as message:
        await message.write("a")
        await eventually(lambda: len(kept.puts) >= 4)
    assert kept.puts[:3] == [("a", 0), ("", 1), ("", 1)]


@pytest.mark.parametrize("error", [ValueError("x"), asyncio.CancelledError()])
async def test_what_there_was_is_recorded_as_incomplete(error: BaseException) -> None:
    recorder = Recorder()
    reasoning = ReasoningPart(text="hm", provider="p")
    call = ToolCallPart(call_id="c", name="pay", arguments_text="{}")
    message = streamed(recorder, Kept())

    async def write() -> None:
        async with message:
            message.add(reasoning)
            await message.write("I will ")
            message.add(call)
            await message.write("pay")
            raise error

    with pytest.raises(type(error)):
        await write()
    assert recorder.message.status == "incomplete"
    assert recorder.message.parts == [reasoning, TextPart(text="I will "), TextPart(text="pay")]
    assert message.receipt is not None


async def test_nothing_is_recorded_where_nothing_was_written() -> None:
    recorder = Recorder()
    with pytest.raises(ValueError, match="x"):
        async with streamed(recorder, Kept()):
            raise ValueError("x")
    assert recorder.appends == []


async def test_a_model_that_answers_nothing_has_answered() -> None:
    recorder = Recorder()
    async with streamed(recorder, Kept()):
        pass
    assert (recorder.message.parts, recorder.message.status) == ([], "complete")


async def test_who_is_cancelled_again_and_again_loses_nothing() -> None:
    recorder = Recorder()
    recorder.may_go_on.clear()
    writing = asyncio.Event()

    async def write() -> None:
        async with streamed(recorder, Kept()) as message:
            await message.write("a")
            writing.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    await writing.wait()
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)
    recorder.may_go_on.set()
    await asyncio.wait(recorder.kept)
    assert (recorder.message.text, recorder.message.status) == ("a", "incomplete")


async def test_who_is_cancelled_while_the_end_is_recorded_has_it_whole() -> None:
    recorder = Recorder()
    recorder.may_go_on.clear()

    async def write() -> None:
        async with streamed(recorder, Kept()) as message:
            await message.write("a")

    task = asyncio.create_task(write())
    await eventually(lambda: recorder.kept)
    task.cancel()
    await asyncio.sleep(0)
    recorder.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait(recorder.kept)
    assert (recorder.message.text, recorder.message.status) == ("a", "complete")


async def test_tool_calls_and_what_the_model_cost_go_into_the_same_append() -> None:
    recorder = Recorder()
    call = ToolCallPart(call_id="c", name="pay", arguments_text="{}")
    called = ModelCalled(
        model_call_id="mc", provider="p", request_model="m", input_tokens=1, output_tokens=1,
        duration_ms=1, status="completed", attempt=1,
    )  # fmt: skip
    async with streamed(recorder, Kept()) as message:
        await message.write("I pay")
        receipt = await message.finish(parts=[call], events=[called])
    assert receipt == message.receipt
    assert recorder.message.parts == [TextPart(text="I pay"), call]
    assert recorder.appends[0][0][1:] == [called]
    with pytest.raises(ValueError, match="is finished"):
        await message.write("more")
    with pytest.raises(ValueError, match="is finished"):
        await message.finish()


async def test_another_may_append_it_in_the_place_of_the_session() -> None:
    recorder, other = Recorder(), Recorder()
    async with streamed(recorder, Kept()).recorded_by(other.record) as message:
        await message.write("a")
    assert recorder.appends == []
    assert other.message.text == "a"


async def test_an_error_after_the_end_changes_nothing() -> None:
    recorder = Recorder()

    async def write() -> None:
        async with streamed(recorder, Kept()) as message:
            await message.write("a")
            await message.finish()
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        await write()
    assert recorder.message.status == "complete"


async def test_what_is_no_part_is_refused_where_it_is_added() -> None:
    recorder = Recorder()
    wrong: Any = {"type": "text"}
    async with streamed(recorder, Kept()) as message:
        with pytest.raises(AppendRejected) as refused:
            message.add(wrong)
        assert refused.value.path == "parts[0].text"
        no_text: Any = None
        with pytest.raises(AppendRejected, match="text: is a NoneType, not text"):
            await message.write(no_text)
        await message.write("a")
    assert recorder.message.text == "a"


async def test_a_refused_end_may_be_corrected() -> None:
    recorder = Recorder(AppendRejected("events[1]", "no"))
    async with streamed(recorder, Kept()) as message:
        await message.write("a")
        with pytest.raises(AppendRejected):
            await message.finish()
        recorder.refusal = None
        await message.finish()
    assert recorder.message.text == "a"


async def test_who_was_taken_for_dead_is_told_so() -> None:
    recorder, kept = Recorder(AppendIdReused("id", STREAM)), Kept()
    message = streamed(recorder, kept)
    with pytest.raises(MessageAbandoned) as told:
        async with message:
            await message.write("a")
    assert (told.value.stream, told.value.message_id) == (STREAM, "m-1")
    assert message.receipt is None
    assert kept.dropped == ["draft"]


async def test_the_callers_error_is_not_hidden_by_one_of_the_log() -> None:
    recorder, kept = Recorder(Unavailable("Kafka", "it is away")), Kept()

    async def write() -> None:
        async with streamed(recorder, kept) as message:
            await message.write("a")
            raise KeyError("x")

    with pytest.raises(KeyError) as raised:
        await write()
    assert "Kafka cannot be reached" in raised.value.__notes__[0]
    assert kept.text == "a", "what can be recorded later"
    assert kept.dropped == []


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
