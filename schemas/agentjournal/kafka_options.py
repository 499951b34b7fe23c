"""What every Kafka client of ours is given: address, TLS and SASL."""

from __future__ import annotations

from typing import Any

from aiokafka.helpers import create_ssl_context

from agentjournal.settings import Settings


def client_options(settings: Settings) -> dict[str, Any]:
    """Return the options that producers, consumers and admin clients share."""
    security = settings.security
    options: dict[str, Any] = {
        "bootstrap_servers": settings.kafka,
        "security_protocol": security.security_protocol,
    }
    if security.security_protocol.startswith("SASL"):
        options |= {
            "sasl_mechanism": security.sasl_mechanism,
            "sasl_plain_username": security.sasl_username,
            "sasl_plain_password": security.sasl_password,
        }
    if security.security_protocol.endswith("SSL"):
        options["ssl_context"] = create_ssl_context(
            cafile=security.ssl_cafile,
            certfile=security.ssl_certfile,
            keyfile=security.ssl_keyfile,
            password=security.ssl_password,
        )
    return options
