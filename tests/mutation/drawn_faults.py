"""Single faults whose other value is drawn by chance, as a table of faults for any file has them.

Another number, type, end or text than is right, taken from the whole file or from all that may
stand there, not from the neighbourhood. Some of them contradict nothing in some places.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy

from faults import (
    Fault,
    Tree,
    Where,
    added,
    changed,
    constants,
    edges,
    layers,
    removed,
    where,
    without,
)
from lxml import etree
from single_faults import attribute_texts, bodies, edges_by_target, members, parameters
from slip_faults import each_changed
from structure_faults import entries, ports

DRAWN_FAULTS: dict[str, Fault] = {}
PRECISIONS = ("FP32", "FP16", "I64", "I32", "U8", "BOOL", "BF16", "I8")
ELEMENT_TYPES = ("f32", "f16", "i64", "i32", "u8", "i8", "f64", "i16")
WORDS = {
    "auto_pad": ("explicit", "same_upper", "same_lower", "valid"),
    "auto_broadcast": ("numpy", "none"),
    "rounding_type": ("floor", "ceil"),
    "mode": ("constant", "reflect", "edge", "bidirectional", "numpy", "max", "min", "nearest"),
    "direction": ("forward", "reverse", "bidirectional"),
}

Change = tuple[Tree, str, str]


def drawn_fault(planted: Fault) -> Fault:
    DRAWN_FAULTS[planted.__name__.replace("_", "-")] = planted
    return planted


def chance(*of: object) -> random.Random:
    """The same draw for the same place, however often a tree is gone through."""
    return random.Random(repr(of))


@contextmanager
def texts(changes: list[tuple[Tree, str]]) -> Iterator[None]:
    """Elements with another text."""
    before = [(element, element.text) for element, _ in changes]
    for element, text in changes:
        element.text = text
    yield
    for element, old in before:
        element.text = old


@contextmanager
def reordered(parent: Tree, children: list[Tree]) -> Iterator[None]:
    before = list(parent)
    parent[:] = children
    yield
    parent[:] = before


# ports


def of_dims(tree: Tree, change: Callable[[int, random.Random], int]) -> Iterator[Where]:
    """One dimension of each port is another."""
    for layer, port in ports(tree):
        known = [dim for dim in port.findall("dim") if dim.text and int(dim.text) >= 0]
        if known:
            drawn = chance(layer.get("id"), port.get("id"))
            dim = drawn.choice(known)
            text = str(change(int(str(dim.text)), drawn))
            if text != dim.text:
                with texts([(dim, text)]):
                    yield where(layer)


@drawn_fault
def any_dimension(tree: Tree) -> Iterator[Where]:
    yield from of_dims(tree, lambda size, drawn: drawn.randrange(1, 1000))


@drawn_fault
def dimension_one_less(tree: Tree) -> Iterator[Where]:
    yield from of_dims(tree, lambda size, drawn: size - 1)


@drawn_fault
def dimension_doubled(tree: Tree) -> Iterator[Where]:
    yield from of_dims(tree, lambda size, drawn: size * 2)


@drawn_fault
def dimension_zero(tree: Tree) -> Iterator[Where]:
    yield from of_dims(tree, lambda size, drawn: 0)


@drawn_fault
def dimension_one(tree: Tree) -> Iterator[Where]:
    yield from of_dims(tree, lambda size, drawn: 1)


@drawn_fault
def two_dimensions_exchanged(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        dims = port.findall("dim")
        if len({dim.text for dim in dims}) > 1:
            drawn = chance(layer.get("id"), port.get("id"))
            one, other = drawn.sample(dims, 2)
            if one.text != other.text:
                with texts([(one, str(other.text)), (other, str(one.text))]):
                    yield where(layer)


@drawn_fault
def any_precision(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        other = chance(layer.get("id"), port.get("id")).choice(PRECISIONS)
        if other != port.get("precision") and port.get("precision"):
            with changed(port, "precision", other):
                yield where(layer)


@drawn_fault
def port_without_precision(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        if port.get("precision"):
            with without(port, "precision"):
                yield where(layer)


@drawn_fault
def any_port_id(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        other = str(chance(layer.get("id"), port.get("id")).randrange(100))
        if other != port.get("id"):
            with changed(port, "id", other):
                yield where(layer)


@drawn_fault
def every_port_scaled(tree: Tree) -> Iterator[Where]:
    """One dimension, wherever a layer's ports have it, is twice as large."""
    for layer in layers(tree):
        sizes = {dim.text for dim in layer.iterfind("*/port/dim") if dim.text not in ("1", "-1")}
        if sizes:
            size = chance(layer.get("id")).choice(sorted(map(str, sizes)))
            dims = [dim for dim in layer.iterfind("*/port/dim") if dim.text == size]
            with texts([(dim, str(2 * int(size))) for dim in dims]):
                yield where(layer)


@drawn_fault
def port_removed(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        with removed(port):
            yield where(layer)


@drawn_fault
def ports_of_any_layer(tree: Tree) -> Iterator[Where]:
    """The outputs of a layer of the same type, with its own ids."""
    by_type: dict[str | None, list[Tree]] = {}
    for layer in layers(tree):
        by_type.setdefault(layer.get("type"), []).append(layer)
    for layer in layers(tree):
        one = layer.find("output/port")
        other = chance(layer.get("id")).choice(by_type[layer.get("type")]).find("output/port")
        if one is None or other is None:
            continue
        sizes = [[dim.text for dim in port] for port in (one, other)]
        if sizes[0] != sizes[1]:
            with reordered(one, [deepcopy(child) for child in other]):
                yield where(layer)


# edges


def of_ends(tree: Tree, end: str) -> Iterator[Where]:
    """One end of an edge is at any other layer."""
    for body in bodies(tree):
        by_id = members(body)
        for edge in body.findall("edges/edge"):
            drawn = chance(end, sorted(edge.attrib.items()))
            other = drawn.choice(sorted(by_id))
            if other not in (edge.get("from-layer"), edge.get("to-layer")):
                owner = by_id[str(edge.get("to-layer"))]
                with changed(edge, f"{end}-layer", other):
                    yield where(owner)


@drawn_fault
def edge_from_any_layer(tree: Tree) -> Iterator[Where]:
    yield from of_ends(tree, "from")


@drawn_fault
def edge_to_any_layer(tree: Tree) -> Iterator[Where]:
    yield from of_ends(tree, "to")


@drawn_fault
def edge_from_any_output(tree: Tree) -> Iterator[Where]:
    """An edge comes from any output of the body."""
    for body in bodies(tree):
        by_id = members(body)
        outs = [
            (number, str(port.get("id")))
            for number, layer in by_id.items()
            for port in layer.findall("output/port")
        ]
        for edge in body.findall("edges/edge"):
            number, port = chance(sorted(edge.attrib.items())).choice(outs)
            same = (edge.get("from-layer"), edge.get("from-port")) == (number, port)
            if not same and number != edge.get("to-layer"):
                ends = [(edge, "from-layer", number), (edge, "from-port", port)]
                with each_changed(ends):
                    yield where(by_id[str(edge.get("to-layer"))])


def of_end_ports(tree: Tree, name: str) -> Iterator[Where]:
    for body, edge in edges(tree):
        other = str(chance(name, sorted(edge.attrib.items())).randrange(10))
        if other != edge.get(name):
            owner = members(body)[str(edge.get("to-layer"))]
            with changed(edge, name, other):
                yield where(owner)


@drawn_fault
def edge_from_any_port(tree: Tree) -> Iterator[Where]:
    yield from of_end_ports(tree, "from-port")


@drawn_fault
def edge_to_any_port(tree: Tree) -> Iterator[Where]:
    yield from of_end_ports(tree, "to-port")


@drawn_fault
def sources_of_two_edges_exchanged(tree: Tree) -> Iterator[Where]:
    """Two edges anywhere in a body have each other's source."""
    for body in bodies(tree):
        by_id = members(body)
        every = body.findall("edges/edge")
        for edge in every:
            other = chance(sorted(edge.attrib.items())).choice(every)
            ends = ("from-layer", "from-port")
            if any(edge.get(name) != other.get(name) for name in ends):
                changes = [(edge, name, str(other.get(name))) for name in ends]
                changes += [(other, name, str(edge.get(name))) for name in ends]
                with each_changed(changes):
                    yield where(by_id[str(edge.get("to-layer"))])


@drawn_fault
def any_two_inputs_exchanged(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            if len(incoming) > 1:
                one, other = chance(number).sample(incoming, 2)
                swap = [
                    (one, "to-port", str(other.get("to-port"))),
                    (other, "to-port", str(one.get("to-port"))),
                ]
                with each_changed(swap):
                    yield where(by_id[number])


@drawn_fault
def edge_added(tree: Tree) -> Iterator[Where]:
    """An edge that is not there, from any output to any input."""
    for body in bodies(tree):
        by_id = members(body)
        group = body.find("edges")
        assert group is not None
        outs = [
            (number, str(port.get("id")))
            for number, layer in by_id.items()
            for port in layer.findall("output/port")
        ]
        for number, layer in by_id.items():
            for port in layer.findall("input/port"):
                source, out = chance(number, port.get("id")).choice(outs)
                ends = (source, out, number, str(port.get("id")))
                names = ("from-layer", "from-port", "to-layer", "to-port")
                if source != number:
                    edge = etree.Element("edge", dict(zip(names, ends, strict=True)))
                    with added(group, edge):
                        yield where(layer)


# attributes


def of_attributes(
    tree: Tree, pattern: str, change: Callable[[str, random.Random], str]
) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if layer.get("type") != "Const" and re.fullmatch(pattern, text):
            other = change(text, chance(layer.get("id"), name))
            if other != text:
                with changed(data, name, other):
                    yield where(layer)


@drawn_fault
def any_number(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(tree, r"-?\d+", lambda text, drawn: str(drawn.randrange(-4, 10)))


@drawn_fault
def any_number_of_a_list(tree: Tree) -> Iterator[Where]:
    def change(text: str, drawn: random.Random) -> str:
        parts = text.split(",")
        at = drawn.randrange(len(parts))
        parts[at] = re.sub(r"-?\d+", str(drawn.randrange(0, 6)), parts[at])
        return ",".join(parts)

    yield from of_attributes(tree, r"-?\d+(, ?-?\d+)+", change)


@drawn_fault
def list_one_shorter(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(tree, r"-?\d+(, ?-?\d+)+", lambda text, drawn: text.rpartition(",")[0])


@drawn_fault
def negated(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(tree, r"[1-9]\d*", lambda text, drawn: f"-{text}")


@drawn_fault
def not_a_boolean(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(
        tree, "true|false", lambda text, drawn: drawn.choice(["yes", "2", "T"])
    )


@drawn_fault
def another_boolean(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(
        tree, "true|false", lambda text, drawn: "true" if text == "false" else "false"
    )


@drawn_fault
def another_word(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        others = [word for word in WORDS.get(name, ()) if word != text]
        if others:
            with changed(data, name, chance(layer.get("id"), name).choice(others)):
                yield where(layer)


@drawn_fault
def letters_in_a_number(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(tree, r"-?\d+(, ?-?\d+)*", lambda text, drawn: f"{text}abc")


@drawn_fault
def any_type_of_elements(tree: Tree) -> Iterator[Where]:
    """An attribute that is an element type is another one."""
    yield from of_attributes(
        tree,
        "f32|f16|i64|i32|u8|boolean|bf16|i8",
        lambda text, drawn: drawn.choice(ELEMENT_TYPES),
    )


@drawn_fault
def attribute_in_camel_case(tree: Tree) -> Iterator[Where]:
    for layer, data, name, _ in attribute_texts(tree):
        head, *rest = re.split("[_-]", name)
        if rest:
            with renamed_in_place(data, name, head + "".join(part.title() for part in rest)):
                yield where(layer)


@drawn_fault
def attribute_with_a_hyphen(tree: Tree) -> Iterator[Where]:
    for layer, data, name, _ in attribute_texts(tree):
        if "_" in name:
            with renamed_in_place(data, name, name.replace("_", "-")):
                yield where(layer)


@drawn_fault
def attribute_cut_off(tree: Tree) -> Iterator[Where]:
    for layer, data, name, _ in attribute_texts(tree):
        other = name[: chance(layer.get("id"), name).randrange(1, len(name) + 1)]
        if other not in data.attrib:
            with renamed_in_place(data, name, other):
                yield where(layer)


@contextmanager
def renamed_in_place(element: Tree, name: str, other: str) -> Iterator[None]:
    before = dict(element.attrib)
    element.attrib.clear()
    for each, text in before.items():
        element.set(other if each == name else str(each), str(text))
    yield
    element.attrib.clear()
    for each, text in before.items():
        element.set(str(each), str(text))


# types and versions


@drawn_fault
def type_of_any_layer(tree: Tree) -> Iterator[Where]:
    types = sorted({str(layer.get("type")) for layer in layers(tree)})
    for layer in layers(tree):
        other = chance(layer.get("id")).choice(types)
        if other != layer.get("type"):
            with changed(layer, "type", other):
                yield where(layer)


@drawn_fault
def type_with_a_suffix(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        ending = chance(layer.get("id")).choice(["Op", "Layer", "V2", "2D", "s"])
        with changed(layer, "type", f"{layer.get('type')}{ending}"):
            yield where(layer)


@drawn_fault
def type_with_a_letter_less(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        name = str(layer.get("type"))
        at = chance(layer.get("id")).randrange(len(name))
        with changed(layer, "type", name[:at] + name[at + 1 :]):
            yield where(layer)


@drawn_fault
def any_version(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        other = f"opset{chance(layer.get('id')).randrange(1, 17)}"
        if other != layer.get("version") and str(layer.get("version")).startswith("opset"):
            with changed(layer, "version", other):
                yield where(layer)


@drawn_fault
def version_as_a_number(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        if str(layer.get("version")).startswith("opset"):
            with changed(layer, "version", str(layer.get("version")).removeprefix("opset")):
                yield where(layer)


# constants


@drawn_fault
def any_element_type_of_a_constant(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        other = chance(layer.get("id")).choice(ELEMENT_TYPES)
        if other != data.get("element_type"):
            with changed(data, "element_type", other):
                yield where(layer)


def of_shapes(tree: Tree, change: Callable[[list[str], random.Random], None]) -> Iterator[Where]:
    for layer, data in constants(tree):
        parts = [part.strip() for part in str(data.get("shape")).split(",") if part.strip()]
        before = list(parts)
        if parts:
            change(parts, chance(layer.get("id")))
            if parts != before:
                with changed(data, "shape", ", ".join(parts)):
                    yield where(layer)


@drawn_fault
def any_size_in_a_constants_shape(tree: Tree) -> Iterator[Where]:
    def change(parts: list[str], drawn: random.Random) -> None:
        parts[drawn.randrange(len(parts))] = str(drawn.randrange(1, 100))

    yield from of_shapes(tree, change)


@drawn_fault
def shape_of_a_constant_shuffled(tree: Tree) -> Iterator[Where]:
    yield from of_shapes(tree, lambda parts, drawn: drawn.shuffle(parts))


@drawn_fault
def size_lost_in_a_constants_shape(tree: Tree) -> Iterator[Where]:
    yield from of_shapes(tree, lambda parts, drawn: parts.__delitem__(drawn.randrange(len(parts))))


@drawn_fault
def size_more_in_a_constants_shape(tree: Tree) -> Iterator[Where]:
    yield from of_shapes(
        tree,
        lambda parts, drawn: parts.insert(
            drawn.randrange(len(parts) + 1), str(drawn.choice((1, 2, 3)))
        ),
    )


def of_constants(
    tree: Tree, name: str, change: Callable[[int, random.Random], object]
) -> Iterator[Where]:
    for layer, data in constants(tree):
        text = str(change(int(str(data.get(name))), chance(layer.get("id"), name)))
        if text != data.get(name):
            with changed(data, name, text):
                yield where(layer)


@drawn_fault
def any_offset(tree: Tree) -> Iterator[Where]:
    most = max((int(str(data.get("offset"))) for _, data in constants(tree)), default=0)
    yield from of_constants(tree, "offset", lambda old, drawn: drawn.randrange(most + 1))


@drawn_fault
def offset_far_behind_the_end(tree: Tree) -> Iterator[Where]:
    yield from of_constants(tree, "offset", lambda old, drawn: old + 10**9)


@drawn_fault
def offset_negated(tree: Tree) -> Iterator[Where]:
    yield from of_constants(tree, "offset", lambda old, drawn: -old - 1)


@drawn_fault
def offset_by_a_few_bytes(tree: Tree) -> Iterator[Where]:
    yield from of_constants(tree, "offset", lambda old, drawn: old + drawn.choice((1, 2, 4, 8)))


@drawn_fault
def any_size(tree: Tree) -> Iterator[Where]:
    yield from of_constants(tree, "size", lambda old, drawn: drawn.randrange(1, 2 * old + 9))


@drawn_fault
def size_one_less(tree: Tree) -> Iterator[Where]:
    yield from of_constants(tree, "size", lambda old, drawn: old - 1)


@drawn_fault
def size_halved(tree: Tree) -> Iterator[Where]:
    yield from of_constants(tree, "size", lambda old, drawn: old // 2)


def of_two_constants(tree: Tree, names: tuple[str, ...]) -> Iterator[Where]:
    """Two constants have each other's values of some attributes."""
    every = list(constants(tree))
    for layer, data in every:
        other = chance(layer.get("id")).choice(every)[1]
        if any(data.get(name) != other.get(name) for name in names):
            changes = [(data, name, str(other.get(name))) for name in names]
            changes += [(other, name, str(data.get(name))) for name in names]
            with each_changed(changes):
                yield where(layer)


@drawn_fault
def offsets_of_two_constants_exchanged(tree: Tree) -> Iterator[Where]:
    yield from of_two_constants(tree, ("offset",))


@drawn_fault
def data_of_two_constants_exchanged(tree: Tree) -> Iterator[Where]:
    yield from of_two_constants(tree, ("element_type", "shape", "offset", "size"))


@drawn_fault
def data_of_any_constant(tree: Tree) -> Iterator[Where]:
    every = list(constants(tree))
    names = ("element_type", "shape", "offset", "size")
    for layer, data in every:
        other = chance(layer.get("id")).choice(every)[1]
        if any(data.get(name) != other.get(name) for name in ("offset", "shape")):
            with each_changed([(data, name, str(other.get(name))) for name in names]):
                yield where(layer)


# ids


def of_ids(tree: Tree, change: Callable[[list[str], str, random.Random], str]) -> Iterator[Where]:
    for body in bodies(tree):
        by_id = members(body)
        for number, layer in by_id.items():
            other = change(sorted(by_id), number, chance(number))
            if other != number:
                owner = where(layer)
                with changed(layer, "id", other):
                    yield Where(owner.path, other)


@drawn_fault
def any_id(tree: Tree) -> Iterator[Where]:
    yield from of_ids(tree, lambda ids, own, drawn: str(drawn.randrange(10**6)))


@drawn_fault
def id_of_any_layer(tree: Tree) -> Iterator[Where]:
    yield from of_ids(tree, lambda ids, own, drawn: drawn.choice(ids))


@drawn_fault
def id_negated(tree: Tree) -> Iterator[Where]:
    yield from of_ids(tree, lambda ids, own, drawn: f"-{own}")


@drawn_fault
def ids_of_any_two_layers_exchanged(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        by_id = members(body)
        for number, layer in by_id.items():
            other = chance(number).choice(list(by_id.values()))
            if other is not layer:
                owner = where(layer)
                swap = [(layer, "id", str(other.get("id"))), (other, "id", number)]
                with each_changed(swap):
                    yield Where(owner.path, layer.get("id"))


# Parameters and Results


def of_parameters(
    tree: Tree, change: Callable[[list[str], random.Random], None]
) -> Iterator[Where]:
    for layer, data in parameters(tree):
        parts = [part.strip() for part in str(data.get("shape")).split(",") if part.strip()]
        before = list(parts)
        if parts:
            change(parts, chance(layer.get("id")))
            if parts != before:
                with changed(data, "shape", ",".join(parts)):
                    yield where(layer)


@drawn_fault
def any_size_of_a_parameter(tree: Tree) -> Iterator[Where]:
    def change(parts: list[str], drawn: random.Random) -> None:
        parts[drawn.randrange(len(parts))] = str(drawn.randrange(2, 100))

    yield from of_parameters(tree, change)


@drawn_fault
def size_of_a_parameter_lost(tree: Tree) -> Iterator[Where]:
    yield from of_parameters(
        tree, lambda parts, drawn: parts.__delitem__(drawn.randrange(len(parts)))
    )


@drawn_fault
def shape_of_a_parameter_reversed(tree: Tree) -> Iterator[Where]:
    yield from of_parameters(tree, lambda parts, drawn: parts.reverse())


@drawn_fault
def any_type_of_a_parameter(tree: Tree) -> Iterator[Where]:
    for layer, data in parameters(tree):
        for other in ELEMENT_TYPES[:5]:
            if other != data.get("element_type"):
                with changed(data, "element_type", other):
                    yield where(layer)


@drawn_fault
def port_of_a_parameter(tree: Tree) -> Iterator[Where]:
    for layer, _ in parameters(tree):
        for dim in layer.iterfind("output/port/dim"):
            other = str(chance(layer.get("id"), dim.text).randrange(1, 100))
            if dim.text and other != dim.text:
                with texts([(dim, other)]):
                    yield where(layer)


@drawn_fault
def port_of_a_result(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        if layer.get("type") == "Result":
            for dim in layer.iterfind("input/port/dim"):
                with texts([(dim, "77")]):
                    yield where(layer)


# port maps and the layers of bodies


@drawn_fault
def any_number_of_a_port_map(tree: Tree) -> Iterator[Where]:
    for layer, entry in entries(tree):
        for name, text in entry.attrib.items():
            if re.fullmatch(r"-?\d+", str(text)):
                other = str(chance(layer.get("id"), name, text).randrange(-1, 8))
                if other != text:
                    with changed(entry, str(name), other):
                        yield where(layer)


@drawn_fault
def port_map_attribute_missing(tree: Tree) -> Iterator[Where]:
    for layer, entry in entries(tree):
        for name in list(entry.attrib):
            with without(entry, str(name)):
                yield where(layer)


@drawn_fault
def port_map_entry_doubled(tree: Tree) -> Iterator[Where]:
    for layer, entry in entries(tree):
        owner = entry.getparent()
        assert owner is not None
        with added(owner, deepcopy(entry)):
            yield where(layer)


@drawn_fault
def back_edge_anywhere(tree: Tree) -> Iterator[Where]:
    for edge in tree.iterfind(".//back_edges/edge"):
        owner = edge.getparent()
        layer = owner.getparent() if owner is not None else None
        if layer is None:
            continue
        for name in ("from-layer", "to-layer"):
            for number in [str(each.get("id")) for each in layer.iterfind("body/layers/layer")]:
                if number != edge.get(name):
                    with changed(edge, name, number):
                        yield where(layer)
