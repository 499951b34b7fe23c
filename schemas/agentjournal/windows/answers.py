"""What a model is shown besides messages: answers of people, and what other agents came to."""

from __future__ import annotations

from collections.abc import Iterator

from agentjournal.codec import encode
from agentjournal.execution_state import Approval, Handoff, Question
from agentjournal.handoffs import shown_task
from agentjournal.state import SessionState


def answers_of(state: SessionState) -> list[tuple[int, str]]:
    """Return (version, text) of each, in the order in which they came.

    An approval of a call is left out: what came of it is the call's result.
    """
    found = [
        *(each for handoff in state.handoffs.values() for each in _of_handoff(handoff)),
        *(each for question in state.questions.values() for each in _of_question(question)),
        *(each for approval in state.approvals.values() for each in _of_approval(approval)),
    ]
    return sorted(each for each in found if not _is_rewound(state, each[0]))


def _of_handoff(handoff: Handoff) -> Iterator[tuple[int, str]]:
    if handoff.mode == "transfer":
        text = f"[Handed over to {handoff.to_agent}]\n{shown_task(handoff)}"
        yield handoff.version, text
    elif handoff.ended_version is not None:
        task = handoff.task.partition("\n")[0]
        if handoff.error is not None:
            head, body = "failed", f"{handoff.error.type}: {handoff.error.message}"
        else:
            head, body = "has done it", handoff.summary or ""
        lines = [f"[{handoff.to_agent} {head}: {task}]", body]
        if handoff.data is not None:
            lines.append(encode(handoff.data).decode())
        yield handoff.ended_version, "\n".join(filter(None, lines))


def _of_question(question: Question) -> Iterator[tuple[int, str]]:
    if question.answered_version is not None:
        value = question.value
        text = value if isinstance(value, str) else encode(value).decode()
        yield question.answered_version, f"[{question.by} answers: {question.question}]\n{text}"


def _of_approval(approval: Approval) -> Iterator[tuple[int, str]]:
    if approval.answered_version is not None and approval.call_id is None:
        edited = approval.edited_arguments_text
        lines = [
            f"[{approval.outcome}: {approval.question}]",
            approval.comment,
            None if edited is None else f"With these arguments: {edited}",
        ]
        yield approval.answered_version, "\n".join(filter(None, lines))


def _is_rewound(state: SessionState, version: int) -> bool:
    return any(to_version < version < rewound_at for to_version, rewound_at in state.rewinds)
