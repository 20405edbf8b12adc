"""A layer that was deleted with all its edges is told once, as that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from test_single_slips import between, copied, graver

import irshape


class Lost(NamedTuple):
    """A layer that is deleted, and what is to be told."""

    model: str
    layer: str
    says: str
    folded: int
    """How many other findings follow from it."""
    offers: str
    """The first change that is offered; empty where nothing in the file decides one."""


LOST = {
    "between one layer and another": Lost(
        "classifier",
        "stem/relu",
        "a layer is missing between Add 'stem/bn_shift'",
        0,
        "an edge from Add 'stem/bn_shift'",
    ),
    "a constant": Lost(
        "classifier", "Constant_13_compressed", "nothing feeds input port 0 of Convert", 0, ""
    ),
    "two layers fed it": Lost(
        "classifier", "block1/conv1/bn_scale", "nothing takes what Convolution", 1, "an edge from"
    ),
    "others are alike": Lost(
        "classifier", "Constant_22", "a layer is missing between Const", 0, "a layer like Convert"
    ),
    "inside a body": Lost(
        "control_flow", "halved", "a layer is missing between", 3, "2 edges from"
    ),
}


def without(text: str, name: str) -> str:
    """The text without a layer and the edges at it."""
    element = between(text, name)
    number = re.search(r'id="(\d+)"', element)
    assert number is not None
    start = text.index(element)
    behind = text[start + len(element) :]
    edges = rf'[ \t]*<edge (?=[^>]*(?:from|to)-layer="{number[1]}")[^>]*/>\n'
    depth = behind.index("</edges>")
    return text[:start] + re.sub(edges, "", behind[:depth]) + behind[depth:]


@pytest.mark.parametrize("name", LOST)
def test_lost_layer(name: str, tmp_path: Path) -> None:
    lost = LOST[name]
    path = copied(tmp_path, lost.model)
    path.write_text(without(path.read_text(), lost.layer))
    (finding,) = graver(path)
    assert (finding.code, lost.says in finding.message) == ("IR113", True), finding.message
    assert len(finding.related) == lost.folded
    assert [fix["change"].startswith(lost.offers) for fix in finding.fixes[:1]] == [True] * bool(
        lost.offers
    )
    assert not any(fix["safe"] for fix in finding.fixes)
    assert not irshape.fix(path).diff()
    if lost.offers:
        assert not [
            left for left in irshape.fix(path, unsafe=True).remaining if left.severity == "error"
        ]
