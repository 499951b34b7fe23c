"""The pure cores without servers: what `agentjournal.testing` is made of."""
