"""Any bytes in: no exception, no hang, no memory past its bound, no partly written file.

A sample, the same in every run; `fuzz.py` says how to try more. `failed/` has every input that
failed once, as small as it could be made.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .case import PARTS, Case
from .commands import MODEL, OPTIONS, calls
from .fuzz import SHARES
from .mutators import BY_KIND
from .seeds import ARGUMENTS, narrow

HERE = Path(__file__).resolve().parent
FAILED = sorted((HERE / "failed").glob("*.case"))
MUTANTS = 600


def fuzz(*arguments: str) -> None:
    call = [sys.executable, str(HERE / "fuzz.py"), *arguments]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]


def test_a_sample_of_mutants() -> None:
    fuzz("--mutants", str(MUTANTS))


def test_what_failed_once_fails_no_more() -> None:
    assert FAILED
    fuzz("--try", *map(str, FAILED))


@pytest.mark.parametrize("path", FAILED, ids=lambda path: path.stem)
def test_what_failed_once_is_kept_whole(path: Path) -> None:
    data = path.read_bytes()
    assert Case.decoded(data).encoded() == data


def test_every_kind_has_seeds_mutators_and_a_share() -> None:
    seeds = narrow()
    assert PARTS.keys() == BY_KIND.keys() == SHARES.keys() == {case.kind for case in seeds}
    assert ARGUMENTS.keys() == OPTIONS.keys()


def test_every_command_has_its_turn() -> None:
    drawn = {
        call.arguments
        for number in range(2000)
        for call in calls(Case("ir", (str(number).encode(), b"")))
    }
    forms = {form for rows in MODEL.values() for form in rows}
    assert len(drawn) == len(forms)
