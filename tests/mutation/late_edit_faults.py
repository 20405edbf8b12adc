"""Single faults of scripts and tools that were written when those of `edit_faults` were corrected.

The last of them, `LAST_EDITS`, were only measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import prod

from edit_faults import end_port, fed_by, reordered, sizes
from faults import (
    Fault,
    Tree,
    Where,
    changed,
    constants,
    edges,
    layer_of,
    layers,
    outputs,
    removed,
    where,
)
from lxml import etree
from single_faults import attribute_texts, bodies, declares, edges_by_target, members, parameters
from slip_faults import each_changed
from structure_faults import numbers

LATE_EDITS: dict[str, Fault] = {}
LAST_EDITS: dict[str, Fault] = {}


def late_edit(planted: Fault) -> Fault:
    LATE_EDITS[planted.__name__.replace("_", "-")] = planted
    return planted


def last_edit(planted: Fault) -> Fault:
    LAST_EDITS[planted.__name__.replace("_", "-")] = planted
    return planted


def plain_texts(tree: Tree, pattern: str, change: Callable[[str], str]) -> Iterator[Where]:
    """Attributes whose value has a form, with another value."""
    for layer, data, name, text in attribute_texts(tree):
        if re.fullmatch(pattern, text):
            with changed(data, name, change(text)):
                yield where(layer)


@late_edit
def list_doubled(tree: Tree) -> Iterator[Where]:
    yield from plain_texts(tree, r"-?\d+(, ?-?\d+)+", lambda text: f"{text}, {text}")


@late_edit
def list_as_one_number(tree: Tree) -> Iterator[Where]:
    yield from plain_texts(tree, r"-?\d+(, ?-?\d+)+", lambda text: text.split(",")[0])


@late_edit
def number_in_brackets(tree: Tree) -> Iterator[Where]:
    yield from plain_texts(tree, r"-?\d+", lambda text: f"[{text}]")


@late_edit
def number_in_hexadecimal(tree: Tree) -> Iterator[Where]:
    yield from plain_texts(tree, r"\d+", lambda text: hex(int(text)))


@late_edit
def number_by_exponent(tree: Tree) -> Iterator[Where]:
    """Offset or size as a program prints large numbers."""
    for layer, data in constants(tree):
        for name in ("offset", "size"):
            number = int(str(data.get(name)))
            if number >= 10:
                with changed(data, name, f"{number:e}".replace("e+0", "e")):
                    yield where(layer)


@late_edit
def leading_zeros(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        text = f"{int(str(layer.get('id'))):05d}"
        with changed(layer, "id", text):
            yield where(layer)


def declared(port: Tree, order: list[str]) -> Iterator[None]:
    """A port with as many dimensions as are given."""
    before = list(port)
    port[:] = [etree.fromstring(f"<dim>{size}</dim>") for size in order]
    yield
    port[:] = before


@late_edit
def dimensions_lost(tree: Tree) -> Iterator[Where]:
    """A port has no dimensions."""
    for layer in layers(tree):
        for port in layer.findall("*/port"):
            if len(port):
                for _ in declared(port, []):
                    yield where(layer)


@late_edit
def output_declared_as_the_input(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        one, other = layer.find("input/port"), layer.find("output/port")
        if one is not None and other is not None and sizes(one) != sizes(other):
            for _ in declared(other, sizes(one)):
                yield where(layer)


@late_edit
def input_declared_as_the_other(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for one, other in pairwise(layer.findall("input/port")):
            if sizes(one) != sizes(other):
                for _ in declared(other, sizes(one)):
                    yield where(layer)


@late_edit
def parameter_as_constant(tree: Tree) -> Iterator[Where]:
    for layer, _ in parameters(tree):
        with changed(layer, "type", "Const"):
            yield where(layer)


@late_edit
def constant_as_parameter(tree: Tree) -> Iterator[Where]:
    for layer, _ in constants(tree):
        with changed(layer, "type", "Parameter"):
            yield where(layer)


@late_edit
def edge_targets_crossed(tree: Tree) -> Iterator[Where]:
    """Two edges, one after the other in the file, have each other's target."""
    names = ("to-layer", "to-port")
    for body in bodies(tree):
        by_id = members(body)
        for one, other in pairwise(body.findall("edges/edge")):
            targets = {(edge.get("from-layer"), edge.get("from-port")) for edge in (one, other)}
            if len(targets) > 1 and one.get("to-layer") != other.get("to-layer"):
                new = [(one, name, str(other.get(name))) for name in names]
                new += [(other, name, str(one.get(name))) for name in names]
                owner = where(by_id[str(one.get("to-layer"))])
                with each_changed(new):
                    yield owner


@late_edit
def ports_of_the_next_edge(tree: Tree) -> Iterator[Where]:
    """An edge has `from-port` or `to-port` of the next one."""
    for body in bodies(tree):
        by_id = members(body)
        for one, other in pairwise(body.findall("edges/edge")):
            for name in ("from-port", "to-port"):
                if one.get(name) != other.get(name):
                    with changed(one, name, str(other.get(name))):
                        yield where(by_id[str(one.get("to-layer"))])


@late_edit
def incoming_edges_reversed(tree: Tree) -> Iterator[Where]:
    """The edges into a layer lead to its ports in the other order."""
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            ports = [str(edge.get("to-port")) for edge in incoming]
            forms = {declares(port) for port in by_id[number].findall("input/port")}
            if len(incoming) > 1 and len(forms) > 1:
                rows = zip(incoming, ports[::-1], strict=True)
                with each_changed([(edge, "to-port", port) for edge, port in rows]):
                    yield where(by_id[number])


@late_edit
def all_edges_into_a_layer_missing(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            if len(incoming) == 2:
                with removed(incoming[1]), removed(incoming[0]):
                    yield where(by_id[number])


@late_edit
def offset_zero(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        if data.get("offset") != "0":
            with changed(data, "offset", "0"):
                yield where(layer)


@late_edit
def size_zero(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        with changed(data, "size", "0"):
            yield where(layer)


@late_edit
def unsigned_constant(tree: Tree) -> Iterator[Where]:
    """Whole numbers become unsigned, in the port, too."""
    other = {"i64": ("u64", "U64"), "i32": ("u32", "U32"), "i8": ("u8", "U8")}
    for layer, data in constants(tree):
        names, port = other.get(str(data.get("element_type"))), layer.find("output/port")
        if names is not None and port is not None:
            with changed(data, "element_type", names[0]), changed(port, "precision", names[1]):
                yield where(layer)


def reshaped(tree: Tree, change: Callable[[list[int]], list[int]]) -> Iterator[Where]:
    """Constants with as many elements in another shape, in the port, too."""
    for layer, data in constants(tree):
        shape = numbers(data.get("shape"))
        port = layer.find("output/port")
        if port is None or sizes(port) != [str(size) for size in shape]:
            continue
        other = change(shape)
        if other != shape:
            with changed(data, "shape", ", ".join(map(str, other))):
                for _ in declared(port, [str(size) for size in other]):
                    yield where(layer)


@late_edit
def constant_flattened(tree: Tree) -> Iterator[Where]:
    yield from reshaped(tree, lambda shape: [prod(shape)] if len(shape) > 1 else shape)


@late_edit
def ones_of_a_constant_squeezed(tree: Tree) -> Iterator[Where]:
    yield from reshaped(tree, lambda shape: [size for size in shape if size > 1])


@late_edit
def constant_with_a_batch(tree: Tree) -> Iterator[Where]:
    yield from reshaped(tree, lambda shape: [1, *shape])


# kinds that were only measured


@last_edit
def port_as_the_layer(tree: Tree) -> Iterator[Where]:
    """The port of an edge is the number of its layer."""
    for body, edge in edges(tree):
        owner = where(layer_of(body, edge.get("to-layer")))
        for end in ("from", "to"):
            text = str(edge.get(f"{end}-layer"))
            if edge.get(f"{end}-port") != text:
                with changed(edge, f"{end}-port", text):
                    yield owner


@last_edit
def attribute_of_the_next_layer(tree: Tree) -> Iterator[Where]:
    """A layer has an attribute more, which is one of the next layer."""
    for group in tree.iter("layers"):
        for layer, other in pairwise(group.findall("layer")):
            data, more = layer.find("data"), other.find("data")
            if data is None or more is None:
                continue
            name = next((name for name in more.attrib if data.get(str(name)) is None), None)
            if name is not None:
                with changed(data, str(name), str(more.get(str(name)))):
                    yield where(layer)


@last_edit
def precision_in_bits(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for port in layer.findall("*/port"):
            bits = re.sub(r"\D", "", str(port.get("precision")))
            if bits:
                with changed(port, "precision", bits):
                    yield where(layer)


@last_edit
def numpy_type(tree: Tree) -> Iterator[Where]:
    names = {"f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4", "u8": "|u1", "i8": "|i1"}
    for layer in layers(tree):
        data = layer.find("data")
        text = names.get(str(data.get("element_type"))) if data is not None else None
        if data is not None and text is not None:
            with changed(data, "element_type", text):
                yield where(layer)


@last_edit
def shape_as_a_tuple(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        data = layer.find("data")
        if data is not None and data.get("shape"):
            text = str(data.get("shape"))
            with changed(data, "shape", f"({text})" if "," in text else f"({text},)"):
                yield where(layer)


@last_edit
def offset_from_the_last_constant(tree: Tree) -> Iterator[Where]:
    """Offsets are counted from where the constant before begins."""
    for (_, before), (layer, data) in pairwise(list(constants(tree))):
        by = int(str(data.get("offset"))) - int(str(before.get("offset")))
        if by > 0 and before.get("offset") != "0":
            with changed(data, "offset", str(by)):
                yield where(layer)


def of_the_next_constant(tree: Tree, name: str) -> Iterator[Where]:
    for (layer, data), (_, behind) in pairwise(list(constants(tree))):
        if data.get(name) is not None and behind.get(name) not in (None, data.get(name)):
            with changed(data, name, str(behind.get(name))):
                yield where(layer)


@last_edit
def size_of_the_next_constant(tree: Tree) -> Iterator[Where]:
    yield from of_the_next_constant(tree, "size")


@last_edit
def shape_of_the_next_constant(tree: Tree) -> Iterator[Where]:
    yield from of_the_next_constant(tree, "shape")


@last_edit
def type_of_the_next_constant(tree: Tree) -> Iterator[Where]:
    yield from of_the_next_constant(tree, "element_type")


@last_edit
def port_of_the_next_constant(tree: Tree) -> Iterator[Where]:
    """The port of a Const declares what that of the next one does."""
    for (layer, _), (other, _) in pairwise(list(constants(tree))):
        one, two = layer.find("output/port"), other.find("output/port")
        if one is None or two is None or declares(one) == declares(two):
            continue
        with changed(one, "precision", str(two.get("precision"))):
            for _ in declared(one, sizes(two)):
                yield where(layer)


@last_edit
def input_declared_as_the_output(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        one, other = layer.find("input/port"), layer.find("output/port")
        if one is not None and other is not None and sizes(one) != sizes(other):
            for _ in declared(one, sizes(other)):
                yield where(layer)


@last_edit
def output_with_a_batch(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        for _ in declared(port, ["1", *sizes(port)]):
            yield where(layer)


@last_edit
def size_halved_on_an_edge(tree: Tree) -> Iterator[Where]:
    """The last size of an output and of all inputs that it feeds is half of what it was."""
    for body in bodies(tree):
        for layer in members(body).values():
            for port in layer.findall("output/port"):
                own = sizes(port)
                ends = [
                    end_port(body, edge) for edge in fed_by(body, layer.get("id"), port.get("id"))
                ]
                inputs = [end for end in ends if end is not None and sizes(end) == own]
                if not own or own[-1] in ("-1", "1") or len(inputs) < len(ends) or not inputs:
                    continue
                if layer.get("type") not in ("Const", "Parameter"):
                    yield from reordered(
                        layer, [port, *inputs], [*own[:-1], str(int(own[-1]) // 2)]
                    )


@last_edit
def edge_skips_a_layer(tree: Tree) -> Iterator[Where]:
    """An edge comes from what feeds the layer from which it should come."""
    for body in bodies(tree):
        by_id = members(body)
        incoming = edges_by_target(body)
        for edge in body.findall("edges/edge"):
            before = incoming.get(str(edge.get("from-layer")), [])
            if before:
                with (
                    changed(edge, "from-layer", str(before[0].get("from-layer"))),
                    changed(edge, "from-port", str(before[0].get("from-port"))),
                ):
                    yield where(by_id[str(edge.get("to-layer"))])


@last_edit
def axis_channels_last(tree: Tree) -> Iterator[Where]:
    """An axis of the channels in another layout."""
    other = {"1": "-1", "-1": "1", "2": "1", "3": "1"}
    for layer, data, name, text in attribute_texts(tree):
        if name == "axis" and text in other:
            with changed(data, name, other[text]):
                yield where(layer)


@last_edit
def list_reversed(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        parts = [part.strip() for part in text.split(",")]
        if parts != parts[::-1]:
            with changed(data, name, (", " if ", " in text else ",").join(parts[::-1])):
                yield where(layer)


@last_edit
def sections_exchanged(tree: Tree) -> Iterator[Where]:
    """`<input>` is called `<output>`, and the other way round."""
    for layer in layers(tree):
        one, other = layer.find("input"), layer.find("output")
        if one is not None and other is not None:
            one.tag, other.tag = other.tag, one.tag
            yield where(layer)
            one.tag, other.tag = other.tag, one.tag
