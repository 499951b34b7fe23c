"""Files, processes and other surroundings in any order, as their writers' events."""

from __future__ import annotations

from hypothesis import strategies as st

from agentjournal import (
    ArtifactSaved,
    EnvironmentChanged,
    Event,
    FileChanged,
    ProcessEnded,
    ProcessStarted,
    SnapshotRestored,
    SnapshotTaken,
)
from tests.unit.plan_strategies import texts

ids = st.sampled_from(["i-1", "i-2"])
digests = st.none() | st.sampled_from(["d-1", "d-2"])
paths = st.sampled_from(["a.py", "a\0", "a\u2400", "\ud800", "\ud801", ""])
names = st.sampled_from(["PATH", "P\0", "P\u2400", ""])
by_name = st.none() | st.dictionaries(names, texts, max_size=2)
places = st.none() | texts

events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        FileChanged,
        path=paths,
        reason=st.sampled_from(["create", "edit", "delete", "revert"]),
        before_digest=digests,
        after_digest=digests,
        artifact=digests,
        diff=st.none() | texts,
        call_id=st.none() | ids,
    ),
    st.builds(
        ArtifactSaved,
        artifact=ids,
        name=texts,
        media_type=st.just("text/plain"),
        size=st.sampled_from([0, 2**63 - 1]),
        digest=ids,
        call_id=st.none() | ids,
    ),
    st.builds(ProcessStarted, process_id=ids, command=texts, cwd=texts),
    st.builds(
        ProcessEnded, process_id=ids, exit_status=st.none() | st.sampled_from([0, -9, 2**63 - 1])
    ),
    st.builds(
        SnapshotTaken,
        snapshot_id=ids,
        kind=st.sampled_from(["files", "process", "provider"]),
        artifact=ids,
        reference=places,
        size=st.integers(0, 9),
    ),
    st.builds(SnapshotRestored, snapshot_id=ids),
    st.builds(
        EnvironmentChanged,
        cwd=places,
        branch=places,
        commit=places,
        variables=by_name,
        packages=by_name,
        unset=st.none() | st.lists(names, max_size=2),
    ),
)
