"""The partition of a stream: what Kafka's default partitioner gives its key, for ever."""

from __future__ import annotations

import pytest
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.partitioner import murmur2 as aiokafka_murmur2
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.partitions import PARTITIONS, murmur2, partition_of


# From UtilsTest of Apache Kafka, as signed numbers.
@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_is_that_of_apache_kafka(key: bytes, hashed: int) -> None:
    assert murmur2(key) == hashed % 2**32


@given(st.binary(max_size=70))
def test_murmur2_is_that_of_aiokafka(key: bytes) -> None:
    assert murmur2(key) == aiokafka_murmur2(key)


@given(st.binary(min_size=1, max_size=40), st.integers(1, 300))
def test_a_key_goes_where_the_default_partitioner_puts_it(key: bytes, partitions: int) -> None:
    every = list(range(partitions))
    assert partition_of(key, partitions) == DefaultPartitioner()(key, every, every)


def test_there_are_8_partitions_and_never_another_number() -> None:
    assert PARTITIONS == 8
    assert {partition_of(b"%d" % n) for n in range(200)} == set(range(8))
