"""Compaction: what of a window's facts still stands there after it, or whether it is refused."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.errors import CompactionRefused
from agentjournal.ids import StreamId
from agentjournal.state import SessionState
from agentjournal.windows.compaction import CompactionRequest, compaction_of
from agentjournal.windows.window import WindowOptions, Windows
from evals.intervals import Share
from evals.labelled import Case, LabelledSession
from evals.promoting import TENANT, Extractor, recorded

KEPT = 2  # messages that stay as they are


def compaction(extractor: Extractor, case: Case) -> dict[str, Share]:
    """Return how many facts that stood in the window stand there after a compaction.

    Each session is compacted twice: with the facts that were promoted from it carried, and with
    none, where only labelled identifiers count. The summary says nothing. What was refused has
    lost nothing.
    """
    carried, bare = Share(0, 0), Share(0, 0)
    for session in case.sessions:
        candidates = extractor.read(session)[0].candidates
        learned = [(each.attribute, str(each.value)) for each in candidates if not each.retracts]
        names = [str(fact.value) for fact in session.facts if fact.kind == "identifier"]
        values = [*dict.fromkeys(value for _, value in learned), *names]
        carried = carried.plus(_kept(session, learned, values))
        bare = bare.plus(_kept(session, (), names))
    return {"compaction": carried, "compaction, nothing carried": bare}


def _kept(
    session: LabelledSession, carried: Sequence[tuple[str, str]], values: Sequence[str]
) -> Share:
    state = SessionState(StreamId(f"session/{TENANT}/{session.session_id}"))
    for each in recorded(session):
        state.apply(each)
    shown = _shown(state)
    there = [value for value in values if value in shown]
    try:
        request = CompactionRequest("they talked", keep_last=KEPT, carried=carried)
        after = _shown(state.with_compaction(compaction_of(state, request, _words)))
    except CompactionRefused:
        return Share(len(there), len(there))
    return Share(sum(value in after for value in there), len(there))


def _shown(state: SessionState) -> str:
    return str(Windows().window(state, WindowOptions()).messages)


def _words(text: str) -> int:
    return len(text.split())
