"""What agentjournal reaches, each figure beside its raw yardstick in the same round."""
