"""What runs in the environment of another product, and what it needs there."""
