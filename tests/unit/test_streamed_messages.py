"""A streamed message is recorded once, whatever becomes of its writer and of what shows it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentjournal import (
    AppendIdReused,
    AppendRejected,
    MessageAbandoned,
    MessageAdded,
    ModelCalled,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    Unavailable,
)
from tests.servers import eventually
from tests.unit.streamed import STREAM, Kept, Recorder, streamed


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
