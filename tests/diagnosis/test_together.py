"""What several findings have in common is told once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
Change = Callable[[str], str]


def layers(first: int, last: int) -> str:
    """A pattern for the layers with some ids, from the first on to the last."""
    return rf'[ \t]*<layer id="{first}" (?:(?!<layer id="{last + 1}").)*'


def removed(pattern: str) -> Change:
    return lambda text: re.sub(pattern, "", text, count=1, flags=re.DOTALL)


def twice(pattern: str) -> Change:
    return lambda text: re.sub(pattern, r"\g<0>\g<0>", text, count=1, flags=re.DOTALL)


class Row(NamedTuple):
    change: Change
    code: str
    message: str


EDGE = r'[ \t]*<edge [^<>]*to-layer="{}"[^<>]*/>\n'
ROWS = {
    "a few layers lost": Row(
        removed(layers(30, 33)), "IR110", "layers are missing: 9 edges name 4 ids from 30 to 33"
    ),
    "many layers lost": Row(
        removed(layers(30, 99)), "IR110", "layers are missing: 146 edges name 70 ids from 30 to 99"
    ),
    "one layer lost": Row(
        removed(layers(33, 33)), "IR110", "a layer is missing: no layer has id 33"
    ),
    "edges behind each other lost": Row(
        removed(f"{EDGE.format(33)}{EDGE.format(32)}{EDGE.format(33)}"),
        "IR113",
        "edges are missing behind line 2194: 3 inputs of 2 layers are fed by nothing",
    ),
    "edges doubled": Row(
        twice(f"{EDGE.format(32)}{EDGE.format(33)}"), "IR112", "stand there twice"
    ),
    "attributes lost": Row(
        removed(' dilations="1, 1" pads_begin="1, 1"'),
        "IR303",
        "the attributes `dilations` and `pads_begin` are missing",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_told_once(name: str, tmp_path: Path) -> None:
    row, path = ROWS[name], tmp_path / "classifier.xml"
    shutil.copyfile(EXAMPLES / "classifier.bin", path.with_suffix(".bin"))
    text = (EXAMPLES / "classifier.xml").read_text()
    changed = row.change(text)
    assert changed != text
    path.write_text(changed)
    (told,) = (each for each in irshape.validate(path).diagnostics if each.severity != "info")
    assert told.code == row.code
    assert row.message in told.message
