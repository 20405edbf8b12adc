"""Single faults as people make them who edit an IR by hand or with search and replace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise

from faults import Fault, Tree, Where, changed, edges, layer_of, layers, removed, where
from structure_faults import entries, spelt
from text_faults import Slip, TextFault, matches

HAND_FAULTS: dict[str, Fault] = {}
HAND_SLIPS: dict[str, TextFault] = {}
_SKIPPED = ("Const", "Parameter", "Result")


def hand_fault(planted: Fault) -> Fault:
    HAND_FAULTS[planted.__name__.replace("_", "-")] = planted
    return planted


def hand_slip(planted: TextFault) -> TextFault:
    HAND_SLIPS[planted.__name__.replace("_", "-")] = planted
    return planted


def data_of(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    for layer in layers(tree):
        data = layer.find("data")
        if data is not None:
            yield layer, data


@contextmanager
def dims(port: Tree, sizes: list[str]) -> Iterator[None]:
    """A port with other dimensions."""
    children = list(port.findall("dim"))
    texts = [child.text for child in children]
    for child, text in zip(children, sizes, strict=True):
        child.text = text
    yield
    for child, written in zip(children, texts, strict=True):
        child.text = written


@hand_fault
def attribute_name_in_capitals(tree: Tree) -> Iterator[Where]:
    for layer, data in data_of(tree):
        for name in list(data.attrib):
            if str(name) != str(name).title():
                with spelt(data, str(name), str(name).title()):
                    yield where(layer)


@hand_fault
def attribute_with_a_comma(tree: Tree) -> Iterator[Where]:
    """A list of numbers that ends with a comma."""
    for layer, data in data_of(tree):
        for name, text in data.attrib.items():
            if "," in str(text):
                with changed(data, str(name), f"{text},"):
                    yield where(layer)


@hand_fault
def attribute_with_a_point(tree: Tree) -> Iterator[Where]:
    """Numbers with a point between them for a comma."""
    for layer, data in data_of(tree):
        for name, text in data.attrib.items():
            if re.fullmatch(r"\d+, ?\d+", str(text)):
                with changed(data, str(name), str(text).replace(",", ".", 1)):
                    yield where(layer)


@hand_fault
def other_version(tree: Tree) -> Iterator[Where]:
    """The version of a layer is the first, or one that the file uses elsewhere."""
    names = {str(layer.get("version")) for layer in layers(tree)} | {"opset1"}
    for layer in layers(tree):
        for name in sorted(names - {str(layer.get("version"))}):
            with changed(layer, "version", name):
                yield where(layer)


@hand_fault
def parameter_type_and_port(tree: Tree) -> Iterator[Where]:
    """A Parameter and its port have another type; what takes it keeps the old one."""
    for layer, data in data_of(tree):
        port = layer.find("output/port")
        if layer.get("type") != "Parameter" or port is None:
            continue
        name, precision = ("f16", "FP16") if port.get("precision") == "FP32" else ("f32", "FP32")
        with changed(data, "element_type", name), changed(port, "precision", precision):
            yield where(layer)


@hand_fault
def parameter_shape_and_port(tree: Tree) -> Iterator[Where]:
    """A Parameter and its port have another size; what takes it keeps the old one."""
    for layer, data in data_of(tree):
        port = layer.find("output/port")
        shape = str(data.get("shape", ""))
        if layer.get("type") != "Parameter" or port is None or not re.match(r"\d+(,|$)", shape):
            continue
        sizes = [
            str(int(shape.split(",", maxsplit=1)[0]) + 1),
            *(d.text or "" for d in port.findall("dim")[1:]),
        ]
        other = re.sub(r"^\d+", sizes[0], shape)
        with changed(data, "shape", other), dims(port, sizes):
            yield where(layer)


@hand_fault
def constant_type_and_port(tree: Tree) -> Iterator[Where]:
    """A Const and its port have another type; size and consumers stay."""
    for layer, data in data_of(tree):
        port = layer.find("output/port")
        if layer.get("type") != "Const" or port is None or port.get("precision") != "FP32":
            continue
        with changed(data, "element_type", "f16"), changed(port, "precision", "FP16"):
            yield where(layer)


@hand_fault
def constant_with_a_one(tree: Tree) -> Iterator[Where]:
    """The shape of a Const has a one before it."""
    for layer, data in data_of(tree):
        shape = data.get("shape")
        if layer.get("type") == "Const" and shape:
            with changed(data, "shape", f"1, {shape}"):
                yield where(layer)


@hand_fault
def destination_type(tree: Tree) -> Iterator[Where]:
    """A Convert, ShapeOf or the like produces another type."""
    for layer, data in data_of(tree):
        for name in ("destination_type", "output_type", "index_element_type"):
            text = data.get(name)
            if text is not None:
                other = {"i64": "i32", "i32": "i64", "f32": "f16"}.get(str(text), "f32")
                with changed(data, name, other):
                    yield where(layer)


@hand_fault
def deleted_layer(tree: Tree) -> Iterator[Where]:
    """A layer is gone, with all its edges."""
    for body, layer in [(layer.getparent().getparent(), layer) for layer in layers(tree)]:
        if body is None or layer.get("type") in _SKIPPED:
            continue
        number = layer.get("id")
        near = [
            e
            for e in body.findall("edges/edge")
            if number in (e.get("to-layer"), e.get("from-layer"))
        ]
        after = next((e.get("to-layer") for e in near if e.get("from-layer") == number), None)
        if after is None:
            continue
        owner = where(layer_of(body, after))
        with ExitStack() as stack:
            for element in (*near, layer):
                stack.enter_context(removed(element))
            yield owner


@hand_fault
def deleted_input(tree: Tree) -> Iterator[Where]:
    """An input port is gone, with the edge into it."""
    for body, edge in list(edges(tree)):
        layer = layer_of(body, edge.get("to-layer"))
        port = next(
            (p for p in layer.findall("input/port") if p.get("id") == edge.get("to-port")), None
        )
        if port is not None and layer.get("type") != "Result":
            with removed(edge), removed(port):
                yield where(layer)


@hand_fault
def replaced_source(tree: Tree) -> Iterator[Where]:
    """Every edge from a layer comes from the layer after it."""
    for body in [group.getparent() for group in tree.iter("edges")]:
        assert body is not None
        ids = [str(layer.get("id")) for layer in body.findall("layers/layer")]
        for number, other in pairwise(ids):
            outgoing = [e for e in body.findall("edges/edge") if e.get("from-layer") == number]
            if not outgoing:
                continue
            owner = where(layer_of(body, outgoing[0].get("to-layer")))
            with ExitStack() as stack:
                for edge in outgoing:
                    stack.enter_context(changed(edge, "from-layer", other))
                yield owner


@hand_fault
def equal_names(tree: Tree) -> Iterator[Where]:
    """Two output ports have the same tensor names."""
    ports = [
        (layer, p) for layer in layers(tree) for p in layer.findall("output/port") if p.get("names")
    ]
    for (_, one), (layer, other) in pairwise(ports):
        with changed(other, "names", str(one.get("names"))):
            yield where(layer)


@hand_fault
def port_map_without(tree: Tree) -> Iterator[Where]:
    """An entry of a port map lacks an attribute."""
    for layer, entry in list(entries(tree)):
        for name in list(entry.attrib):
            before = dict(entry.attrib)
            del entry.attrib[name]
            yield where(layer)
            entry.attrib.clear()
            entry.attrib.update(before)


@hand_fault
def port_map_of_the_next(tree: Tree) -> Iterator[Where]:
    """An entry of a port map names the port or layer of the next entry."""
    rows = list(entries(tree))
    for (layer, one), (owner, other) in pairwise(rows):
        for name in ("external_port_id", "internal_layer_id"):
            if layer is owner and one.tag == other.tag and one.get(name) != other.get(name):
                with changed(one, name, str(other.get(name))):
                    yield where(layer)


@hand_slip
def typographic_quotes(data: bytes) -> Iterator[Slip]:
    for match in matches(r'(id|type|to-port)=("[^"<>]*")', data):
        text = match[2][1:-1].decode()
        yield match.start(2), match.end(2), f"\u201c{text}\u201d".encode()


@hand_slip
def ampersand(data: bytes) -> Iterator[Slip]:
    for match in matches(r' name="([^"<>]*)"', data):
        yield match.end(1), match.end(1), b" & co"


@hand_slip
def comment_that_does_not_end(data: bytes) -> Iterator[Slip]:
    for match in matches(r"<layer ", data):
        yield match.start(), match.start(), b"<!-- "


@hand_slip
def missing_end_of_a_section(data: bytes) -> Iterator[Slip]:
    for match in matches(r"</?(layers|edges|rt_info|body)>", data):
        yield match.start(), match.end(), b""


@hand_slip
def letter_for_a_digit(data: bytes) -> Iterator[Slip]:
    for match in matches(r"<dim>[0-9]*(0|1)[0-9]*</dim>", data):
        yield match.start(1), match.end(1), b"O" if match[1] == b"0" else b"l"


@hand_slip
def two_dimensions_in_one(data: bytes) -> Iterator[Slip]:
    for match in matches(r"(</dim>\s*<dim>)", data):
        yield match.start(1), match.end(1), b","


@hand_slip
def blank_in_a_number(data: bytes) -> Iterator[Slip]:
    for match in matches(r' (offset|size|id|from-layer)="[0-9]()[0-9]+"', data):
        yield match.start(2), match.end(2), b" "
