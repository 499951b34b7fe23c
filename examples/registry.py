"""Stands for a service elsewhere that takes idempotency keys, as payment and e-mail services do."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path

ANSWER_S = 1.0  # how long its answer is on the way: time enough for the caller to die


def publish(registry: Path, version: str, *, idempotency_key: str) -> str:
    """Publish a version, once per key; return the same answer for the same key."""
    with registry.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        keys = {json.loads(line)["idempotency_key"] for line in file}
        if idempotency_key not in keys:
            entry = {"version": version, "idempotency_key": idempotency_key}
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
    time.sleep(ANSWER_S)
    return f"{version} is published"
