"""What a session may be told of earlier ones."""

from __future__ import annotations

from agentjournal.ids import stream_id
from agentjournal.memory.recall_api import block_within, recall_all, recalled_event
from agentjournal.memory.recalling import checked
from agentjournal.memory.showing import Budget
from agentjournal.session_states import SessionStates
from agentjournal.state import SessionState
from agentjournal.windows.tokens import Count, default_count


class SessionRecall(SessionStates):
    """Recall for a session."""

    async def recall(
        self,
        query: str | None = None,
        *,
        max_tokens: int = 500,
        k: int | None = None,
        count: Count | None = None,
        timeout_s: float = 30.0,
    ) -> str:
        """Return a block of text for the prompt, at most `max_tokens` tokens: what is known.

        Asked is the memory of the session's user and entities, by default with the last message of
        the user; what the session says itself is not in it. Nothing else shows it: put it into the
        request to the model, not into a message of the user. That it was shown is recorded as
        `memory.recalled`, and it is never learned from again. Empty when nothing was found.

        Raises ValueError for numbers that make no sense or without a tokenizer, and what `load` and
        `append` raise.
        """
        most = checked(k, max_tokens)
        count = count or default_count()
        state = await self.current()
        asked = _last_said(state) if query is None else query
        entities = self._entities(state)
        if not asked or not entities:
            return ""
        streams = [stream_id(kind, self.tenant, name) for kind, name in entities]
        hits = await recall_all(self._servers.recalls, streams, asked, self.stream)
        block, shown = await block_within(
            self._servers.recalls, streams, hits, Budget(most, max_tokens, count)
        )
        if shown:
            event = recalled_event(asked, shown, count(block))
            await self.append(event, timeout_s=timeout_s)
        return block

    def _entities(self, state: SessionState) -> list[tuple[str, str]]:
        """Return kind and id of those that the session is about: as it began, or is to begin."""
        user = state.user if state.version else self._start.user
        named = state.entities if state.version else self._start.entities
        found = [] if user is None else [("user", user)]
        return list(dict.fromkeys([*found, *((each.kind, each.id) for each in named)]))


def _last_said(state: SessionState) -> str:
    """Return the text of the last message of the user, empty when there is none."""
    for message in reversed(state.messages):
        stands = message.status in {"complete", "incomplete"}
        if stands and message.role == "user" and message.text.strip():
            return message.text
    return ""
