"""Notes in any order, and sessions that end meanwhile, as their writers' events."""

from __future__ import annotations

from hypothesis import strategies as st

from agentjournal import Event, NoteDeleted, NoteSet, SessionEnded, SessionResumed

keys = st.sampled_from(["k-1", "k-2", "é😀"])
values = st.sampled_from([None, "\0", "\ud800", 2**70, {"a": [1]}, "x"])

events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        NoteSet,
        key=keys,
        value=values,
        ttl_s=st.none() | st.sampled_from([0, 1, 2.5, 2**63 - 1]),
    ),
    st.builds(NoteDeleted, key=keys),
    st.sampled_from([SessionEnded(reason=None), SessionResumed()]),
)
