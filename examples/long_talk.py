"""A talk that outgrows its window: what is cut, a compaction that is refused, one that is not."""

from __future__ import annotations

import secrets

import agentjournal as aj
from examples.terminal import agentjournal, say

# What a customer says, and what the agent answers.
TALK = (
    ("Where is my order 48213? It should have come on 2026-03-02.", "Order 48213 left our house."),
    ("To which address?", "To the one you gave in February, confirmed to rosa@example.com."),
    ("It has not come. What does a second delivery cost?", "EUR 4.90, unless we were late."),
    ("You were late.", "You are right, so I waive it. I have asked the carrier to look for it."),
    ("Good. Do you have the blue lamp as well?", "Yes, two of them are left in our house."),
    ("How bright is it?", "800 lumen, about what an old bulb of 60 watts gave."),
    ("Can it be dimmed?", "It can, with a dimmer that is made for LED lamps."),
    ("Then send me one of those, too.", "It goes out together with your order."),
)
BUDGET = 160  # tokens: about half of the talk
BLAND = "A customer asks for a parcel that is late, and orders a lamp."


async def long_talk(log: aj.Log) -> None:
    """Record the talk; show windows of it, compact it, and show what that changed."""
    session = log.session(f"talk-{secrets.token_hex(3)}", agent="support")
    for asked, answered in TALK:
        turn = [
            aj.MessageAdded(role="user", content=asked),
            aj.MessageAdded(role="assistant", content=answered),
        ]
        await session.append(turn)
    say(f"{2 * len(TALK)} messages of {session.id}, as a model sees them in {BUDGET} tokens:")
    show(await session.window(max_tokens=BUDGET))
    say("compacting it to a summary that leaves the order's number out:")
    try:
        await session.compact(summary=BLAND, keep_last=4)
    except aj.CompactionRefused as refused:
        say(f"  refused: {refused}")
    receipt = await session.compact(summary=BLAND, keep_last=4, carry_identifiers=True)
    say("with such things carried word for word it is done, and the same window is")
    show(await session.window(max_tokens=BUDGET))
    before = str(receipt.first_version - 1)
    agentjournal("diff", session.id, before, str(receipt.last_version))
    was = await session.load(at=int(before))
    say(f"and as of version {before} it is what it was: {len(was.messages)} messages")


def show(window: aj.Window) -> None:
    """Show the messages of a window, and what it dropped."""
    dropped = window.dropped
    for message in window.messages:
        text = " ".join(str(message["content"]).split())
        say(f"    {message['role']:<9}  {text}")
    if dropped.messages:
        say(
            f"    ({window.tokens} tokens; {dropped.messages} messages are cut, versions "
            f"{dropped.first_version} to {dropped.last_version})"
        )
    for lost in window.lost_identifiers:
        say(f"    lost: {lost.kind} {lost.value}")
