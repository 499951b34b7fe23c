"""Where the servers are: from arguments, the environment, or the stack folder found upwards."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentjournal.errors import NotConfigured
from agentjournal.memory.model_settings import ModelSettings, model_settings

HOME_FOLDER = ".agentjournal"
ARTIFACTS_FOLDER = "artifacts"
STACK_FILE = "stack.json"  # {"kafka": "127.0.0.1:19092", "postgres": "postgresql://…", "redis": …}

HOW_TO_START = (
    "start a local stack with `agentjournal up -d`, or set AGENTJOURNAL_KAFKA, "
    "AGENTJOURNAL_POSTGRES and AGENTJOURNAL_REDIS, or pass kafka=, postgres= and redis="
)


@dataclass(frozen=True, slots=True)
class KafkaSecurity:
    """How to reach a broker that asks for TLS or SASL; the defaults are plain text."""

    security_protocol: str = "PLAINTEXT"  # or SSL, SASL_PLAINTEXT, SASL_SSL
    sasl_mechanism: str = "PLAIN"  # or SCRAM-SHA-256, SCRAM-SHA-512
    sasl_username: str | None = None
    sasl_password: str | None = field(default=None, repr=False)
    ssl_cafile: str | None = None
    ssl_certfile: str | None = None
    ssl_keyfile: str | None = None
    ssl_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """Addresses of the three servers, as their own clients take them.

    Postgres and Redis carry TLS and passwords in their URLs (`?sslmode=verify-full&sslrootcert=…`,
    `rediss://…`); Kafka has `security`.
    """

    kafka: str
    postgres: str = field(repr=False)
    redis: str = field(repr=False)
    tenant: str = "default"
    topic_prefix: str = "agentjournal."
    security: KafkaSecurity = KafkaSecurity()
    artifacts: str | None = None  # a folder, or s3://bucket/prefix
    limits: str | None = None  # a TOML file: see agentjournal.limits
    slots: str | None = None  # a TOML file that adds to the slot table of long-term memory
    model: ModelSettings | None = None  # that reads sessions beside the rules
    traces: bool = False  # whether appends are spans of OpenTelemetry

    @property
    def appends(self) -> str:
        return f"{self.topic_prefix}appends"

    @property
    def events(self) -> str:
        return f"{self.topic_prefix}events"

    @property
    def dead(self) -> str:
        return f"{self.topic_prefix}dead"

    @property
    def alerts(self) -> str:
        return f"{self.topic_prefix}alerts"

    @property
    def services(self) -> str:
        return f"{self.topic_prefix}services"


def find_settings(
    *,
    kafka: str | None = None,
    postgres: str | None = None,
    redis: str | None = None,
    tenant: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Return the settings: arguments first, then AGENTJOURNAL_… variables, then the stack folder.

    The stack folder is $AGENTJOURNAL_HOME, or `.agentjournal/` in `folder` (default: the current
    one) or any folder above it. Raises NotConfigured, which says how to start a stack.
    """
    environ = os.environ if environment is None else environment
    given = {"kafka": kafka, "postgres": postgres, "redis": redis}
    addresses = {
        name: value or environ.get(f"AGENTJOURNAL_{name.upper()}") for name, value in given.items()
    }
    kept = environ.get("AGENTJOURNAL_ARTIFACTS")
    if not all(addresses.values()):
        home = find_home(environment=environ, folder=folder)
        stack = _read_stack(home)
        if home is not None and kept is None and not addresses["kafka"]:
            kept = str(home / ARTIFACTS_FOLDER)  # beside the log that they belong to
        addresses = {name: value or stack.get(name) for name, value in addresses.items()}
    missing = [name for name, value in addresses.items() if not value]
    if missing:
        raise NotConfigured(f"no address for {', '.join(missing)}: {HOW_TO_START}")
    return Settings(
        kafka=addresses["kafka"] or "",
        postgres=addresses["postgres"] or "",
        redis=addresses["redis"] or "",
        tenant=tenant or environ.get("AGENTJOURNAL_TENANT") or "default",
        topic_prefix=environ.get("AGENTJOURNAL_TOPIC_PREFIX") or "agentjournal.",
        security=_security(environ),
        artifacts=kept or None,
        limits=environ.get("AGENTJOURNAL_LIMITS") or None,
        slots=environ.get("AGENTJOURNAL_SLOTS") or None,
        model=model_settings(environ),
        traces=_switch(environ, "AGENTJOURNAL_TRACES"),
    )


def _switch(environ: Mapping[str, str], name: str) -> bool:
    said = environ.get(name, "").strip().lower()
    if said not in _SWITCH:
        raise NotConfigured(
            f"{name} is {said!r}: give it one of {', '.join(filter(None, _SWITCH))}"
        )
    return _SWITCH[said]


_SWITCH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False, "": False}


def find_home(
    *, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Path | None:
    """Return the stack folder that applies here, or None: as git finds its own, upwards."""
    environ = os.environ if environment is None else environment
    if environ.get("AGENTJOURNAL_HOME"):
        return Path(environ["AGENTJOURNAL_HOME"]).expanduser()
    start = (folder or Path.cwd()).resolve()
    for candidate in (start, *start.parents):
        if (candidate / HOME_FOLDER / STACK_FILE).is_file():
            return candidate / HOME_FOLDER
    return None


def _read_stack(home: Path | None) -> dict[str, str]:
    if home is None or not (home / STACK_FILE).is_file():
        return {}
    try:
        stack = json.loads((home / STACK_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotConfigured(f"{home / STACK_FILE} cannot be read: {error}") from error
    if not isinstance(stack, dict):
        raise NotConfigured(f"{home / STACK_FILE} is not a JSON object")
    return {name: value for name, value in stack.items() if isinstance(value, str)}


def _security(environ: Mapping[str, str]) -> KafkaSecurity:
    values = {
        name: environ[f"AGENTJOURNAL_KAFKA_{name.upper()}"]
        for name in KafkaSecurity.__dataclass_fields__
        if environ.get(f"AGENTJOURNAL_KAFKA_{name.upper()}")
    }
    return KafkaSecurity(**values)
