"""How well long-term memory works: labelled sessions, measures, and what plain methods reach."""
