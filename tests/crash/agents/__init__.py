"""Agents in processes of their own, killed at their awaits, and the payment server they use."""
