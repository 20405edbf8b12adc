"""Faults as scripts and tools make them are told once, at their element, and given back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
if not __package__:
    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from judging import Judge  # noqa: E402
from planting import Original  # noqa: E402

EXAMPLES = HERE.parent.parent / "examples"
PLACES = {
    "number-times-ten": 6,
    "number-as-float": 2,
    "strides-and-dilations-exchanged": 0,
    "pads-exchanged": 1,
    "constant-converted-with-its-port": 6,
    "constant-converted-without-its-port": 4,
    "shape-and-size-doubled": 0,
    "size-in-elements": 13,
    "precision-of-an-edge": 21,
    "edge-in-another-layout": 7,
    "outputs-exchanged": 0,
    "input-ports-reversed": 7,
    "extra-output-port": 24,
    "extra-input-port": 5,
    "extra-input-with-an-edge": 10,
    "edges-crossed": 10,
    "edge-values-rotated": 25,
    "edge-from-itself": 52,
    "type-of-another-framework": 43,
    "type-of-the-next-layer": 11,
    "number-in-hexadecimal": 0,
    "number-by-exponent": 19,
    "list-doubled": 8,
    "size-zero": 20,
    "unsigned-constant": 3,
    "all-edges-into-a-layer-missing": 13,
    "sources-of-two-edges-exchanged": 24,
    "any-number-of-a-list": 0,
    "data-of-two-constants-exchanged": 20,
    "incoming-edges-of-another-id": 19,
    "edges-of-an-input-and-the-next-layer": 31,
    "layers-exchanged-in-all-but-ids": 2,
    "target-of-any-edge-drawn": 24,
    "two-edges-removed": 7,
    "data-of-another-operation": 19,
    "output-port-among-the-inputs": 6,
    "precision-at-both-ends": 2,
    "type-and-version-of-any-layer": 30,
    "type-named-and-declared": 2,
    "id-with-its-outgoing-edges": 17,
    "edges-from-its-first-input-on": 18,
}
"""Kinds, each with a place in the model."""
COPIED = {
    "contents-of-the-next-layer": 1,
    "contents-of-the-layer-before": 21,
    "outputs-in-another-order": 0,
    "input-gone-with-its-edge": 6,
}
"""Kinds after which nothing says what was there."""


OF_BODIES = {
    "inputs-of-a-layer-rotated": 3,
    "any-type-of-a-parameter": 8,
    "ids-of-any-two-layers-exchanged": 36,
}
"""The same in a model with bodies."""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(Original(EXAMPLES / "int8.xml")) as judge:
        assert judge.sound()
        yield judge


@pytest.mark.parametrize(("kind", "index"), [*PLACES.items(), *COPIED.items()])
def test_edit(judge: Judge, kind: str, index: int) -> None:
    places = judge.original.places(kind, chosen={index})
    (place,) = (each for each in places if each is not None and each.index == index)
    answer = judge.judge(place)
    wanted = {"silent": 0, "one": 1, "at": 1, "worse": 0}
    wanted |= {} if kind in COPIED else {"safe": 1, "unsafe": 1, "three": 1}
    assert {name: answer[name] for name in wanted} == wanted, answer.get("told")


@pytest.mark.parametrize(("kind", "index"), OF_BODIES.items())
def test_edit_of_a_model_with_bodies(kind: str, index: int) -> None:
    with Judge(Original(EXAMPLES / "recurrent.xml")) as judge:
        assert judge.sound()
        places = judge.original.places(kind, chosen={index})
        (place,) = (each for each in places if each is not None and each.index == index)
        answer = judge.judge(place)
        wanted = {"silent": 0, "one": 1, "at": 1, "safe": 1, "worse": 0}
        assert {name: answer[name] for name in wanted} == wanted, answer.get("told")
