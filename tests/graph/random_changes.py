"""Random changes to a loaded model; after each, OpenVINO reads it with the same inputs and outputs.

    python -m tests.graph.random_changes [--changes 500] [--seed 0] MODEL.xml …

A change that is refused has to leave the graph as it was. Names, element types and shapes are
compared; where a shape differs, irshape's has to lie within OpenVINO's. The only exceptions are
known differences, each of which has to explain what is seen: OpenVINO reads the model and no shape
is wider once all Loops start, and inputs stand for the sizes that OpenVINO does not know.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
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


NEVER_STARTED = "loop-may-not-start"
SHRINKING = "slice-shrinks"
INITIAL = "initial-value-bounds"


class Outcome(NamedTuple):
    """How many changes were made, refused, and led to a shape that OpenVINO knows less of, or to a
    known difference."""

    made: int
    refused: int
    tighter: int
    known: Counter[str]


def changed(path: Path, changes: int, seed: int = 0) -> Outcome:
    """Makes random changes to a model. Raises `AssertionError` where OpenVINO differs."""
    draw = random.Random(f"{path.name}{seed}")
    graph = Graph.load(path)
    made = refused = 0
    seen_as: Counter[str] = Counter()

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
        seen_as.update(compared(graph, saved, f"{path.name}, change {made}"))
    return Outcome(made, refused, seen_as.pop("tighter", 0), seen_as)


def compared(
    graph: Graph, saved: tuple[bytes, bytes], what: str, explained: frozenset[str] = frozenset()
) -> set[str]:
    """Holds the ends of a graph against what OpenVINO reads. Returns "tighter" and the keys of
    known differences, as far as they are seen.

    explained: the known differences that the graph no longer has.
    """
    try:
        model = ov.Core().read_model(*saved)
    except RuntimeError:
        twin, known = without_sizes(graph)
        if not known - explained:
            raise
        return known | compared(twin, twin.to_bytes(), what, explained | known)
    found: set[str] = set()
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
            if not shape.encloses(output.shape):
                assert NEVER_STARTED not in explained, f"{what}: {output} and {shape}"
                found.add(NEVER_STARTED)
            elif shape != output.shape:
                found.add("tighter")
    if NEVER_STARTED in found:
        twin = started(graph, what)
        compared(twin, twin.to_bytes(), what, explained | {NEVER_STARTED})
    return found


def without_sizes(graph: Graph) -> tuple[Graph, set[str]]:
    """Returns a copy that has inputs in place of slices whose size is empty for OpenVINO, and of
    initial values that are wider for it than their variables; and the keys of what it found."""
    twin = graph.copy()
    known: set[str] = set()
    for layer in list(twin):
        if layer.type in ("Slice", "StridedSlice"):
            output, key = layer.outputs[0], SHRINKING
        elif layer.type == "ReadValue" and layer.inputs:
            output, key = layer.inputs[0].source, INITIAL
        else:
            continue
        part = twin.extract(outputs=output).to_bytes()
        shape = ov.Core().read_model(*part).outputs[0].partial_shape
        if key == SHRINKING:  # OpenVINO prints an empty interval as ?
            differs = shape.rank.is_static and any(dim.get_min_length() < 0 for dim in shape)
        else:
            differs = not layer.outputs[0].shape.encloses(PartialShape.of(str(shape)))
        if differs:
            known.add(key)
            output.replace_uses(twin.parameter(output.element_type, output.shape))
    return twin, known


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
        made, refused, tighter, known = changed(path, changes, seed)
        print(f"{path.name}: {made} made, {refused} refused, {tighter} with a tighter shape")
        for key, count in known.items():
            print(f"  {count} {key}: {KNOWN[key].reason}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("models", type=Path, nargs="+")
    given = parser.parse_args()
    main(given.models, given.changes, given.seed)
