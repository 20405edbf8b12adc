"""Single faults of scripts and tools in ports and edges, and pieces copied from another layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import pairwise

from edit_faults import fed_by
from faults import Fault, Tree, Where, added, changed, edges, layer_of, layers, removed, where
from single_faults import bodies, declares, edges_by_target, members
from slip_faults import each_changed

REWIRINGS: dict[str, Fault] = {}


def rewiring(planted: Fault) -> Fault:
    REWIRINGS[planted.__name__.replace("_", "-")] = planted
    return planted


@rewiring
def input_ports_reversed(tree: Tree) -> Iterator[Where]:
    """The input ports stand in the other order, each with its id."""
    for layer in layers(tree):
        section = layer.find("input")
        if section is None or len(section) < 2:
            continue
        before = list(section)
        if len({declares(port) for port in before}) > 1:
            section[:] = before[::-1]
            yield where(layer)
            section[:] = before


@rewiring
def port_id_one_less(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for port in layer.findall("*/port"):
            if str(port.get("id")).isdigit() and int(str(port.get("id"))):
                with changed(port, "id", str(int(str(port.get("id"))) - 1)):
                    yield where(layer)


@rewiring
def edge_from_an_input_port(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        port = layer_of(body, edge.get("from-layer")).find("input/port")
        if port is not None:
            with changed(edge, "from-port", str(port.get("id"))):
                yield where(layer_of(body, edge.get("to-layer")))


@rewiring
def edge_to_an_output_port(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        layer = layer_of(body, edge.get("to-layer"))
        port = layer.find("output/port")
        if port is not None:
            with changed(edge, "to-port", str(port.get("id"))):
                yield where(layer)


@rewiring
def edge_one_layer_back(tree: Tree) -> Iterator[Where]:
    """The number after `from-layer` or `to-layer` is one less."""
    for body, edge in edges(tree):
        layer = layer_of(body, edge.get("to-layer"))
        for name in ("from-layer", "to-layer"):
            number = int(str(edge.get(name)))
            if number:
                with changed(edge, name, str(number - 1)):
                    yield where(layer)


@rewiring
def edge_from_itself(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        layer = layer_of(body, edge.get("to-layer"))
        port = layer.find("output/port")
        if port is not None:
            with (
                changed(edge, "from-layer", str(layer.get("id"))),
                changed(edge, "from-port", str(port.get("id"))),
            ):
                yield where(layer)


@rewiring
def edge_from_the_first_input(tree: Tree) -> Iterator[Where]:
    """An edge comes from the first Parameter of the model."""
    for body in bodies(tree):
        by_id = members(body)
        first = next((x for x in by_id.values() if x.get("type") == "Parameter"), None)
        port = None if first is None else first.find("output/port")
        for edge in body.findall("edges/edge"):
            if first is None or port is None or edge.get("from-layer") == first.get("id"):
                continue
            with (
                changed(edge, "from-layer", str(first.get("id"))),
                changed(edge, "from-port", str(port.get("id"))),
            ):
                yield where(by_id[str(edge.get("to-layer"))])


@rewiring
def both_inputs_from_one(tree: Tree) -> Iterator[Where]:
    """The second input of a layer is fed by what feeds the first."""
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            for one, other in pairwise(incoming):
                names = ("from-layer", "from-port")
                if any(one.get(name) != other.get(name) for name in names):
                    with each_changed([(other, name, str(one.get(name))) for name in names]):
                        yield where(by_id[number])


@rewiring
def edges_crossed(tree: Tree) -> Iterator[Where]:
    """Two edges, one after the other in the file, have each other's source."""
    for body in bodies(tree):
        by_id = members(body)
        for one, other in pairwise(body.findall("edges/edge")):
            names = ("from-layer", "from-port")
            if one.get("to-layer") == other.get("to-layer"):
                continue
            if any(one.get(name) != other.get(name) for name in names):
                new = [(one, name, str(other.get(name))) for name in names]
                new += [(other, name, str(one.get(name))) for name in names]
                with each_changed(new):
                    yield where(by_id[str(one.get("to-layer"))])


@rewiring
def outgoing_ports_exchanged(tree: Tree) -> Iterator[Where]:
    """Two edges from outputs of one layer have each other's `from-port`."""
    for body in bodies(tree):
        by_id = members(body)
        for number in by_id:
            for one, other in pairwise(fed_by(body, number)):
                ports = str(other.get("from-port")), str(one.get("from-port"))
                if ports[0] != ports[1]:
                    with changed(one, "from-port", ports[0]), changed(other, "from-port", ports[1]):
                        yield where(by_id[str(one.get("to-layer"))])


@rewiring
def edge_values_rotated(tree: Tree) -> Iterator[Where]:
    """The four numbers of an edge stand one place further."""
    names = ("from-layer", "from-port", "to-layer", "to-port")
    for body, edge in edges(tree):
        texts = [str(edge.get(name)) for name in names]
        rows = zip(names, [texts[-1], *texts[:-1]], strict=True)
        owner = where(layer_of(body, edge.get("to-layer")))
        with each_changed([(edge, name, text) for name, text in rows]):
            yield owner


def copied(port: Tree) -> Tree:
    twin = deepcopy(port)
    twin.set("id", str(int(str(port.get("id"))) + 1))
    if "names" in twin.attrib:
        del twin.attrib["names"]
    return twin


@rewiring
def extra_output_port(tree: Tree) -> Iterator[Where]:
    """An output port is there twice, the second time under the next id."""
    for layer in layers(tree):
        section = layer.find("output")
        if section is not None and len(section):
            with added(section, copied(section[-1])):
                yield where(layer)


@rewiring
def extra_input_port(tree: Tree) -> Iterator[Where]:
    """A layer has one more input, which nothing feeds; the ids of its outputs follow."""
    for layer in layers(tree):
        section = layer.find("input")
        if section is not None and len(section):
            twin = copied(section[-1])
            twin.set("id", "99")
            with added(section, twin):
                yield where(layer)


@rewiring
def extra_input_with_an_edge(tree: Tree) -> Iterator[Where]:
    """The last input of a layer is there twice, with the edge into it."""
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            section = by_id[number].find("input")
            group = body.find("edges")
            if section is None or group is None or not len(section):
                continue
            edge = next((e for e in incoming if e.get("to-port") == section[-1].get("id")), None)
            if edge is None:
                continue
            port, twin = copied(section[-1]), deepcopy(edge)
            port.set("id", "99")
            twin.set("to-port", "99")
            with added(section, port), added(group, twin):
                yield where(by_id[number])


def pasted(tree: Tree, tag: str, alike: Callable[[Tree], object]) -> Iterator[Where]:
    """A part of a layer is that of the last layer that is alike."""
    last: dict[object, Tree] = {}
    for layer in layers(tree):
        part = layer.find(tag)
        if part is None or layer.get("type") in ("Const", "Parameter"):
            continue
        key = alike(layer)
        before = last.get(key)
        last[key] = part
        ports = [declares(port) for port in part]
        if before is None or ports == [declares(port) for port in before]:
            continue
        twin = deepcopy(before)
        at = layer.index(part)
        with removed(part):
            layer.insert(at, twin)
            yield where(layer)
            layer.remove(twin)


@rewiring
def inputs_of_the_last_of_its_type(tree: Tree) -> Iterator[Where]:
    """The input ports are those of the layer of its type before it."""
    yield from pasted(tree, "input", lambda layer: layer.get("type"))


@rewiring
def outputs_of_the_last_of_its_type(tree: Tree) -> Iterator[Where]:
    yield from pasted(tree, "output", lambda layer: layer.get("type"))


@rewiring
def type_of_the_next_layer(tree: Tree) -> Iterator[Where]:
    """Type and version are those of the next layer."""
    for group in tree.iter("layers"):
        for layer, other in pairwise(group.findall("layer")):
            if layer.get("type") != other.get("type"):
                names = ("type", "version")
                with each_changed([(layer, name, str(other.get(name))) for name in names]):
                    yield where(layer)


@rewiring
def contents_of_the_next_layer(tree: Tree) -> Iterator[Where]:
    """All of a layer but its id and name is that of the next one of as many ports."""
    for group in tree.iter("layers"):
        for layer, other in pairwise(group.findall("layer")):
            if layer.get("type") == other.get("type") or other.find("data") is None:
                continue
            if [len(layer.findall(f"{x}/port")) for x in ("input", "output")] != [
                len(other.findall(f"{x}/port")) for x in ("input", "output")
            ]:
                continue
            before = list(layer)
            names = ("type", "version")
            layer[:] = [deepcopy(part) for part in other]
            with each_changed([(layer, name, str(other.get(name))) for name in names]):
                yield where(layer)
            layer[:] = before
