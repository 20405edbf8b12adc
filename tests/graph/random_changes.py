"""Random changes to a loaded model; after each, OpenVINO reads it with the same inputs and outputs.

    python -m tests.graph.random_changes [--changes 500] MODEL.xml …

A change that is refused has to leave the graph as it was. Names, element types and shapes are
compared; where a shape differs, irshape's has to lie within OpenVINO's.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import openvino as ov

from irshape import Graph, GraphError
from irshape.shapes import PartialShape

from .states import seen
from .test_soundness import CHANGES

LEGACY_INPUTS = {"f16": "f32"}
LEGACY_OUTPUTS = {"i64": "i32", "u64": "i32", "u32": "i32", **dict.fromkeys(("f16", "bf16"), "f32")}
"""The types to which OpenVINO converts the inputs and outputs of an IR of version 10."""


class Outcome(NamedTuple):
    """How many changes were made, refused, and led to a shape that OpenVINO knows less of."""

    made: int
    refused: int
    tighter: int


def changed(path: Path, changes: int, seed: int = 0) -> Outcome:
    """Makes random changes to a model. Raises `AssertionError` where OpenVINO differs."""
    draw = random.Random(f"{path.name}{seed}")
    graph = Graph.load(path)
    made = refused = tighter = 0

    def pick(count: int) -> int:
        return draw.randrange(max(count, 1))

    while made < changes and refused < 20 * changes:
        if len(graph.results) == 0 or len(graph) < 5:
            graph = Graph.load(path)
        change = draw.choice(CHANGES)
        before = seen(graph) if len(graph) < 300 else None
        try:
            change(graph, pick)
        except (GraphError, KeyError, ValueError, IndexError):
            refused += 1
            assert before is None or seen(graph) == before
            continue
        try:
            saved = graph.to_bytes()
        except GraphError:  # only saving looks for sizes that contradict each other
            refused += 1
            graph = Graph.load(path)
            continue
        made += 1
        tighter += compared(graph, saved, f"{path.name}, change {made}")
    return Outcome(made, refused, tighter)


def compared(graph: Graph, saved: tuple[bytes, bytes], what: str) -> bool:
    """Holds the ends of a graph against what OpenVINO reads; whether a shape says more here."""
    model = ov.Core().read_model(*saved)
    tighter = False
    legacy = b'version="10"' in saved[0].split(b">", 2)[1]
    for ours, theirs, names, in_version_10 in (
        (graph.inputs, model.inputs, [set(output.names) for output in graph.inputs], LEGACY_INPUTS),
        (
            graph.outputs,
            model.outputs,
            [set(each.output_names) for each in graph.results],
            LEGACY_OUTPUTS,
        ),
    ):
        assert len(ours) == len(theirs), what
        for output, port, named in zip(ours, theirs, names, strict=True):
            kind = str(output.element_type)
            if legacy:  # OpenVINO adds names of layers, and converts at the ends
                named.add(output.layer.name)
                kind = in_version_10.get(kind, kind)
            assert named == port.names, what
            assert kind == port.element_type.get_type_name(), what
            shape = PartialShape.of(str(port.partial_shape))
            assert shape.encloses(output.shape), f"{what}: {output} and {shape}"
            tighter |= shape != output.shape
    return tighter


def main(paths: Iterable[Path], changes: int) -> None:
    for path in paths:
        made, refused, tighter = changed(path, changes)
        print(f"{path.name}: {made} made, {refused} refused, {tighter} with a tighter shape")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("models", type=Path, nargs="+")
    given = parser.parse_args()
    main(given.models, given.changes)
