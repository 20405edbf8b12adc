"""What OpenVINO refuses of mutated IRs, `validate` reports as an error.

IRSHAPE_FUZZ=N tries N mutants, drawn anew, in place of a few that are always the same.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import irshape

from .case import Case
from .mutators import mutant
from .seeds import EXAMPLES, SMALL

if TYPE_CHECKING:
    from differential.oracle import Oracle

SMALL_EXAMPLES = [both for both in EXAMPLES.values() if len(both[0]) < 45_000]
LONG = int(os.environ.get("IRSHAPE_FUZZ") or 0)
MUTANTS = (LONG or 400) // 4
SEED = random.SystemRandom().randrange(1 << 30) if LONG else 0
POOL = [Case("ir", both) for both in (*SMALL.values(), *SMALL.values(), *SMALL_EXAMPLES)]
KNOWN: dict[str, str] = {}
"""OpenVINO's refusals of files that irshape accepts on purpose: a regular expression, and why."""


def write(folder: Path, case: Case) -> Path:
    path = folder / "m.xml"
    path.write_bytes(case.parts[0])
    path.with_suffix(".bin").write_bytes(case.parts[1])
    return path


@pytest.mark.parametrize("name", SMALL)
def test_the_seeds_are_right(name: str, tmp_path: Path) -> None:
    report = irshape.validate(write(tmp_path, Case("ir", SMALL[name])))
    findings = [each for each in report.diagnostics if each.severity != "info"]
    assert {each.code for each in findings} <= {"IR201", "IR202"}


@pytest.mark.parametrize("part", range(4))
def test_what_openvino_refuses_is_reported(part: int, oracle: Oracle, tmp_path: Path) -> None:
    generator = random.Random(SEED + part)
    for number in range(MUTANTS):
        case = mutant(generator.choice(POOL), generator, POOL)
        path = write(tmp_path, case)
        if not irshape.validate(path).ok:
            continue
        answer = oracle.ask_file(path)
        if answer.status == "refused" and not any(re.search(k, answer.message) for k in KNOWN):
            pytest.fail(f"mutant {number} of seed {SEED + part}: {answer.message}")
