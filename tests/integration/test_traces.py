"""One trace from an append to its rows, through real servers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from opentelemetry import trace

from agentjournal.settings import Settings
from tests.servers import connected, eventually, inside, projector, query, roles, sequencer
from tests.spans import Spans, attributes, context_of, named_in
from tests.support import message, request, said

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def spans() -> Spans:
    """The provider of this process, as a program or `consumers.otel_sdk` would set it."""
    spans = Spans()
    trace.set_tracer_provider(spans.provider)
    return spans


async def test_an_append_is_one_trace_from_the_caller_to_the_rows(
    fresh: Settings, spans: Spans
) -> None:
    settings = replace(fresh, traces=True)
    async with connected(settings) as log, roles(settings, sequencer, projector):
        session = log.session("s", user="u-7")
        with trace.get_tracer("caller").start_as_current_span("turn"):
            receipt = await session.append([message("a"), message("b")])
        # What a foreign client may write there is kept, and harms nobody.
        odd = said("c")._replace(traceparent="00-rubbish")
        appends = inside(log).appender
        asked = request(odd, reply_to=appends.reply_to)
        pending = await appends.submit(session.stream, asked, 20)
        await log.caught_up(await appends.receipt(pending, 20), timeout_s=20)
        await eventually(lambda: [s for s in spans.ended() if s.name.startswith("project")])
    turn = next(span for span in spans.ended() if span.name == "turn")
    whole = {s.name.split()[0]: s for s in spans.ended() if context_of(s)[0] == context_of(turn)[0]}
    assert whole.keys() == {"turn", "append", "sequence", "project"}
    parents = {name: span.parent and f"{span.parent.span_id:016x}" for name, span in whole.items()}
    append = context_of(whole["append"])[1]
    assert parents == {
        "turn": None,
        "append": context_of(turn)[1],
        "sequence": append,
        "project": append,
    }
    for name in ("append", "sequence", "project"):
        assert attributes(whole[name])["agentjournal.version.last"] == 3
    assert attributes(whole["append"])["messaging.kafka.offset"] == receipt.position
    rows = await query(fresh, "SELECT traceparent FROM agentjournal.events ORDER BY version")
    *ours, foreign = [row["traceparent"] for row in rows]
    assert [named_in(each) for each in ours] == [context_of(whole["append"])] * 3
    assert foreign == "00-rubbish"
