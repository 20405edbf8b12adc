"""Single faults that leave several places of a layer, or of what it feeds, in contradiction.

Each row says what is done to one layer; what is drawn is drawn from the whole file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import pairwise
from random import Random

from drawn_faults import chance
from faults import Fault, Tree, Where, where
from single_faults import bodies, members

TYPES = {"f32": "FP32", "f16": "FP16", "i64": "I64", "i32": "I32", "u8": "U8"}
Change = Callable[["Place"], bool]
"""Changes a layer, or tells that it has nothing to change."""


class Place:
    """A layer with what is around it."""

    def __init__(self, body: Tree, layer: Tree, before: Tree | None, drawn: Random) -> None:
        self.body = body
        self.layer = layer
        self.before = before
        """The layer before it in the file."""
        self.drawn = drawn
        self.into = self.edges("to-layer")
        self.out = self.edges("from-layer")
        self.inputs = layer.findall("input/port")
        self.outputs = layer.findall("output/port")

    def edges(self, end: str) -> list[Tree]:
        number = self.layer.get("id")
        return [edge for edge in self.body.findall("edges/edge") if edge.get(end) == number]

    def any_layer(self) -> Tree:
        return self.drawn.choice(list(self.body.iterfind("layers/layer")))

    def fed(self) -> list[Tree]:
        """The input ports that take what the layer gives."""
        by_id = members(self.body)
        ends = [(str(e.get("to-layer")), e.get("to-port")) for e in self.out]
        return [
            port
            for number, wanted in ends
            for port in by_id[number].findall("input/port")
            if port.get("id") == wanted
        ]


def data_of_another_operation(at: Place) -> bool:
    other, data = at.any_layer(), at.layer.find("data")
    wanted = other.find("data")
    if data is None or wanted is None or other.get("type") == at.layer.get("type"):
        return False
    at.layer.replace(data, deepcopy(wanted))
    return True


def output_port_among_the_inputs(at: Place) -> bool:
    inputs = at.layer.find("input")
    if inputs is None or not at.outputs:
        return False
    inputs.append(at.drawn.choice(at.outputs))
    return True


def contents_of_the_layer_before(at: Place) -> bool:
    """Everything but id and name is that of the layer before, of another operation."""
    if at.before is None or at.before.get("type") == at.layer.get("type"):
        return False
    for name in ("type", "version"):
        at.layer.set(name, str(at.before.get(name)))
    at.layer[:] = [deepcopy(part) for part in at.before]
    return True


def outputs_in_another_order(at: Place) -> bool:
    if len(at.outputs) < 2:
        return False
    at.layer.find("output")[:] = at.outputs[::-1]  # type: ignore[index]
    return True


def input_gone_with_its_edge(at: Place) -> bool:
    """What is behind it is numbered anew."""
    if len(at.inputs) < 2 or len(at.into) != len(at.inputs):
        return False
    edge = at.drawn.choice(at.into)
    gone = int(str(edge.get("to-port")))
    for port in (*at.inputs, *at.outputs):
        number = int(str(port.get("id")))
        if number == gone:
            _drop(port)
        elif number > gone:
            port.set("id", str(number - 1))
    for name, group in (("to-port", at.into), ("from-port", at.out)):
        for each in group:
            number = int(str(each.get(name)))
            each.set(name, str(number - (number > gone)))
    _drop(edge)
    return True


def precision_at_both_ends(at: Place) -> bool:
    if len(at.outputs) != 1 or not at.out:
        return False
    own = at.outputs[0].get("precision")
    other = at.drawn.choice([each for each in TYPES.values() if each != own])
    for port in (*at.outputs, *at.fed()):
        port.set("precision", other)
    return True


def type_and_version_of_any_layer(at: Place) -> bool:
    other = at.any_layer()
    if other.get("type") == at.layer.get("type"):
        return False
    for name in ("type", "version"):
        at.layer.set(name, str(other.get(name)))
    return True


def type_named_and_declared(at: Place) -> bool:
    data = at.layer.find("data")
    own = None if data is None else data.get("destination_type")
    if data is None or own is None:
        return False
    other = at.drawn.choice([each for each in TYPES if each != own])
    data.set("destination_type", other)
    at.outputs[0].set("precision", TYPES[other])
    return True


def id_with_its_outgoing_edges(at: Place) -> bool:
    if not at.into or not at.out:
        return False
    number = str(1000 + at.drawn.randrange(1000))
    at.layer.set("id", number)
    for edge in at.out:
        edge.set("from-layer", number)
    return True


def edges_from_its_first_input_on(at: Place) -> bool:
    """Three edges that stand behind each other are gone, the first of them into the layer."""
    edges = at.body.findall("edges/edge")
    first = edges.index(at.into[0]) if at.into else len(edges)
    if first + 3 > len(edges):
        return False
    for edge in edges[first : first + 3]:
        _drop(edge)
    return True


def _drop(element: Tree) -> None:
    parent = element.getparent()
    assert parent is not None
    parent.remove(element)


def _planted(change: Change) -> Fault:
    def fault(tree: Tree) -> Iterator[Where]:
        for body in bodies(tree):
            rows = list(members(body).values())
            for before, layer in pairwise((None, *rows)):
                assert layer is not None
                elements = [layer, *layer.iter(), *body.iterfind("edges"), *body.iter("edge")]
                elements += [port for row in rows for port in row.iter("port")]
                kept = [(each, list(each), dict(each.attrib)) for each in elements]
                drawn = chance(change.__name__, layer.get("id"))
                if change(Place(body, layer, before, drawn)):
                    yield where(layer)
                    for each, parts, attributes in kept:
                        each[:] = parts
                        each.attrib.clear()
                        each.attrib.update(attributes)

    return fault


LAYER_FAULTS: dict[str, Fault] = {
    change.__name__.replace("_", "-"): _planted(change)
    for change in (
        data_of_another_operation,
        output_port_among_the_inputs,
        contents_of_the_layer_before,
        outputs_in_another_order,
        input_gone_with_its_edge,
        precision_at_both_ends,
        type_and_version_of_any_layer,
        type_named_and_declared,
        id_with_its_outgoing_edges,
        edges_from_its_first_input_on,
    )
}
