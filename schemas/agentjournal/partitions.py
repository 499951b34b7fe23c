"""Which partition a stream lives in: murmur2 of its id, modulo the fixed count of the rules."""

from __future__ import annotations

from functools import lru_cache

from agentjournal.ids import Partition

PARTITIONS = 8  # of rules 1; never read from metadata, never changed

_SEED, _M = 0x9747B28C, 0x5BD1E995
_WORD = 0xFFFFFFFF


@lru_cache(maxsize=65_536)
def partition_of(key: bytes, partitions: int = PARTITIONS) -> Partition:
    """Return the partition that Kafka's default partitioner gives `key`.

    Source: murmur2 as in Apache Kafka's `Utils.murmur2`, so every client places a key alike.
    """
    return Partition((murmur2(key) & 0x7FFFFFFF) % partitions)


def murmur2(key: bytes) -> int:
    """Return the 32-bit murmur2 hash of `key` under Kafka's seed."""
    length = len(key)
    h = (_SEED ^ length) & _WORD
    whole = length - length % 4
    for i in range(0, whole, 4):
        k = int.from_bytes(key[i : i + 4], "little") * _M & _WORD
        k = (k ^ (k >> 24)) * _M & _WORD
        h = (h * _M & _WORD) ^ k
    if whole < length:
        h = (h ^ int.from_bytes(key[whole:], "little")) * _M & _WORD
    h = (h ^ (h >> 13)) * _M & _WORD
    return h ^ (h >> 15)
