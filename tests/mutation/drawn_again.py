"""More single faults whose other value is drawn, written after those of `drawn_faults`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from itertools import pairwise

from drawn_faults import chance, of_attributes, of_shapes, renamed_in_place, reordered, texts
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
from single_faults import attribute_texts, bodies, declares, edges_by_target, members, parameters
from slip_faults import each_changed
from structure_faults import ports

DRAWN_AGAIN: dict[str, Fault] = {}
NARROW = {"i64": ("i32", 2), "f32": ("f16", 2), "f64": ("f32", 2), "i32": ("i16", 2)}
PORTS = {"i32": "I32", "f16": "FP16", "f32": "FP32", "i16": "I16"}


def drawn_again(planted: Fault) -> Fault:
    DRAWN_AGAIN[planted.__name__.replace("_", "-")] = planted
    return planted


@drawn_again
def dimension_made_free(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        dims = [dim for dim in port.findall("dim") if dim.text != "-1"]
        if dims:
            with texts([(chance(layer.get("id"), port.get("id")).choice(dims), "-1")]):
                yield where(layer)


@drawn_again
def every_dimension_doubled(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        dims = [dim for dim in port.findall("dim") if dim.text != "-1"]
        if dims:
            with texts([(dim, str(2 * int(str(dim.text)))) for dim in dims]):
                yield where(layer)


@drawn_again
def inputs_of_any_layer(tree: Tree) -> Iterator[Where]:
    """The first input port declares what that of a layer of the same type does."""
    by_type: dict[str | None, list[Tree]] = {}
    for layer in layers(tree):
        by_type.setdefault(layer.get("type"), []).append(layer)
    for layer in layers(tree):
        other = chance("in", layer.get("id")).choice(by_type[layer.get("type")])
        one, two = layer.find("input/port"), other.find("input/port")
        if one is not None and two is not None and declares(one) != declares(two):
            with (
                changed(one, "precision", str(two.get("precision"))),
                reordered(one, [deepcopy(child) for child in two]),
            ):
                yield where(layer)


@drawn_again
def attributes_of_any_layer(tree: Tree) -> Iterator[Where]:
    by_type: dict[str | None, list[Tree]] = {}
    for layer in layers(tree):
        if layer.find("data") is not None and layer.get("type") != "Const":
            by_type.setdefault(layer.get("type"), []).append(layer)
    for layer in layers(tree):
        data, group = layer.find("data"), by_type.get(layer.get("type"))
        if data is None or not group:
            continue
        other = chance("data", layer.get("id")).choice(group).find("data")
        assert other is not None
        same = [name for name in data.attrib if other.get(name) is not None]
        if any(data.get(name) != other.get(name) for name in same):
            with each_changed([(data, str(name), str(other.get(name))) for name in same]):
                yield where(layer)


@drawn_again
def port_without_id(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        with without(port, "id"):
            yield where(layer)


@drawn_again
def edge_attribute_missing(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        owner = members(body)[str(edge.get("to-layer"))]
        name = chance(sorted(edge.attrib.items())).choice(sorted(map(str, edge.attrib)))
        with without(edge, name):
            yield where(owner)


@drawn_again
def layer_removed_but_not_its_edges(tree: Tree) -> Iterator[Where]:
    for layer in list(layers(tree)):
        at = where(layer)
        with removed(layer):
            yield at


def of_edges_of_layers(tree: Tree, end: str) -> Iterator[Where]:
    """All edges from a layer, or to it, name an id that no layer has."""
    for body in bodies(tree):
        for number, layer in members(body).items():
            own = [
                edge for edge in body.findall("edges/edge") if edge.get(f"{end}-layer") == number
            ]
            if own:
                other = str(chance(number).randrange(10**4, 10**5))
                with each_changed([(edge, f"{end}-layer", other) for edge in own]):
                    yield where(layer)


@drawn_again
def outgoing_edges_of_another_id(tree: Tree) -> Iterator[Where]:
    yield from of_edges_of_layers(tree, "from")


@drawn_again
def incoming_edges_of_another_id(tree: Tree) -> Iterator[Where]:
    yield from of_edges_of_layers(tree, "to")


@drawn_again
def result_from_any_output(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        by_id = members(body)
        outs = [
            (number, str(port.get("id")))
            for number, layer in by_id.items()
            for port in layer.findall("output/port")
        ]
        for edge in body.findall("edges/edge"):
            layer = by_id[str(edge.get("to-layer"))]
            number, port = chance(sorted(edge.attrib.items())).choice(outs)
            if layer.get("type") == "Result" and number != edge.get("from-layer"):
                with each_changed([(edge, "from-layer", number), (edge, "from-port", port)]):
                    yield where(layer)


@drawn_again
def one_edge_too_many(tree: Tree) -> Iterator[Where]:
    """An edge to an input port that the layer does not have."""
    for body in bodies(tree):
        by_id = members(body)
        for edge in list(body.findall("edges/edge")):
            layer = by_id[str(edge.get("to-layer"))]
            group = edge.getparent()
            assert group is not None
            copy = deepcopy(edge)
            copy.set("to-port", str(7 + len(layer.findall("*/port"))))
            with added(group, copy):
                yield where(layer)


@drawn_again
def edges_of_an_input_and_the_next_layer(tree: Tree) -> Iterator[Where]:
    """Two edges, one after the other in the file, have each other's target port."""
    for body in bodies(tree):
        by_id = members(body)
        every = body.findall("edges/edge")
        for one, other in pairwise(every):
            if one.get("to-port") != other.get("to-port"):
                swap = [
                    (one, "to-port", str(other.get("to-port"))),
                    (other, "to-port", str(one.get("to-port"))),
                ]
                with each_changed(swap):
                    yield where(by_id[str(one.get("to-layer"))])


# attributes


@drawn_again
def value_in_capitals(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(tree, "[a-z_]+", lambda text, drawn: text.upper())


@drawn_again
def number_as_a_word(tree: Tree) -> Iterator[Where]:
    words = ("zero", "one", "two", "three", "four", "five")
    yield from of_attributes(tree, "[0-5]", lambda text, drawn: words[int(text)])


@drawn_again
def list_with_semicolons(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(tree, r"-?\d+(, ?-?\d+)+", lambda text, drawn: text.replace(",", ";"))


@drawn_again
def list_one_longer(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(
        tree, r"-?\d+(, ?-?\d+)+", lambda text, drawn: f"{text}, {drawn.randrange(4)}"
    )


@drawn_again
def number_plus_any(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(
        tree, r"-?\d+", lambda text, drawn: str(int(text) + drawn.choice((-2, -1, 1, 2, 3)))
    )


@drawn_again
def attribute_of_any_layer_added(tree: Tree) -> Iterator[Where]:
    every = [(data, name, text) for _, data, name, text in attribute_texts(tree)]
    for layer, data, _, _ in attribute_texts(tree):
        _, name, text = chance(layer.get("id")).choice(every)
        if name not in data.attrib:
            data.set(name, text)
            yield where(layer)
            del data.attrib[name]


@drawn_again
def two_attributes_of_a_layer_exchanged(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        data = layer.find("data")
        if data is None or layer.get("type") == "Const" or len(data.attrib) < 2:
            continue
        one, other = chance(layer.get("id")).sample(sorted(map(str, data.attrib)), 2)
        if data.get(one) != data.get(other):
            with each_changed(
                [(data, one, str(data.get(other))), (data, other, str(data.get(one)))]
            ):
                yield where(layer)


@drawn_again
def attribute_name_with_a_letter_more(tree: Tree) -> Iterator[Where]:
    for layer, data, name, _ in attribute_texts(tree):
        drawn = chance(layer.get("id"), name)
        at = drawn.randrange(len(name) + 1)
        with renamed_in_place(data, name, name[:at] + drawn.choice("abcexyz") + name[at:]):
            yield where(layer)


# constants


@drawn_again
def constant_narrowed(tree: Tree) -> Iterator[Where]:
    """Type and size of a constant are those of a narrower type; its port is not."""
    for layer, data in constants(tree):
        narrow = NARROW.get(str(data.get("element_type")))
        if narrow is not None:
            size = str(int(str(data.get("size"))) // narrow[1])
            with each_changed([(data, "element_type", narrow[0]), (data, "size", size)]):
                yield where(layer)


@drawn_again
def constant_and_port_narrowed(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        narrow, port = NARROW.get(str(data.get("element_type"))), layer.find("output/port")
        if narrow is not None and port is not None:
            size = str(int(str(data.get("size"))) // narrow[1])
            changes = [(data, "element_type", narrow[0]), (data, "size", size)]
            with each_changed([*changes, (port, "precision", PORTS[narrow[0]])]):
                yield where(layer)


@drawn_again
def constant_transposed_everywhere(tree: Tree) -> Iterator[Where]:
    """A constant, its port and what it feeds declare the last two dimensions exchanged."""
    for body in bodies(tree):
        by_id = members(body)
        for layer in by_id.values():
            data, port = layer.find("data"), layer.find("output/port")
            if layer.get("type") != "Const" or data is None or port is None:
                continue
            sizes = [str(dim.text) for dim in port.findall("dim")]
            if len(sizes) < 2 or sizes[-1] == sizes[-2]:
                continue
            swapped = [*sizes[:-2], sizes[-1], sizes[-2]]
            fed = [
                each
                for edge in body.findall("edges/edge")
                if edge.get("from-layer") == layer.get("id")
                for each in by_id[str(edge.get("to-layer"))].findall("input/port")
                if each.get("id") == edge.get("to-port")
            ]
            with ExitStack() as stack:
                stack.enter_context(changed(data, "shape", ", ".join(swapped)))
                for each in (port, *fed):
                    pairs = zip(each.findall("dim"), swapped, strict=False)
                    stack.enter_context(texts(list(pairs)))
                yield where(layer)


@drawn_again
def shape_of_a_shared_constant_and_port(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        by_id = members(body)
        every = [edge.get("from-layer") for edge in body.findall("edges/edge")]
        for number, layer in by_id.items():
            data, port = layer.find("data"), layer.find("output/port")
            if layer.get("type") == "Const" and every.count(number) > 1 and data is not None:
                dims = [] if port is None else port.findall("dim")
                if dims:
                    sizes = [str(int(str(dims[0].text)) + 1), *(str(dim.text) for dim in dims[1:])]
                    with (
                        changed(data, "shape", ", ".join(sizes)),
                        texts([(dims[0], sizes[0])]),
                    ):
                        yield where(layer)


@drawn_again
def zero_in_a_constants_shape(tree: Tree) -> Iterator[Where]:
    def change(parts: list[str], drawn: random.Random) -> None:
        parts[drawn.randrange(len(parts))] = "0"

    yield from of_shapes(tree, change)


@drawn_again
def negative_size_in_a_constants_shape(tree: Tree) -> Iterator[Where]:
    def change(parts: list[str], drawn: random.Random) -> None:
        at = drawn.randrange(len(parts))
        parts[at] = f"-{parts[at]}"

    yield from of_shapes(tree, change)


def of_data(tree: Tree, name: str, change: Callable[[int], int]) -> Iterator[Where]:
    for layer, data in constants(tree):
        other = str(change(int(str(data.get(name)))))
        if other != data.get(name):
            with changed(data, name, other):
                yield where(layer)


@drawn_again
def size_in_bits(tree: Tree) -> Iterator[Where]:
    yield from of_data(tree, "size", lambda size: size * 8)


@drawn_again
def offset_and_size_exchanged(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        texts_of = str(data.get("offset")), str(data.get("size"))
        if texts_of[0] != texts_of[1]:
            with each_changed([(data, "offset", texts_of[1]), (data, "size", texts_of[0])]):
                yield where(layer)


@drawn_again
def offset_behind_the_last_constant(tree: Tree) -> Iterator[Where]:
    end = max(
        (int(str(d.get("offset"))) + int(str(d.get("size"))) for _, d in constants(tree)), default=0
    )
    yield from of_data(tree, "offset", lambda offset: end)


# Parameters and variables


@drawn_again
def shapes_of_two_parameters_exchanged(tree: Tree) -> Iterator[Where]:
    every = list(parameters(tree))
    for layer, data in every:
        other = chance(layer.get("id")).choice(every)[1]
        if data.get("shape") != other.get("shape"):
            with each_changed(
                [(data, "shape", str(other.get("shape"))), (other, "shape", str(data.get("shape")))]
            ):
                yield where(layer)


@drawn_again
def parameter_made_static(tree: Tree) -> Iterator[Where]:
    for layer, data in parameters(tree):
        text = str(data.get("shape"))
        if "?" in text:
            with changed(
                data, "shape", text.replace("?", str(chance(layer.get("id")).randrange(2, 9)))
            ):
                yield where(layer)


@drawn_again
def variable_renamed(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if name == "variable_id":
            with changed(data, name, f"{text}_{chance(layer.get('id')).randrange(9)}"):
                yield where(layer)


@drawn_again
def inputs_of_a_layer_rotated(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            targets = [str(edge.get("to-port")) for edge in incoming]
            if len(incoming) > 2:
                rotated = [*targets[1:], targets[0]]
                with each_changed(
                    [(edge, "to-port", text) for edge, text in zip(incoming, rotated, strict=True)]
                ):
                    yield where(by_id[number])
