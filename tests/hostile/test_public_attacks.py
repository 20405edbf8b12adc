"""The attacks of docs/models-from-strangers.md: what irshape reports, and what OpenVINO does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape

sys.path.insert(0, str(Path(__file__).resolve().parent))

from attacks import ATTACKS

GATE = """
comments = false

[policy]
max-tensor = "1GiB"
max-weights = "4GiB"
max-layers = 100000
"""


class Public(NamedTuple):
    """A published kind of attack: its name in `ATTACKS`, the code, and what OpenVINO does."""

    attack: str
    code: str
    openvino: str


PUBLIC = {
    "a size that overflows": Public("a size that overflows", "IR503", "reads"),
    "a size that is too small": Public("a size that is too small", "IR503", "refuses"),
    "an offset past the end": Public("an offset past the end", "IR502", "refuses"),
    "an offset whose end overflows": Public("an offset whose end overflows", "IR502", "refuses"),
    "two layers with one id": Public("two layers with one id", "IR101", "refuses"),
    "a string constant that claims more strings than it has": Public(
        "strings: more strings than there are", "IR503", "refuses"
    ),
    "a string constant with an end before its beginning": Public(
        "strings: an end before its beginning", "IR503", "refuses"
    ),
    "a tensor that exhausts the memory": Public(
        "a tensor that exhausts the memory", "IR210", "reads"
    ),
    "an entity that names a file": Public("an entity that names a file", "IR002", "reads"),
    "an operation without inputs": Public("an operation without inputs", "IR402", "crashes"),
}

ASK = (
    "import sys, openvino\n"
    "try:\n    openvino.Core().read_model(sys.argv[1])\n    print('reads')\n"
    "except Exception:\n    print('refuses')\n"
)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_gate_stops_it(name: str, tmp_path: Path) -> None:
    attack = PUBLIC[name]
    path = ATTACKS[attack.attack].make(tmp_path)
    (tmp_path / "gate.toml").write_text(GATE)
    report = irshape.validate(path, config=tmp_path / "gate.toml")
    told = {each.code: each for one in report.diagnostics for each in (one, *one.related)}
    assert attack.code in told, list(told)
    assert told[attack.code].severity == "error"
    assert told[attack.code].line > 1 or attack.code == "IR002"


@pytest.mark.parametrize("name", PUBLIC)
def test_what_openvino_does(name: str, tmp_path: Path) -> None:
    """In a process of its own, which some of them end."""
    path = ATTACKS[PUBLIC[name].attack].make(tmp_path)
    call = [sys.executable, "-c", ASK, str(path)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    answer = done.stdout.strip() or ("crashes" if done.returncode < 0 else done.stderr)
    assert answer == PUBLIC[name].openvino


def test_the_page_lists_them() -> None:
    page = Path(__file__).parents[2] / "docs" / "models-from-strangers.md"
    text = page.read_text(encoding="utf-8")
    for name, attack in PUBLIC.items():
        assert f"| {name} | {attack.openvino} | {attack.code} |" in text
    assert GATE.strip() in text
