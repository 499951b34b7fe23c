"""The published language: events, envelope, codec, and the client that speaks them."""
