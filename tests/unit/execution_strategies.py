"""Handoffs, approvals, questions and leases in any order, as their writers' events."""

from __future__ import annotations

from hypothesis import strategies as st

from agentjournal import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    Event,
    HandoffAccepted,
    HandoffCompleted,
    HandoffFailed,
    HandoffRequested,
    InputProvided,
    InputRequested,
    LeaseAcquired,
    LeaseReleased,
    LeaseRenewed,
)
from agentjournal.events import Failure
from tests.unit.plan_strategies import texts, times

ids = st.sampled_from(["i-1", "i-2"])
people = st.sampled_from(["u-1", "u-2"])
fences = st.integers(1, 2)

events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        HandoffRequested,
        handoff_id=ids,
        mode=st.sampled_from(["delegate", "transfer"]),
        to_agent=people,
        child_session_id=st.none() | ids,
        task=texts,
    ),
    st.builds(HandoffAccepted, handoff_id=ids),
    st.builds(HandoffCompleted, handoff_id=ids, summary=texts, data=texts),
    st.builds(HandoffFailed, handoff_id=ids, error=st.builds(Failure, message=texts)),
    st.builds(
        ApprovalRequested,
        approval_id=ids,
        question=texts,
        call_id=st.none() | ids,
        arguments_digest=st.none() | ids,
        expires_at=times,
        requested_of=st.none() | people,
    ),
    st.builds(
        ApprovalGranted,
        approval_id=ids,
        by=people,
        comment=st.none() | texts,
        edited_arguments_text=st.none() | texts,
    ),
    st.builds(ApprovalDenied, approval_id=ids, by=people, comment=st.none() | texts),
    st.builds(ApprovalExpired, approval_id=ids),
    st.builds(InputRequested, input_id=ids, question=texts),
    st.builds(InputProvided, input_id=ids, by=people, value=texts),
    st.builds(
        LeaseAcquired, holder=people, fence=fences, lease_s=st.sampled_from([1, 2.5, 2**63 - 1])
    ),
    st.builds(LeaseRenewed, fence=fences),
    st.builds(LeaseReleased, fence=fences),
)
