"""Real runs of random dynamic models stay inside what is inferred of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from random_models import check

MODELS = 150
GROUP = 25


@pytest.mark.parametrize("first", range(0, MODELS, GROUP))
def test_runs_stay_inside_and_proposals_fit(first: int, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for seed in range(first, first + GROUP):
        checked = check(seed, tmp_path)
        assert checked.wrong == {}, seed
        counts += checked.counts
    assert counts["runs"] > GROUP
    assert counts["shapes"] > 40 * GROUP
    assert counts["expressions"] > 40 * GROUP
    assert counts["proposals"] > GROUP // 2
