"""The embedded stack: Kafka, Postgres and Valkey as real servers, without Docker."""
