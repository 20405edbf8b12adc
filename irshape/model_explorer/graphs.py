"""Converts a model to graphs of Model Explorer: one for the net, and one for each body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model_explorer.graph_builder import (
    Graph,
    GraphNode,
    IncomingEdge,
    KeyValue,
    MetadataItem,
)

from ..diagnostics.report import Diagnostic
from ..inference.result import BodyResult
from ..model.graph import Body, Layer
from ..model.ports import Port
from ..model.wiring import wire
from ..ops.tensors import Tensor
from ..view.port_texts import agrees, port_text
from ..view.scopes import scope_of
from ..view.showing import Subject

NET = "net"
"""The id of the graph of the net. The id for a body is the path to it, such as `12/body`."""


def subject_of(path: str) -> Subject:
    """Reads a model and infers its types and shapes.

    Raises `OSError` if the file cannot be opened, and `ValueError` if it contains no model.
    """
    subject = Subject(path)
    if subject.model is None:
        rows = subject.document["findings"]
        raise ValueError("; ".join(f"{row['code']}: {row['message']}" for row in rows))
    return subject


def graph_id(path: tuple[str, ...]) -> str:
    """Returns the id of the graph for the body at a path, such as `12/body`."""
    return "/".join(path) or NET


def places(subject: Subject) -> dict[Layer, tuple[str, str]]:
    """Returns where layers are in Model Explorer: the id of the graph of each layer, and the id of
    its node, which is unique in the graph."""
    place_of: dict[Layer, tuple[str, str]] = {}
    taken: set[tuple[str, str]] = set()
    for number, layer in enumerate(subject.numbering.layers):
        place = graph_id(layer.path), layer.id
        if place in taken:  # ids that repeat
            place = place[0], f"{layer.id}, layer {number}"
        taken.add(place)
        place_of[layer] = place
    return place_of


def graphs(subject: Subject) -> list[Any]:
    """Returns the graphs of a model, the net first."""
    model, shown = subject.model, subject.shown
    assert model is not None
    assert shown is not None
    node_of = {layer: node for layer, (_, node) in places(subject).items()}
    notes: dict[Layer, list[str]] = {}
    for diagnostic, about, layer in findings_shown(subject):
        constant = "" if about is layer else f" (constant '{about.name}', id {about.id})"
        text = f"{diagnostic.severity} {diagnostic.code}{constant}: {diagnostic.message}"
        notes.setdefault(layer, []).append(text)
    results = {result.body: result for result in shown.inference.result.walk()}
    return [
        Graph(
            id=graph_id(body.path),
            nodes=list(_nodes(body, results.get(body), node_of, notes, subject)),
        )
        for body in model.net.all_bodies()
    ]


def findings_shown(subject: Subject) -> Iterator[tuple[Diagnostic, Layer, Layer]]:
    """Yields each finding, its layer, and the layer that shows the finding. Model Explorer hides
    constants, so each consumer of a constant shows the findings of the constant, too."""
    shown = subject.shown
    assert shown is not None
    hidden = {layer for _, layer in shown.findings if layer is not None and layer.is_constant}
    consumers = {
        layer: dict.fromkeys(result.body.layers[user.position] for user in users)
        for result in (shown.inference.result.walk() if hidden else ())
        for layer, users in zip(result.body.layers, result.wiring.users, strict=True)
        if layer in hidden
    }
    for diagnostic, layer in shown.findings:
        if layer is not None:
            for place in (layer, *consumers.get(layer, ())):
                yield diagnostic, layer, place


def _nodes(
    body: Body,
    result: BodyResult | None,
    node_of: dict[Layer, str],
    notes: dict[Layer, list[str]],
    subject: Subject,
) -> Iterator[Any]:
    assert subject.model is not None
    sources = (wire(body) if result is None else result.wiring).sources
    for position, layer in enumerate(body.layers):
        tensors = () if result is None else result.outputs[position]
        attributes = {
            "name": layer.name,
            "version": layer.version or "",
            **layer.attributes,
            "line": str(subject.model.source.line_number(layer.offset)),
        }
        yield GraphNode(
            id=node_of[layer],
            label=layer.type,
            namespace="/".join(scope_of(layer.name)),
            subgraphIds=[graph_id(inner.path) for inner in (layer.bodies or {}).values()],
            attrs=[
                *_pairs(attributes),
                *(KeyValue(key="finding", value=text) for text in notes.get(layer, ())),
            ],
            incomingEdges=[
                IncomingEdge(
                    sourceNodeId=node_of[body.layers[source[0]]],
                    sourceNodeOutputId=str(source[1]),
                    targetNodeInputId=str(index),
                )
                for index, source in enumerate(sources[position])
                if source is not None
            ],
            outputsMetadata=[
                _output(index, port, tensors[index] if index < len(tensors) else None)
                for index, port in enumerate(layer.outputs)
            ],
        )


def _pairs(attributes: dict[str, str]) -> list[Any]:
    return [KeyValue(key=key, value=value) for key, value in attributes.items()]


def _output(index: int, port: Port, tensor: Tensor | None) -> Any:
    """Returns what Model Explorer shows for an output in the side panel and on edges."""
    declared = port_text(port) or ""
    known = declared if tensor is None else f"{tensor.element_type} {tensor.shape}"
    attributes = {"tensor_shape": known}
    if port.tensor_names:
        attributes["tensor_name"] = ", ".join(port.tensor_names)
    if tensor is not None and not agrees(port, tensor):
        attributes["declared"] = declared
    return MetadataItem(id=str(index), attrs=_pairs(attributes))
