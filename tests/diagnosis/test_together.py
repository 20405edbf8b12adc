"""What several findings have in common is told once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net

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


def test_a_layer_that_feeds_nothing_is_missed_by_one_input_only(tmp_path: Path) -> None:
    """Of two inputs without an edge, either may take it; which one does, nothing says."""
    net = Net()
    first = net.layer("ReLU", [net.parameter("2,3")], outputs=["FP32:2,3"])
    second = net.layer("ReLU", [first], outputs=["FP32:2,3"])
    third = net.layer("ReLU", [second], outputs=["FP32:2,3"])
    net.result(net.layer("Add", [first, third], outputs=["FP32:2,3"]))
    path = net.save(tmp_path)
    edges = {
        (edge[1], edge[2]): edge[0]
        for edge in re.finditer(
            r'<edge from-layer="(\d+)"[^>]*to-layer="(\d+)"[^>]*/>\n', path.read_text()
        )
    }
    lost = edges[second, third], edges[first, "4"]
    in_order = "".join(sorted(edges.values()))
    broken = re.sub(
        r"(<edges>\n).*(</edges>)", rf"\1{in_order}\2", path.read_text(), flags=re.DOTALL
    )
    for edge in lost:
        broken = broken.replace(edge, "")
    path.write_text(broken)
    fixes = irshape.fix(path)
    assert fixes.edits == []
    (choice,) = fixes.candidates
    assert (choice.certain, len(choice.alternatives)) == (False, 2)
