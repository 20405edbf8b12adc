"""More single faults to put into a valid IR: one slip of the hand each.

Unlike those of `faults`, some of them contradict nothing in some places: an attribute that no
shape depends on may well be meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from faults import (
    Fault,
    Tree,
    Where,
    changed,
    constants,
    edges,
    layers,
    outputs,
    removed,
    where,
    without,
)
from lxml import etree

SINGLE_FAULTS: dict[str, Fault] = {}


def single_fault(planted: Fault) -> Fault:
    SINGLE_FAULTS[planted.__name__.replace("_", "-")] = planted
    return planted


def members(body: Tree) -> dict[str, Tree]:
    """The layers of a body by id."""
    return {str(layer.get("id")): layer for layer in body.findall("layers/layer")}


def bodies(tree: Tree) -> Iterator[Tree]:
    for group in tree.iter("edges"):
        body = group.getparent()
        assert body is not None
        yield body


def declares(port: Tree) -> tuple[object, ...]:
    return (port.get("precision"), *(dim.text for dim in port.findall("dim")))


def port_of(layer: Tree, kind: str, number: str | None) -> Tree | None:
    return next((port for port in layer.findall(f"{kind}/port") if port.get("id") == number), None)


def edges_by_target(body: Tree) -> dict[str, list[Tree]]:
    """The edges of a body, by the id of the layer that they lead to."""
    fed: dict[str, list[Tree]] = {}
    for edge in body.findall("edges/edge"):
        fed.setdefault(str(edge.get("to-layer")), []).append(edge)
    return fed


# edges


@single_fault
def swapped_inputs(tree: Tree) -> Iterator[Where]:
    """Two inputs of a layer are fed by each other's producers."""
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            if len(incoming) < 2:
                continue
            one, other = incoming[:2]
            ports = [port_of(by_id[number], "input", edge.get("to-port")) for edge in (one, other)]
            if ports[0] is None or ports[1] is None or declares(ports[0]) == declares(ports[1]):
                continue
            before = one.get("to-port"), other.get("to-port")
            one.set("to-port", str(before[1]))
            other.set("to-port", str(before[0]))
            yield where(by_id[number])
            one.set("to-port", str(before[0]))
            other.set("to-port", str(before[1]))


@single_fault
def edge_from_another_layer(tree: Tree) -> Iterator[Where]:
    """An edge comes from a layer that produces something else."""
    for body in bodies(tree):
        by_id = members(body)
        order = list(by_id)
        for edge in body.findall("edges/edge"):
            source = by_id[str(edge.get("from-layer"))]
            port = port_of(source, "output", edge.get("from-port"))
            at = order.index(str(edge.get("from-layer")))
            for number in reversed(order[max(0, at - 12) : at]):
                outs = by_id[number].findall("output/port")
                if port is not None and outs and declares(outs[0]) != declares(port):
                    with (
                        changed(edge, "from-layer", number),
                        changed(edge, "from-port", str(outs[0].get("id"))),
                    ):
                        yield where(by_id[str(edge.get("to-layer"))])
                    break


@single_fault
def edge_to_another_port(tree: Tree) -> Iterator[Where]:
    """An edge leads to an input that another edge feeds."""
    for body in bodies(tree):
        by_id = members(body)
        for edge in body.findall("edges/edge"):
            target = by_id[str(edge.get("to-layer"))]
            other = next(
                (
                    port.get("id")
                    for port in target.findall("input/port")
                    if port.get("id") != edge.get("to-port")
                ),
                None,
            )
            if other is not None:
                with changed(edge, "to-port", other):
                    yield where(target)


@single_fault
def second_edge(tree: Tree) -> Iterator[Where]:
    """A second edge, from the layer before, leads into a port that is fed already."""
    for body in bodies(tree):
        by_id = members(body)
        order = list(by_id)
        for edge in body.findall("edges/edge"):
            at = order.index(str(edge.get("from-layer")))
            outs = by_id[order[at - 1]].findall("output/port") if at else []
            if not outs:
                continue
            group = edge.getparent()
            assert group is not None
            extra = etree.Element(
                "edge", {**edge.attrib, "from-layer": order[at - 1], "from-port": outs[0].get("id")}
            )
            group.insert(group.index(edge) + 1, extra)
            yield where(by_id[str(edge.get("to-layer"))])
            group.remove(extra)


# constants


def resized(text: str) -> str | None:
    before, comma, last = text.rpartition(",")
    blank = last[: len(last) - len(last.lstrip())]
    return f"{before}{comma}{blank}{int(last) + 1}" if last.strip().isdigit() else None


@single_fault
def constant_of_another_shape(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        text = resized(str(data.get("shape")))
        if text is not None:
            with changed(data, "shape", text):
                yield where(layer)


@single_fault
def constant_of_another_type(tree: Tree) -> Iterator[Where]:
    """A type of the same width: the size still fits."""
    same = {"f32": "i32", "i64": "f64", "i32": "f32", "f16": "bf16", "u8": "i8", "i8": "u8"}
    for layer, data in constants(tree):
        other = same.get(str(data.get("element_type")))
        if other is not None:
            with changed(data, "element_type", other):
                yield where(layer)


@single_fault
def constant_of_a_wider_type(tree: Tree) -> Iterator[Where]:
    wider = {"f32": "f64", "i64": "i32", "i32": "i64", "f16": "f32", "u8": "u16", "i8": "i16"}
    for layer, data in constants(tree):
        other = wider.get(str(data.get("element_type")))
        if other is not None:
            with changed(data, "element_type", other):
                yield where(layer)


@single_fault
def constant_offset_shifted(tree: Tree) -> Iterator[Where]:
    """The constant begins in the middle of the next one."""
    for layer, data in constants(tree):
        size = int(str(data.get("size")))
        with changed(data, "offset", str(int(str(data.get("offset"))) + max(1, size // 2))):
            yield where(layer)


# inputs of the model


def parameters(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    for layer in layers(tree):
        data = layer.find("data")
        if layer.get("type") == "Parameter" and data is not None:
            yield layer, data


@single_fault
def parameter_of_another_shape(tree: Tree) -> Iterator[Where]:
    for layer, data in parameters(tree):
        text = resized(str(data.get("shape")))
        if text is not None:
            with changed(data, "shape", text):
                yield where(layer)


@single_fault
def parameter_of_another_type(tree: Tree) -> Iterator[Where]:
    for layer, data in parameters(tree):
        with changed(data, "element_type", "u16"):
            yield where(layer)


# attributes


def attribute_texts(tree: Tree) -> Iterator[tuple[Tree, Tree, str, str]]:
    for layer in layers(tree):
        data = layer.find("data")
        if data is None or layer.get("type") in ("Const", "Parameter"):
            continue
        for name, text in data.attrib.items():
            yield layer, data, str(name), str(text)


@single_fault
def flipped_boolean(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if text in ("true", "false"):
            with changed(data, name, "false" if text == "true" else "true"):
                yield where(layer)


@single_fault
def misspelt_boolean(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if text in ("true", "false"):
            with changed(data, name, "ture" if text == "true" else "flase"):
                yield where(layer)


@single_fault
def misspelt_word(tree: Tree) -> Iterator[Where]:
    """A word that is one of few lacks a letter."""
    words = {
        "mode",
        "auto_pad",
        "rounding_type",
        "auto_broadcast",
        "sort",
        "direction",
        "shape_calculation_mode",
        "nearest_mode",
        "coordinate_transformation_mode",
        "output_type",
        "index_element_type",
        "destination_type",
        "pad_mode",
    }
    for layer, data, name, text in attribute_texts(tree):
        if name in words and len(text) > 2 and layer.get("type") != "TensorIterator":
            with changed(data, name, text[:-2] + text[-1]):
                yield where(layer)


@single_fault
def another_number(tree: Tree) -> Iterator[Where]:
    """The last number of a whole-number attribute is one larger."""
    for layer, data, name, text in attribute_texts(tree):
        parts = text.split(",")
        if parts[-1].strip().lstrip("-").isdigit():
            blank = parts[-1][: len(parts[-1]) - len(parts[-1].lstrip())]
            last = f"{blank}{int(parts[-1]) + 1}"
            with changed(data, name, ",".join([*parts[:-1], last])):
                yield where(layer)


@single_fault
def missing_attribute(tree: Tree) -> Iterator[Where]:
    for data in tree.iter("data"):
        owner = data.getparent()
        assert owner is not None
        for name in list(data.attrib):
            before = dict(data.attrib)
            del data.attrib[name]
            yield where(owner)
            data.attrib.clear()
            for each, text in before.items():
                data.set(str(each), str(text))


# layers


def renamed(tree: Tree, name: str, text: Callable[[str], str]) -> Iterator[Where]:
    for layer in layers(tree):
        before = str(layer.get(name))
        with changed(layer, name, text(before)):
            yield where(layer)


@single_fault
def misspelt_type(tree: Tree) -> Iterator[Where]:
    """Two letters in the middle of the type are exchanged."""

    def spoilt(text: str) -> str:
        at = max(1, len(text) // 2)
        for i in (*range(at, len(text) - 1), *range(at)):
            if text[i].lower() != text[i + 1].lower():
                return text[:i] + text[i + 1] + text[i] + text[i + 2 :]
        return text + "x"

    yield from renamed(tree, "type", spoilt)


@single_fault
def version_before_the_operation(tree: Tree) -> Iterator[Where]:
    """An opset that does not hold the operation, or holds an earlier version."""
    for layer in layers(tree):
        if layer.get("version") not in ("opset1", None) and str(layer.get("version")).startswith(
            "opset"
        ):
            with changed(layer, "version", "opset1"):
                yield where(layer)


@single_fault
def misspelt_version(tree: Tree) -> Iterator[Where]:
    yield from renamed(tree, "version", lambda text: text.replace("opset", "opest"))


@single_fault
def missing_version(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        with without(layer, "version"):
            yield where(layer)


@single_fault
def another_id(tree: Tree) -> Iterator[Where]:
    """A layer has an id that no edge names."""
    for layer in layers(tree):
        with changed(layer, "id", "88888"):
            yield where(layer)


@single_fault
def output_port_renumbered(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        with changed(port, "id", "77"):
            yield where(layer)


@single_fault
def input_port_renumbered(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for port in layer.findall("input/port"):
            with changed(port, "id", "77"):
                yield where(layer)


@single_fault
def missing_input_port(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for port in layer.findall("input/port"):
            with removed(port):
                yield where(layer)


@single_fault
def misspelt_element(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for part in layer.findall("*"):
            if part.tag in ("data", "input", "output"):
                before = part.tag
                part.tag = before[:-2] + before[-1]
                yield where(layer)
                part.tag = before


@single_fault
def swapped_dimensions(tree: Tree) -> Iterator[Where]:
    for layer, port in outputs(tree):
        dims = port.findall("dim")
        if len(dims) > 1 and dims[-1].text != dims[-2].text:
            dims[-1].text, dims[-2].text = dims[-2].text, dims[-1].text
            yield where(layer)
            dims[-1].text, dims[-2].text = dims[-2].text, dims[-1].text


# bodies


@single_fault
def port_map_axis(tree: Tree) -> Iterator[Where]:
    for entry in tree.iter("input", "output"):
        owner = entry.getparent()
        assert owner is not None
        if owner.tag.endswith("port_map") and entry.get("axis") is not None:
            layer = owner.getparent()
            assert layer is not None
            with changed(entry, "axis", str(int(str(entry.get("axis"))) + 1)):
                yield where(layer)


@single_fault
def port_map_port(tree: Tree) -> Iterator[Where]:
    for entry in tree.iter("input", "output"):
        owner = entry.getparent()
        assert owner is not None
        if owner.tag.endswith("port_map") and (entry.get("external_port_id") or "-1") != "-1":
            layer = owner.getparent()
            assert layer is not None
            with changed(entry, "external_port_id", "55"):
                yield where(layer)


@single_fault
def port_map_layer(tree: Tree) -> Iterator[Where]:
    for entry in tree.iter("input", "output"):
        owner = entry.getparent()
        assert owner is not None
        if owner.tag.endswith("port_map") and entry.get("internal_layer_id") is not None:
            layer = owner.getparent()
            assert layer is not None
            with changed(entry, "internal_layer_id", "5555"):
                yield where(layer)


__all__ = ["SINGLE_FAULTS", "edges"]
