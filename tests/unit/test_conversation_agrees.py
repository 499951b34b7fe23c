"""The read model and the session's state are two folds of one log: they say the same."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal import Event, SessionStarted, SessionState
from agentjournal.ids import Position
from projections.conversation import CONVERSATION
from projections.folding import Place, ProjectionFold
from projections.rows import Row
from tests.support import Stream, request, typed
from tests.unit.conversation_strategies import each_message_once, events


def both(given: list[Event]) -> tuple[SessionState, dict[str, list[Row]]]:
    stream = Stream()
    for each in [SessionStarted(user="u-7", agent="a", title="old"), *given]:
        stream.accept(request(typed(each)))
    recorded = [r._replace(position=Position(at)) for at, r in enumerate(stream.recorded)]
    state = SessionState(stream.stream)
    for event in recorded:
        state.apply(event)
    fold = ProjectionFold(CONVERSATION)
    fold.places[stream.partition] = Place(Position(0), (-1, -1), "")
    fold.put(fold.missing(recorded), {})
    changes = fold.fold({stream.partition: recorded}).changes
    return state, {t.name: changes.sorted_rows(t.name) for t in CONVERSATION.tables}


@settings(max_examples=150)
@given(st.lists(events, max_size=10).map(each_message_once))
def test_state_and_rows_agree(given: list[Event]) -> None:
    state, rows = both(given)
    [session] = rows["sessions"]
    assert (session["user_id"], session["title"], session["status"], session["version"]) == (
        *(state.user, state.title, state.status, state.version),
    )
    assert session["head_hash"].hex() == state.hash
    assert (session["turn_id"] or None) == state.turn_id
    assert session.get("messages", 0) == len(state.messages)
    found = {
        row["call_id"]: (
            row.get("attempt") or 0,
            row.get("outcome") or "open",
            row.get("output"),
            row.get("error_type"),
            row["version"],
        )
        for row in rows["tool_calls"]
    }
    expected = {
        call.call_id: (
            call.attempt,
            call.outcome,
            call.output,
            call.error.type if call.error else None,
            call.version,
        )
        for call in state.calls.values()
    }
    assert found == expected
    shown = {m.message_id: (m.role, m.text, m.turn_id) for m in state.messages}
    assert {
        row["message_id"]: (row["role"], row["content"], row.get("turn_id"))
        for row in rows["messages"]
        if "role" in row
    } == shown
