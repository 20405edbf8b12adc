"""Bugs of OpenVINO that are seen after several inferences: irshape's values are the right ones."""

from __future__ import annotations

import numpy as np
import pytest

from differential.compare import NEWEST
from differential.openvino_bugs import Stateful, stateful
from differential.oracle import Oracle

EXPECTED = {"constant-not-stored": [[1.0, 2.0]]}


@pytest.mark.parametrize("row", list(stateful()), ids=lambda row: row.key)
def test_a_bug_is_still_seen(row: Stateful, oracle: Oracle) -> None:
    bug = row.bug(oracle, {})
    if oracle.release != NEWEST:
        return
    assert bug is not None
    for ours, theirs, right in zip(bug.ours, bug.theirs, EXPECTED[row.key], strict=True):
        np.testing.assert_array_equal(ours, right)
        assert not np.array_equal(theirs, right)
