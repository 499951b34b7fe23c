"""A tiny project whose tests fail: what the coding agent is given to mend."""

from __future__ import annotations

from pathlib import Path

PRICES = '''\
"""Prices of a shop."""


def total(prices, discount_percent=0):
    """Return what is to be paid."""
    if not discount_percent:
        return sum(prices)
    return sum(prices) * discount_percent / 100
'''

TEST_PRICES = '''\
"""What the prices promise."""

import time
import unittest

from prices import total


class TestTotal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        time.sleep({setup_s})  # as long as a suite takes that starts a server first

    def test_prices_are_added(self):
        self.assertEqual(total([10, 20]), 30)

    def test_a_discount_is_taken_off(self):
        self.assertEqual(total([10, 30], discount_percent=25), 30)
'''


def write_project(folder: Path, *, setup_s: float = 1.0) -> None:
    """Write the project; its test suite takes `setup_s` longer than it would."""
    folder.mkdir(parents=True)
    (folder / "prices.py").write_text(PRICES, encoding="utf-8")
    write_tests(folder, setup_s=setup_s)


def write_tests(folder: Path, *, setup_s: float) -> None:
    """Write the test suite alone."""
    tests = TEST_PRICES.format(setup_s=setup_s)
    (folder / "test_prices.py").write_text(tests, encoding="utf-8")
