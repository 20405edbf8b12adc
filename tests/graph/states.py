"""What can be seen of a graph, for saying that it did not change."""

from __future__ import annotations

from typing import Any

import irshape
from irshape import Graph


def seen(graph: Graph) -> list[Any]:
    """Everything that can be observed of a graph, in order, bodies included."""
    layers = []
    for layer in graph.layers:
        layers.append(
            (
                (layer.id, layer.name, layer.type, layer.version, layer.raw.items),
                [(end.source.layer.id, end.source.index) for end in layer.inputs],
                [
                    (
                        output.names,
                        str(output.element_type),
                        str(output.shape),
                        [(user.layer.id, user.index) for user in output.users],
                    )
                    for output in layer.outputs
                ],
                [(tag, seen(body)) for tag, body in layer.bodies.items()],
            )
        )
    names = {name: [layer.id for layer in graph.named(name)] for name in graph.content.by_name}
    tensors = {name: (out.layer.id, out.index) for name, out in graph.content.by_tensor.items()}
    return [graph.name, layers, names, tensors, sorted(graph.content.by_id), len(graph.bytes)]


def check(graph: Graph) -> None:
    """Holds a graph against its own text: read back, it is sound and has the same tensors."""
    for layer in graph.layers:
        for producer in layer.producers:
            assert producer.rank < layer.rank
    model = graph.model()
    report = irshape.validate(model)
    assert report.ok, [str(each) for each in report.diagnostics if each.severity == "error"]
    inference = irshape.infer(model)
    assert tensors(graph) == [
        (
            "/".join((*layer.path, layer.id)),
            [(str(each.element_type), str(each.shape)) for each in inference.outputs(layer)],
        )
        for layer in model.walk()
        if not layer.is_result
    ]
    again = Graph(model)
    assert tensors(again) == tensors(graph)
    assert again.model().source.data == model.source.data


def tensors(graph: Graph) -> list[tuple[str, list[tuple[str, str]]]]:
    """The element type and shape of every output."""
    return [
        (
            "/".join((*layer.raw.path, layer.id)),
            [(str(output.element_type), str(output.shape)) for output in layer.outputs],
        )
        for layer in graph.walk()
        if not layer.raw.is_result
    ]
