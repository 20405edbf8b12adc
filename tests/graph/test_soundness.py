"""Whatever is done to a graph, it stays sound; what fails leaves it as it was.

The changes are the same in every run; IRSHAPE_CHANGES=3000 draws so many chains of them anew.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from irshape import Graph, GraphError
from irshape.graph.nodes import GraphLayer

from .states import check, seen

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MODELS = ("int8", "recurrent", "control_flow", "compressed", "classifier")
ANEW = int(os.environ.get("IRSHAPE_CHANGES", "0"))

Change = Callable[[Graph, Callable[[int], int]], object]


def _layer(graph: Graph, pick: Callable[[int], int]) -> GraphLayer:
    """A layer of the net, or of a body."""
    layers = list(graph.walk())
    return layers[pick(len(layers))]


def _output(graph: Graph, pick: Callable[[int], int]):
    outputs = [output for layer in graph.walk() for output in layer.outputs]
    return outputs[pick(len(outputs))]


def _insert(graph, pick):
    types = ("Relu", "Convert", "ReduceMean", "Softmax", "Transpose", "Nonsense", "Exp")
    type = types[pick(len(types))]
    if type == "ReduceMean":
        return _output(graph, pick).insert_after(type, [pick(4)], keep_dims=bool(pick(2)))
    if type == "Convert":
        return _output(graph, pick).insert_after(type, destination_type=("f32", "i4x")[pick(2)])
    if type == "Transpose":
        return _output(graph, pick).insert_after(type, [1, 0])
    output = _output(graph, pick)
    if type == "Exp" and not output.element_type.is_real:
        type = "Relu"  # OpenVINO folds Exp of integers otherwise than it computes it: 2 or 3 for 1
    return output.insert_after(type)


def _insert_before(graph, pick):
    ends = [end for layer in graph.walk() for end in layer.inputs]
    return ends[pick(len(ends))].insert_before(("Relu", "ShapeOf", "Sign")[pick(3)])


def _connect(graph, pick):
    ends = [end for layer in graph.walk() for end in layer.inputs]
    end = ends[pick(len(ends))]
    near = [output for layer in end.layer.graph.layers for output in layer.outputs]
    end.source = near[pick(len(near))]


def _replace_uses(graph, pick):
    old = _output(graph, pick)
    near = [output for layer in old.layer.graph.layers for output in layer.outputs]
    same = [each for each in near if each.shape == old.shape and each is not old] or near
    old.replace_uses(same[pick(len(same))])


def _set(graph, pick):
    layer = _layer(graph, pick)
    names = [*layer.attributes, "nonsense"]
    name = names[pick(len(names))]
    values = (0, 1, -1, [1, 1], "same_upper", True, None, "f16", layer.attributes.get(name))
    layer.set(**{name: values[pick(len(values))]})


def _reshape(graph, pick):
    inputs = graph.inputs
    output = inputs[pick(len(inputs))]
    dims = [str(dim) for dim in output.shape.dims or ()]
    if dims:
        dims[pick(len(dims))] = ("?", "1", "2", "7", "1..8")[pick(5)]
    graph.reshape({output.layer.name: f"[{','.join(dims)}]"})


def _rename(graph, pick):
    first, second = _layer(graph, pick), _layer(graph, pick)
    names = [first.name, second.name, "fresh", *(n for o in first.outputs for n in o.names)]
    graph.rename({names[pick(len(names))]: names[pick(len(names))], second.name: "other"})


def _half_of_a_batch(graph, pick):
    with graph.batch():
        graph.name = "half"
        _set_name(graph, pick)
        _connect(graph, pick)
        _remove(graph, pick)
        if pick(2):
            raise GraphError("stop")


def _set_name(graph, pick):
    _layer(graph, pick).name = f"name{pick(5)}"


def _remove(graph, pick):
    _layer(graph, pick).remove(bypass=(None, 0, 1)[pick(3)])


def _arithmetic(graph, pick):
    output = _output(graph, pick)
    inside = output.layer.graph
    inside.add(("Add", "Multiply", "MatMul", "Concat")[pick(4)], output, _output(graph, pick))


def _constant(graph, pick):
    output = _output(graph, pick)
    output.insert_after("Add", np.ones((pick(3) + 1,), ("f4", "f2", "i8")[pick(3)]))


CHANGES: tuple[Change, ...] = (
    _insert,
    _insert_before,
    _connect,
    _replace_uses,
    _set,
    _reshape,
    _rename,
    _half_of_a_batch,
    _set_name,
    _remove,
    _arithmetic,
    _constant,
    lambda graph, pick: graph.clean(duplicates=bool(pick(2))),
    lambda graph, pick: graph.cut(_output(graph, pick)),
    lambda graph, pick: graph.add_output(_output(graph, pick), f"extra{pick(3)}"),
    lambda graph, pick: graph.drop_output(_output(graph, pick)),
    lambda graph, pick: graph.bind(graph.inputs[pick(len(graph.inputs))], [pick(3)] * pick(3)),
    lambda graph, pick: graph.pin(batch=pick(3), seq=pick(9)),
    lambda graph, pick: graph.parameter("f32", f"[{pick(3)},?]", name=f"p{pick(2)}"),
)


@settings(
    max_examples=ANEW or 60,
    derandomize=not ANEW,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data(), model=st.sampled_from(MODELS))
def test_a_graph_stays_sound(data: st.DataObject, model: str) -> None:
    graph = Graph.load(EXAMPLES / f"{model}.xml")

    def pick(count: int) -> int:
        return data.draw(st.integers(0, max(count - 1, 0)))

    for _ in range(data.draw(st.integers(1, 6))):
        change = CHANGES[pick(len(CHANGES))]
        before = seen(graph)
        try:
            change(graph, pick)
        except (GraphError, KeyError, ValueError, IndexError):
            assert seen(graph) == before
        else:
            check(graph)


@pytest.mark.parametrize("model", MODELS)
def test_saving_keeps_what_was_not_touched(model: str, tmp_path: Path) -> None:
    graph = Graph.load(EXAMPLES / f"{model}.xml")
    graph.save(tmp_path / "same.xml")
    for suffix in (".xml", ".bin"):
        assert (tmp_path / f"same{suffix}").read_bytes() == (
            EXAMPLES / f"{model}{suffix}"
        ).read_bytes()


@pytest.mark.parametrize("model", MODELS)
def test_a_graph_that_is_only_loaded_leaves_nothing_to_the_collector(model: str) -> None:
    """A model in a cycle stays in memory until the garbage collector looks through it."""
    path = EXAMPLES / f"{model}.xml"
    Graph.load(path)
    gc.collect()
    gc.disable()
    try:
        Graph.load(path)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("model", MODELS)
def test_openvino_reads_what_random_changes_make(model: str) -> None:
    from .random_changes import changed

    assert changed(EXAMPLES / f"{model}.xml", 15).made == 15
