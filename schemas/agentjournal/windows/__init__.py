"""The context window: a view of a session in the form that a model's API takes."""
