"""The running processes: each reads a log, applies a fold, and keeps its place."""
