"""Programs to read and to copy: a coding agent, and a demo that kills it."""
