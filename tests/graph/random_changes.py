"""Random changes to a loaded model; after each, OpenVINO reads it with the same inputs and outputs.

    python -m tests.graph.random_changes [--changes 500] [--seed 0] MODEL.xml …

A change that is refused has to leave the graph as it was. Names, element types and shapes are
compared; where a shape differs, irshape's has to lie within OpenVINO's. The only exception is the
known difference `loop-may-not-start`: once all Loops start, no shape may be wider.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import openvino as ov

from irshape import Graph, GraphError
from irshape.shapes import PartialShape

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from differential.known_differences import KNOWN

from .states import seen
from .test_soundness import CHANGES

LEGACY_INPUTS = {"f16": "f32"}
LEGACY_OUTPUTS = {"i64": "i32", "u64": "i32", "u32": "i32", **dict.fromkeys(("f16", "bf16"), "f32")}
"""The types to which OpenVINO converts the inputs and outputs of an IR of version 10."""


NEVER_STARTED = KNOWN["loop-may-not-start"]


class Outcome(NamedTuple):
    """How many changes were made, refused, and led to a shape that OpenVINO knows less of, or that
    is wider by the known difference."""

    made: int
    refused: int
    tighter: int
    wider: int


def changed(path: Path, changes: int, seed: int = 0) -> Outcome:
    """Makes random changes to a model. Raises `AssertionError` where OpenVINO differs."""
    draw = random.Random(f"{path.name}{seed}")
    graph = Graph.load(path)
    made = refused = tighter = wider = 0

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
        found = compared(graph, saved, f"{path.name}, change {made}")
        tighter += found == "tighter"
        wider += found == "wider"
    return Outcome(made, refused, tighter, wider)


def compared(graph: Graph, saved: tuple[bytes, bytes], what: str, *, starts: bool = False) -> str:
    """Holds the ends of a graph against what OpenVINO reads. Returns how shapes differ.

    starts: every Loop starts, so that no shape may be wider.
    """
    model = ov.Core().read_model(*saved)
    found = ""
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
            if shape.encloses(output.shape):
                found = found or ("" if shape == output.shape else "tighter")
            else:
                assert not starts, f"{what}: {output} and {shape}"
                found = "wider"
    if found == "wider":
        twin = started(graph, what)
        compared(twin, twin.to_bytes(), what, starts=True)
    return found


def started(graph: Graph, what: str) -> Graph:
    """Returns a copy whose Loops all start, and end by their conditions if they may not start."""
    twin = graph.copy()
    loops = [layer for layer in twin.walk() if layer.type == "Loop"]
    assert loops, f"{what}: a shape is wider than OpenVINO's"
    with twin.batch():
        for loop in loops:
            trips, begin = loop.inputs[:2]
            if trips.source.value is None or trips.source.value < 1:
                trips.source = loop.graph.constant(-1)
            begin.source = loop.graph.constant(True)
    return twin


def main(paths: Iterable[Path], changes: int, seed: int) -> None:
    for path in paths:
        made, refused, tighter, wider = changed(path, changes, seed)
        print(f"{path.name}: {made} made, {refused} refused, {tighter} with a tighter shape")
        if wider:
            print(f"  {wider} with a wider one: {NEVER_STARTED.reason}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("models", type=Path, nargs="+")
    given = parser.parse_args()
    main(given.models, given.changes, given.seed)
