"""The last single faults whose other value is drawn, measured once on files of their own."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise

from drawn_faults import chance, of_attributes, of_constants, texts
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
from single_faults import attribute_texts, bodies, edges_by_target, members, parameters
from slip_faults import each_changed
from structure_faults import ports

DRAWN_LAST: dict[str, Fault] = {}


def drawn_last(planted: Fault) -> Fault:
    DRAWN_LAST[planted.__name__.replace("_", "-")] = planted
    return planted


@drawn_last
def dimensions_of_another_port(tree: Tree) -> Iterator[Where]:
    """A port has the dimensions of any other port of the file."""
    every = [port for _, port in ports(tree)]
    for layer, port in ports(tree):
        other = chance("p", layer.get("id"), port.get("id")).choice(every)
        own, sizes = ([dim.text for dim in each.findall("dim")] for each in (port, other))
        if own != sizes:
            before = list(port)
            port[:] = [deepcopy(dim) for dim in other.findall("dim")]
            yield where(layer)
            port[:] = before


@drawn_last
def dimension_appended(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        dim = deepcopy(port.find("dim"))
        if dim is not None:
            dim.text = str(chance(layer.get("id"), port.get("id")).randrange(1, 9))
            with added(port, dim):
                yield where(layer)


@drawn_last
def free_dimension_of_a_port_drawn(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        free = [dim for dim in port.findall("dim") if dim.text == "-1"]
        if free:
            drawn = chance(layer.get("id"), port.get("id"))
            with texts([(drawn.choice(free), str(drawn.randrange(1, 70)))]):
                yield where(layer)


@drawn_last
def precisions_of_all_outputs(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        outs = layer.findall("output/port")
        other = chance(layer.get("id")).choice(["FP32", "FP16", "I64", "I32", "BOOL"])
        if any(port.get("precision") != other for port in outs):
            with each_changed([(port, "precision", other) for port in outs]):
                yield where(layer)


@drawn_last
def port_id_of_another_port(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        own = layer.findall("*/port")
        if len(own) > 1:
            one, other = chance(layer.get("id")).sample(own, 2)
            with changed(one, "id", str(other.get("id"))):
                yield where(layer)


@drawn_last
def target_of_any_edge_drawn(tree: Tree) -> Iterator[Where]:
    """An edge leads to any input of the body."""
    for body in bodies(tree):
        by_id = members(body)
        every = [
            (number, str(port.get("id")))
            for number, layer in by_id.items()
            for port in layer.findall("input/port")
        ]
        for edge in body.findall("edges/edge"):
            number, port = chance(sorted(edge.attrib.items())).choice(every)
            if (edge.get("to-layer"), edge.get("to-port")) != (number, port):
                owner = by_id[str(edge.get("to-layer"))]
                with each_changed([(edge, "to-layer", number), (edge, "to-port", port)]):
                    yield where(owner)


@drawn_last
def edge_number_one_more(tree: Tree) -> Iterator[Where]:
    """One of the four numbers of an edge is one more."""
    for body, edge in edges(tree):
        owner = members(body)[str(edge.get("to-layer"))]
        name = chance(sorted(edge.attrib.items())).choice(sorted(map(str, edge.attrib)))
        with changed(edge, name, str(int(str(edge.get(name))) + 1)):
            yield where(owner)


@drawn_last
def two_edges_removed(tree: Tree) -> Iterator[Where]:
    """The edges into the first two inputs of a layer are gone."""
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            if len(incoming) > 1:
                with removed(incoming[0]), removed(incoming[1]):
                    yield where(by_id[number])


@drawn_last
def source_of_a_layers_edges(tree: Tree) -> Iterator[Where]:
    """All edges from a layer come from the next layer of the file with as many outputs."""
    for body in bodies(tree):
        by_id = members(body)
        for (number, layer), (other, following) in pairwise(by_id.items()):
            own = [e for e in body.findall("edges/edge") if e.get("from-layer") == number]
            counts = [len(each.findall("output/port")) for each in (layer, following)]
            if own and counts[0] == counts[1] == 1:
                port = following.find("output/port")
                assert port is not None
                changes = [(edge, "from-layer", other) for edge in own]
                changes += [(edge, "from-port", str(port.get("id"))) for edge in own]
                if all(edge.get("to-layer") != other for edge in own):
                    with each_changed(changes):
                        yield where(layer)


@drawn_last
def number_negated_or_zero(tree: Tree) -> Iterator[Where]:
    yield from of_attributes(
        tree, r"[1-9]\d*(, ?-?\d+)*", lambda text, drawn: drawn.choice(["0", "-1"]) + text[1:]
    )


@drawn_last
def digit_of_an_attribute_drawn(tree: Tree) -> Iterator[Where]:
    def change(text: str, drawn: random.Random) -> str:
        at = drawn.choice([i for i, letter in enumerate(text) if letter.isdigit()])
        return text[:at] + str(drawn.randrange(10)) + text[at + 1 :]

    yield from of_attributes(tree, r"-?\d+(, ?-?\d+)*", change)


@drawn_last
def letter_of_a_word_drawn(tree: Tree) -> Iterator[Where]:
    def change(text: str, drawn: random.Random) -> str:
        at = drawn.randrange(len(text))
        return text[:at] + drawn.choice("abcdefgh") + text[at + 1 :]

    yield from of_attributes(tree, r"[a-z_]+", change)


@drawn_last
def two_letters_of_a_name_exchanged(tree: Tree) -> Iterator[Where]:
    for layer, data, name, _ in attribute_texts(tree):
        at = chance(layer.get("id"), name).randrange(max(1, len(name) - 1))
        other = name[:at] + name[at + 1 : at + 2] + name[at : at + 1] + name[at + 2 :]
        if other != name and other not in data.attrib:
            before = dict(data.attrib)
            data.attrib.clear()
            for each, text in before.items():
                data.set(other if each == name else str(each), str(text))
            yield where(layer)
            data.attrib.clear()
            for each, text in before.items():
                data.set(str(each), str(text))


@drawn_last
def half_of_the_attributes_missing(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        data = layer.find("data")
        if data is None or len(data.attrib) < 2 or layer.get("type") == "Const":
            continue
        names = sorted(map(str, data.attrib))
        gone = chance(layer.get("id")).sample(names, len(names) // 2)
        before = dict(data.attrib)
        for name in gone:
            del data.attrib[name]
        yield where(layer)
        data.attrib.clear()
        for name, text in before.items():
            data.set(str(name), str(text))


@drawn_last
def type_in_words(tree: Tree) -> Iterator[Where]:
    """`MatMul` as `mat_mul` or `Mat Mul`."""
    for layer in layers(tree):
        parts = re.findall("[A-Z]+[a-z0-9]*", str(layer.get("type")))
        if len(parts) > 1:
            mark = chance(layer.get("id")).choice(["_", " ", "-"])
            with changed(layer, "type", mark.join(parts)):
                yield where(layer)


@drawn_last
def type_and_version_of_any_layer(tree: Tree) -> Iterator[Where]:
    every = list(layers(tree))
    for layer in every:
        other = chance("tv", layer.get("id")).choice(every)
        if other.get("type") != layer.get("type"):
            names = ("type", "version")
            with each_changed([(layer, name, str(other.get(name))) for name in names]):
                yield where(layer)


@drawn_last
def version_without_its_number(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        if str(layer.get("version")).startswith("opset"):
            with changed(layer, "version", "opset"):
                yield where(layer)


@drawn_last
def digit_of_an_offset_drawn(tree: Tree) -> Iterator[Where]:
    def change(old: int, drawn: random.Random) -> str:
        text = str(old)
        at = drawn.randrange(len(text))
        return text[:at] + str(drawn.randrange(10)) + text[at + 1 :]

    yield from of_constants(tree, "offset", change)


@drawn_last
def digit_of_a_size_drawn(tree: Tree) -> Iterator[Where]:
    def change(old: int, drawn: random.Random) -> str:
        text = str(old)
        at = drawn.randrange(len(text))
        return text[:at] + str(drawn.randrange(10)) + text[at + 1 :]

    yield from of_constants(tree, "size", change)


@drawn_last
def offset_missing(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        with without(data, "offset"):
            yield where(layer)


@drawn_last
def shape_missing(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        with without(data, "shape"):
            yield where(layer)


@drawn_last
def shape_and_offset_of_any_constant(tree: Tree) -> Iterator[Where]:
    every = list(constants(tree))
    for layer, data in every:
        other = chance("so", layer.get("id")).choice(every)[1]
        if data.get("shape") != other.get("shape"):
            names = ("shape", "offset")
            with each_changed([(data, name, str(other.get(name))) for name in names]):
                yield where(layer)


@drawn_last
def constant_of_another_type_with_its_port(tree: Tree) -> Iterator[Where]:
    """i64 as i32 or f32 as f16, attribute and port alike; the size stays."""
    names = {"i64": ("i32", "I32"), "f32": ("f16", "FP16"), "f16": ("bf16", "BF16")}
    for layer, data in constants(tree):
        narrow, port = names.get(str(data.get("element_type"))), layer.find("output/port")
        if narrow is not None and port is not None:
            with each_changed([(data, "element_type", narrow[0]), (port, "precision", narrow[1])]):
                yield where(layer)


@drawn_last
def id_one_more(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        for number, layer in members(body).items():
            other = str(int(number) + 1)
            owner = where(layer)
            with changed(layer, "id", other):
                yield Where(owner.path, other)


@drawn_last
def digit_of_an_id_drawn(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        for number, layer in members(body).items():
            drawn = chance("id", number)
            at = drawn.randrange(len(number))
            other = number[:at] + str(drawn.randrange(10)) + number[at + 1 :]
            if other != number and (other == "0" or not other.startswith("0")):
                owner = where(layer)
                with changed(layer, "id", other):
                    yield Where(owner.path, other)


@drawn_last
def parameter_without_an_attribute(tree: Tree) -> Iterator[Where]:
    for layer, data in parameters(tree):
        for name in ("shape", "element_type"):
            with without(data, name):
                yield where(layer)


@drawn_last
def parameter_of_another_rank(tree: Tree) -> Iterator[Where]:
    for layer, data in parameters(tree):
        text = str(data.get("shape"))
        if text:
            with changed(data, "shape", f"{text},{chance(layer.get('id')).randrange(1, 9)}"):
                yield where(layer)


@drawn_last
def layers_exchanged_in_all_but_ids(tree: Tree) -> Iterator[Where]:
    """Two neighbouring layers with as many ports have each other's contents."""
    for body in bodies(tree):
        for one, other in pairwise(members(body).values()):
            counts = [
                [len(e.findall(f"{d}/port")) for d in ("input", "output")] for e in (one, other)
            ]
            kinds = [(e.get("type"), e.get("version")) for e in (one, other)]
            if counts[0] != counts[1] or kinds[0] == kinds[1]:
                continue
            names = ("name", "type", "version")
            swap = [(one, name, str(other.get(name))) for name in names]
            swap += [(other, name, str(one.get(name))) for name in names]
            content = list(one), list(other)
            with each_changed(swap):
                one[:], other[:] = content[1], content[0]
                yield where(one)
                one[:], other[:] = content[0], content[1]
