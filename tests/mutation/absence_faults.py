"""Single faults after which several elements of an IR lack the same thing, or stand elsewhere.

A layer is gone and its edges are left, or all its edges are; two layers have one id; parts of a
port map, of bodies or of a layer have each other's place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from copy import deepcopy
from itertools import pairwise

from faults import Fault, Tree, Where, changed, layer_of, layers, removed, where
from single_faults import bodies, edges_by_target, members
from structure_faults import entries

ABSENCES: dict[str, Fault] = {}
_WITHOUT = ("Const", "Parameter", "Result")


def absence(planted: Fault) -> Fault:
    ABSENCES[planted.__name__.replace("_", "-")] = planted
    return planted


def inner_bodies(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Each body, with the layer that has it."""
    for body in list(bodies(tree)):
        holder = body.getparent()
        if holder is not None and holder.tag == "layer":
            yield body, holder


@absence
def exchanged_sections(tree: Tree) -> Iterator[Where]:
    """`<input>` and `<output>` of a layer have each other's name."""
    for layer in layers(tree):
        one, other = layer.find("input"), layer.find("output")
        if one is not None and other is not None:
            one.tag, other.tag = "output", "input"
            yield where(layer)
            one.tag, other.tag = "input", "output"


@absence
def layer_gone_from_its_edges(tree: Tree) -> Iterator[Where]:
    """A layer is gone; the edges to it and from it are left."""
    for layer in list(layers(tree)):
        group = layer.getparent()
        body = None if group is None else group.getparent()
        if body is None or layer.get("type") in _WITHOUT:
            continue
        edges = body.findall("edges/edge")
        fed = [edge.get("to-layer") for edge in edges if edge.get("from-layer") == layer.get("id")]
        if fed:
            owner = where(layer_of(body, fed[0]))
            with removed(layer):
                yield owner


@absence
def every_edge_into_a_layer(tree: Tree) -> Iterator[Where]:
    """No edge leads to a layer of several inputs any more."""
    for body in list(bodies(tree)):
        for number, edges in edges_by_target(body).items():
            if len(edges) > 1:
                with ExitStack() as stack:
                    for edge in edges:
                        stack.enter_context(removed(edge))
                    yield where(layer_of(body, number))


@absence
def layer_pasted_over_the_next(tree: Tree) -> Iterator[Where]:
    for group in list(tree.iter("layers")):
        for layer, other in pairwise(list(group)):
            copy, owner = deepcopy(layer), where(layer)
            group.replace(other, copy)
            yield owner
            group.replace(copy, other)


@absence
def layer_with_the_id_of_another(tree: Tree) -> Iterator[Where]:
    """A layer and all its edges have the id of the layer before."""
    for body in list(bodies(tree)):
        for layer, other in pairwise(list(members(body).values())):
            number, own = str(layer.get("id")), other.get("id")
            with ExitStack() as stack:
                stack.enter_context(changed(other, "id", number))
                for edge in body.findall("edges/edge"):
                    for name in ("from-layer", "to-layer"):
                        if edge.get(name) == own:
                            stack.enter_context(changed(edge, name, number))
                yield where(layer)


@absence
def precision_on_the_layer(tree: Tree) -> Iterator[Where]:
    """The precision of the first output port stands in `<layer>`."""
    for layer in list(layers(tree)):
        port = layer.find("output/port")
        if port is not None and port.get("precision"):
            before, own = dict(port.attrib), dict(layer.attrib)
            layer.set("precision", str(port.attrib.pop("precision")))
            yield where(layer)
            for element, attributes in ((port, before), (layer, own)):
                element.attrib.clear()
                element.attrib.update(attributes)


@absence
def port_map_numbers_exchanged(tree: Tree) -> Iterator[Where]:
    """external_port_id and internal_layer_id have each other's value."""
    names = ("external_port_id", "internal_layer_id")
    for layer, entry in list(entries(tree)):
        one, other = (str(entry.get(name)) for name in names)
        if one != other:
            with changed(entry, names[0], other), changed(entry, names[1], one):
                yield where(layer)


@absence
def port_map_direction(tree: Tree) -> Iterator[Where]:
    """An input of a port map is written as an output, or the other way round."""
    for layer, entry in list(entries(tree)):
        tag = entry.tag
        entry.tag = "output" if tag == "input" else "input"
        yield where(layer)
        entry.tag = tag


@absence
def layer_moved_out_of_a_body(tree: Tree) -> Iterator[Where]:
    for body, holder in inner_bodies(tree):
        group = holder.getparent()
        assert group is not None
        for layer in list(members(body).values()):
            with removed(layer):
                group.append(layer)
                yield where(holder)
                group.remove(layer)


@absence
def reversed_back_edge(tree: Tree) -> Iterator[Where]:
    for group in tree.iter("back_edges"):
        layer = group.getparent()
        assert layer is not None
        for edge in group:
            one, other = str(edge.get("from-layer")), str(edge.get("to-layer"))
            with changed(edge, "from-layer", other), changed(edge, "to-layer", one):
                yield where(layer)


@absence
def exchanged_bodies(tree: Tree) -> Iterator[Where]:
    """The two bodies of an If have each other's name, or their port maps do."""
    for layer in list(layers(tree)):
        for names in (("then_body", "else_body"), ("then_port_map", "else_port_map")):
            one, other = (layer.find(name) for name in names)
            if one is not None and other is not None:
                one.tag, other.tag = names[::-1]
                yield where(layer)
                one.tag, other.tag = names


@absence
def parameter_gone_from_a_body(tree: Tree) -> Iterator[Where]:
    """A Parameter or a Result of a body is gone; port map and edges are left."""
    for body, holder in inner_bodies(tree):
        for layer in list(members(body).values()):
            if layer.get("type") in ("Parameter", "Result"):
                with removed(layer):
                    yield where(holder)


@absence
def body_without_edges(tree: Tree) -> Iterator[Where]:
    for body, holder in inner_bodies(tree):
        edges = body.find("edges")
        if edges is not None:
            with removed(edges):
                yield where(holder)
