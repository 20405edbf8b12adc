"""Faults to put into a valid IR, each with the layer at which it must be found.

A fault is a generator over an IR's tree: for each place it yields the owner of the fault, having
changed the tree; what comes after the `yield` takes it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

from lxml import etree

BODIES = ("body", "then_body", "else_body")
TEXTS = {
    "variable_id",
    "shape",
    "offset",
    "size",
    "axis",
    "special_zero",
    "element_type",
    "variable_type",
    "variable_shape",
}


class Where(NamedTuple):
    """The layer at which a fault must be found: the path to it, and its id or None."""

    path: tuple[str, ...]
    id: str | None


Tree = etree._Element
Fault = Callable[[Tree], Iterator[Where]]
FAULTS: dict[str, Fault] = {}


def fault(made: Fault) -> Fault:
    FAULTS[made.__name__.replace("_", "-")] = made
    return made


def where(layer: Tree, number: str | None = None) -> Where:
    path: list[str] = []
    for above in layer.iterancestors():
        if above.tag in BODIES:
            owner = above.getparent()
            assert owner is not None
            path[:0] = [str(owner.get("id")), str(above.tag)]
    return Where(tuple(path), number or layer.get("id"))


def layers(tree: Tree) -> Iterator[Tree]:
    yield from tree.iter("layer")


def outputs(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Layers with an output port each, but for those that declare what nothing else decides."""
    for layer in layers(tree):
        for port in layer.findall("output/port"):
            yield layer, port


def edges(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Edges, each with its net or body; the back edges of a loop are not among them."""
    for group in tree.iter("edges"):
        body = group.getparent()
        assert body is not None
        for edge in group:
            yield body, edge


_LAYER = etree.XPath("layers/layer[@id=$number][1]")


def layer_of(body: Tree, number: str | None) -> Tree:
    return _LAYER(body, number=number)[0]


@contextmanager
def changed(element: Tree, name: str, text: str) -> Iterator[None]:
    """An attribute with another value; its place among the others stays."""
    before = element.get(name)
    element.set(name, text)
    yield
    if before is None:
        del element.attrib[name]
    else:
        element.set(name, before)


@contextmanager
def without(element: Tree, name: str) -> Iterator[None]:
    """An attribute less; the others keep their order."""
    before = dict(element.attrib)
    del element.attrib[name]
    yield
    element.attrib.clear()
    for each, text in before.items():
        element.set(str(each), str(text))


@contextmanager
def removed(element: Tree) -> Iterator[None]:
    parent = element.getparent()
    assert parent is not None
    at = parent.index(element)
    parent.remove(element)
    yield
    parent.insert(at, element)


@contextmanager
def added(parent: Tree, element: Tree) -> Iterator[None]:
    parent.append(element)
    yield
    parent.remove(element)


# What ports declare


@fault
def wrong_dimension(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        for dim in port.findall("dim"):
            if dim.text and dim.text != "-1":
                before, dim.text = dim.text, str(int(dim.text) + 1)
                yield where(layer)
                dim.text = before


@fault
def dimension_too_many(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        if port.find("dim") is None and layer.get("type") not in ("Const", "ReadValue"):
            continue  # without any dimension a port may have a dynamic rank
        extra = etree.Element("dim")
        extra.text = "3"
        with added(port, extra):
            yield where(layer)


@fault
def dimension_too_few(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        dims = port.findall("dim")
        if len(dims) > 1:
            with removed(dims[-1]):
                yield where(layer)


@fault
def wrong_precision(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        with changed(port, "precision", "U16" if port.get("precision") != "U16" else "FP32"):
            yield where(layer)


@fault
def unknown_precision(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        with changed(port, "precision", "FP23"):
            yield where(layer)


@fault
def wrong_input_dimension(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for dim in layer.findall("input/port/dim"):
            if dim.text and dim.text != "-1":
                before, dim.text = dim.text, str(int(dim.text) + 1)
                yield where(layer)
                dim.text = before


@fault
def wrong_input_precision(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for port in layer.findall("input/port"):
            with changed(port, "precision", "U16" if port.get("precision") != "U16" else "FP32"):
                yield where(layer)


@fault
def malformed_dimension(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        for dim in port.findall("dim"):
            before, dim.text = dim.text, "1x"
            yield where(layer)
            dim.text = before


@fault
def negative_dimension(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        for dim in port.findall("dim"):
            before, dim.text = dim.text, "-7"
            yield where(layer)
            dim.text = before


# Layers


@fault
def unknown_type(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        with changed(layer, "type", f"{layer.get('type')}Ex"):
            yield where(layer)


@fault
def unknown_version(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        with changed(layer, "version", "opset99"):
            yield where(layer)


@fault
def missing_type(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        with without(layer, "type"):
            yield where(layer)


@fault
def duplicate_id(tree: Tree) -> Iterator[Where]:
    for group in tree.iter("layers"):
        members = group.findall("layer")
        for one, other in pairwise(members):
            with changed(other, "id", str(one.get("id"))):
                yield where(other)


@fault
def missing_port(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        if _feeds(layer, port):
            with removed(port):
                yield where(layer)


def _feeds(layer: Tree, port: Tree) -> bool:
    group = layer.getparent()
    assert group is not None
    body = group.getparent()
    assert body is not None
    return any(
        edge.get("from-layer") == layer.get("id") and edge.get("from-port") == port.get("id")
        for edge in body.findall("edges/edge")
    )


# Attributes


@fault
def unknown_attribute(tree: Tree) -> Iterator[Where]:
    for data in tree.iter("data"):
        with changed(data, "no_such_attribute", "1"):
            yield where(_owner(data))


@fault
def misspelt_attribute(tree: Tree) -> Iterator[Where]:
    for data in tree.iter("data"):
        for name in data.attrib:
            before = dict(data.attrib)
            data.attrib.clear()
            for each, text in before.items():
                data.set(str(each) + ("x" if each == name else ""), str(text))
            yield where(_owner(data))
            data.attrib.clear()
            for each, text in before.items():
                data.set(str(each), str(text))


@fault
def garbage_attribute(tree: Tree) -> Iterator[Where]:
    for data in tree.iter("data"):
        for name in data.attrib:
            if name not in ("variable_id", "mode_name"):
                with changed(data, str(name), "g@rbage"):
                    yield where(_owner(data))


def _owner(data: Tree) -> Tree:
    owner = data.getparent()
    assert owner is not None
    return owner


# Edges


@fault
def missing_edge(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        with removed(edge):
            yield where(layer_of(body, edge.get("to-layer")))


@fault
def doubled_edge(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        group = edge.getparent()
        assert group is not None
        with added(group, etree.Element("edge", dict(edge.attrib))):
            yield where(layer_of(body, edge.get("to-layer")))


@fault
def edge_from_nowhere(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        with changed(edge, "from-layer", "987654"):
            yield where(layer_of(body, edge.get("to-layer")))


@fault
def edge_to_nowhere(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        source = layer_of(body, edge.get("from-layer"))
        with changed(edge, "to-layer", "987654"):
            yield where(source)


@fault
def edge_from_no_port(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        with changed(edge, "from-port", "4321"):
            yield where(layer_of(body, edge.get("from-layer")))


@fault
def edge_to_no_port(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        with changed(edge, "to-port", "4321"):
            yield where(layer_of(body, edge.get("to-layer")))


@fault
def edge_without_end(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        with without(edge, "to-port"):
            yield where(layer_of(body, edge.get("to-layer")))


@fault
def cycle(tree: Tree) -> Iterator[Where]:
    """A layer is fed by its own output."""
    for body, edge in edges(tree):
        target = layer_of(body, edge.get("to-layer"))
        port = target.find("output/port")
        if port is not None:
            with (
                changed(edge, "from-layer", str(target.get("id"))),
                changed(edge, "from-port", str(port.get("id"))),
            ):
                yield where(target)


# Constants


def constants(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    for layer in layers(tree):
        data = layer.find("data")
        if layer.get("type") == "Const" and data is not None:
            yield layer, data


@fault
def constant_behind_the_end(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        with changed(data, "offset", "99999999999"):
            yield where(layer)


@fault
def constant_of_wrong_size(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        size = int(str(data.get("size")))
        if size > 1 and data.get("element_type") != "string":
            with changed(data, "size", str(size - 1)):
                yield where(layer)


@fault
def negative_offset(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        with changed(data, "offset", "-8"):
            yield where(layer)


@fault
def real_index(tree: Tree) -> Iterator[Where]:
    """The axes, indices or lengths of a layer as f32 numbers instead of i64 ones."""
    for body, edge in edges(tree):
        source, target = (
            layer_of(body, edge.get("from-layer")),
            layer_of(body, edge.get("to-layer")),
        )
        data, port = source.find("data"), source.find("output/port")
        if (
            source.get("type") != "Const"
            or data is None
            or port is None
            or (target.get("type"), edge.get("to-port")) not in INDICES
        ):
            continue
        if (
            data.get("element_type") != "i64"
            or len(body.findall(f"edges/edge[@from-layer='{source.get('id')}']")) > 1
        ):
            continue
        size = str(int(str(data.get("size"))) // 2)
        given = next(
            each for each in target.findall("input/port") if each.get("id") == edge.get("to-port")
        )
        with (
            changed(data, "element_type", "f32"),
            changed(data, "size", size),
            changed(port, "precision", "FP32"),
            changed(given, "precision", "FP32"),
        ):
            yield where(target)


INDICES = {
    ("Gather", "1"),
    ("Gather", "2"),
    ("Reshape", "1"),
    ("Transpose", "1"),
    ("Unsqueeze", "1"),
    ("Squeeze", "1"),
    ("ReduceMean", "1"),
    ("ReduceSum", "1"),
    ("ReduceMax", "1"),
    ("Split", "1"),
    ("VariadicSplit", "2"),
    ("StridedSlice", "1"),
    ("Slice", "1"),
    ("Broadcast", "1"),
    ("TopK", "1"),
    ("MVN", "1"),
    ("Pad", "1"),
}
