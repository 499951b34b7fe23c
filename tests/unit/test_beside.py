"""What another product's run printed becomes figures, or says why there are none."""

from __future__ import annotations

import pytest

from benchmarks.beside import measured, ratios
from benchmarks.others import OtherSideError


def test_figures_are_medians_the_rate_and_the_bytes() -> None:
    printed = b'a warning\n{"append_ms":[2.0,4.0,12.0,2.0],"load_ms":[5.0,7.0,6.0],"loaded":4}\n'
    found = measured(printed, 4_096, 4)
    assert found == {
        "append.p50": (3.0, "ms"),
        "append": (200.0, "events/s"),
        "load": (6.0, "ms"),
        "disk": (4_096.0, "bytes"),
    }
    theirs = {what: (2 * value, unit) for what, (value, unit) in found.items()}
    assert set(ratios("x", found, theirs).values()) == {(2.0, "ratio")}


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        (b"", "no figures"),
        (b"Traceback", "no figures"),
        (b"[]", "no figures"),
        (b'{"append_ms":[1.0]}', "no figures"),
        (b'{"append_ms":[1.0],"load_ms":[1.0],"loaded":0}', "0 of 1 messages came back"),
        (b'{"append_ms":[],"load_ms":[1.0],"loaded":1}', "0 of 1 messages were appended"),
    ],
)
def test_a_run_that_did_not_do_the_work_has_no_figures(printed: bytes, says: str) -> None:
    with pytest.raises(OtherSideError, match=says):
        measured(printed, 0, 1)
