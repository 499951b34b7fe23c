"""Long-term memory: what is worth keeping of sessions, what of it holds, and how it is found."""
