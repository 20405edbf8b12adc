"""What OpenVINO refuses of mutated IRs, irshape reports.

The same mutants in every run; `IRSHAPE_FUZZ=20000` asks for so many, drawn anew. That no mutant
ends in an exception is tested in tests/fuzz.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from differential_fuzz import drawn, missed  # noqa: E402
from mutations import SMALL  # noqa: E402

import irshape  # noqa: E402

if TYPE_CHECKING:
    from differential.oracle import Oracle

EXAMPLES = 400
LONG = int(os.environ.get("IRSHAPE_FUZZ") or 0)
SEED = random.SystemRandom().randrange(1 << 30) if LONG else 0


def test_the_seeds_are_right(tmp_path: Path) -> None:
    for name, (data, weights) in SMALL.items():
        path = tmp_path / "m.xml"
        path.write_bytes(data)
        path.with_suffix(".bin").write_bytes(weights)
        found = [
            one.message
            for one in irshape.validate(path).diagnostics
            if one.severity != "info" and one.code not in ("IR201", "IR202")
        ]
        assert found == [], name


@pytest.mark.parametrize("part", range(4))
def test_what_openvino_refuses_is_reported(part: int, oracle: Oracle, tmp_path: Path) -> None:
    generator = random.Random(SEED + part)
    for number in range((LONG or EXAMPLES) // 4):
        name, data, weights = drawn(generator)
        said = missed(oracle, tmp_path / "m.xml", data, weights)
        assert said is None, f"{name}, the {number}th of seed {SEED + part}: {said}"
