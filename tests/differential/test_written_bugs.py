"""Bugs of OpenVINO in models written by hand: irshape's values are the right ones."""

from __future__ import annotations

import numpy as np
import pytest

from differential.compare import NEWEST
from differential.openvino_bugs import Written, written
from differential.oracle import Oracle

EXPECTED = {
    "constant-not-stored": ("wrong values", [1.0, 2.0]),
    "scatter-update-from-the-end": ("wrong values", [0.0, 1.0, 0.0, 0.0]),
    "hard-sigmoid-alpha-at-run-time": ("an exception", [0.25, 0.5, 0.75]),
    "selu-alpha-at-run-time": ("an exception", [0.125 * (np.exp(-1) - 1), 0.0, 0.5]),
    "loop-negative-trip-count": ("wrong values", [0.0, 1.0, 2.0, 3.0]),
    "floor-mod-interval": ("a wrong inferred shape", [1.0, 1.0, 1.0, 1.0]),
    "power-interval": ("a wrong inferred shape", [1.0]),
    "abs-interval": ("a wrong inferred shape", [1.0]),
    "slice-last-to-size": ("a wrong inferred shape", []),
}
"""What OpenVINO does, and the right output."""


@pytest.mark.parametrize("row", list(written()), ids=lambda row: row.key)
def test_a_bug_is_still_seen(row: Written, oracle: Oracle) -> None:
    bug = row.bug(oracle, {})
    oracle.close()  # a kernel that fails may have written past its memory
    if oracle.release != NEWEST:
        return
    assert bug is not None
    what, right = EXPECTED[row.key]
    assert bug.what == what
    np.testing.assert_allclose(bug.ours, [right], rtol=1e-5)
