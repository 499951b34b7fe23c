"""Artifacts in a store that speaks S3.

Region, endpoint and keys come from the environment as every client of S3 reads them: AWS_REGION,
AWS_ENDPOINT, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ALLOW_HTTP and so on.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store as Bucket

from agentjournal.errors import Unavailable


class S3Store:
    """Objects below `s3://bucket/prefix`; S3 shows an object whole, or not at all."""

    def __init__(self, location: str) -> None:
        patience: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=10)}
        self._bucket = Bucket.from_url(location, retry_config=patience)

    async def put(self, name: str, content: bytes) -> None:
        """Keep `content`. Raises Unavailable."""
        try:
            await obstore.put_async(self._bucket, name, content)
        except BaseError as error:
            raise Unavailable("the artifact store", error) from error

    async def get(self, name: str) -> bytes | None:
        """Return what was kept, None when there is nothing. Raises Unavailable."""
        try:
            found = await obstore.get_async(self._bucket, name)
            return bytes(await found.bytes_async())
        except FileNotFoundError:
            return None
        except BaseError as error:
            raise Unavailable("the artifact store", error) from error
