"""A server that speaks S3: rclone over a local folder."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

BUCKET = "artifacts"
KEY, SECRET = "key-of-a-test", "secret-of-a-test"


@contextmanager
def s3_server(folder: Path) -> Generator[Mapping[str, str]]:
    """Serve `folder` on loopback; give what a client needs in its environment."""
    (folder / BUCKET).mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    rclone = Path(sys.executable).with_name("rclone")
    with subprocess.Popen(
        [rclone, "serve", "s3", "--addr", address, "--auth-key", f"{KEY},{SECRET}", str(folder)],
        env={**os.environ, "RCLONE_CONFIG": str(folder / "no-rclone.conf")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            _await_port(address)
            yield {
                "AWS_ENDPOINT": f"http://{address}",
                "AWS_ALLOW_HTTP": "true",
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
            }
        finally:
            server.terminate()


def _await_port(address: str, *, within_s: float = 20) -> None:
    host, port = address.split(":")
    deadline = time.monotonic() + within_s
    while True:
        try:
            socket.create_connection((host, int(port)), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
