"""Single faults in the structure of a valid IR: layers, ports, edges and sections.

What is exchanged, doubled, lost, moved to a neighbour or spelt in another way than writers do.
Some of them contradict nothing in some places.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from itertools import pairwise

from faults import (
    Fault,
    Tree,
    Where,
    added,
    changed,
    constants,
    edges,
    layer_of,
    layers,
    removed,
    where,
    without,
)
from lxml import etree
from single_faults import attribute_texts, bodies, declares, members, parameters, port_of

STRUCTURE_FAULTS: dict[str, Fault] = {}


def structure_fault(planted: Fault) -> Fault:
    STRUCTURE_FAULTS[planted.__name__.replace("_", "-")] = planted
    return planted


@contextmanager
def spelt(element: Tree, name: str, other: str) -> Iterator[None]:
    """An attribute under another name, at its place."""
    before = dict(element.attrib)
    element.attrib.clear()
    for each, text in before.items():
        element.set(other if each == name else str(each), str(text))
    yield
    element.attrib.clear()
    for each, text in before.items():
        element.set(str(each), str(text))


def ports(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    for layer in layers(tree):
        for port in (*layer.findall("input/port"), *layer.findall("output/port")):
            yield layer, port


# ports


@structure_fault
def deleted_dimension(tree: Tree) -> Iterator[Where]:
    """A dimension of any port but the last is gone."""
    for layer, port in ports(tree):
        for dim in port.findall("dim")[:-1]:
            with removed(dim):
                yield where(layer)


@structure_fault
def inserted_dimension(tree: Tree) -> Iterator[Where]:
    """A one before the first dimension of any port."""
    for layer, port in ports(tree):
        first = port.find("dim")
        if first is not None:
            extra = etree.Element("dim")
            extra.text = "1"
            port.insert(port.index(first), extra)
            yield where(layer)
            port.remove(extra)


@structure_fault
def half_precision_of_a_port(tree: Tree) -> Iterator[Where]:
    other = {"FP32": "FP16", "FP16": "FP32", "I64": "I32", "I32": "I64", "BOOL": "U8", "I8": "U8"}
    for layer, port in ports(tree):
        text = other.get(str(port.get("precision")))
        if text is not None:
            with changed(port, "precision", text):
                yield where(layer)


@structure_fault
def precision_misspelt(tree: Tree) -> Iterator[Where]:
    """The name of the attribute `precision` lacks a letter."""
    for layer, port in ports(tree):
        if port.get("precision") is not None:
            with spelt(port, "precision", "precison"):
                yield where(layer)


@structure_fault
def port_id_one_more(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        with changed(port, "id", str(int(str(port.get("id"))) + 1)):
            yield where(layer)


@structure_fault
def exchanged_port_ids(tree: Tree) -> Iterator[Where]:
    """Two inputs of a layer have each other's ids."""
    for layer in layers(tree):
        inputs = layer.findall("input/port")
        for one, other in pairwise(inputs):
            if declares(one) != declares(other):
                ids = str(one.get("id")), str(other.get("id"))
                with changed(one, "id", ids[1]), changed(other, "id", ids[0]):
                    yield where(layer)


@structure_fault
def doubled_port(tree: Tree) -> Iterator[Where]:
    for layer, port in ports(tree):
        twin = deepcopy(port)
        group = port.getparent()
        assert group is not None
        group.insert(group.index(port) + 1, twin)
        yield where(layer)
        group.remove(twin)


@structure_fault
def missing_section(tree: Tree) -> Iterator[Where]:
    """A layer without its `<input>` or `<output>`."""
    for layer in layers(tree):
        for tag in ("input", "output"):
            section = layer.find(tag)
            if section is not None:
                with removed(section):
                    yield where(layer)


@structure_fault
def missing_data(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        data = layer.find("data")
        if data is not None and len(data.attrib) == 1:
            with removed(data):
                yield where(layer)


@structure_fault
def both_ends_of_an_edge(tree: Tree) -> Iterator[Where]:
    """An output and all the inputs that it feeds declare another size."""
    for body in bodies(tree):
        by_id = members(body)
        fed: dict[tuple[str, str], list[Tree]] = {}
        for edge in body.findall("edges/edge"):
            key = (str(edge.get("from-layer")), str(edge.get("from-port")))
            port = port_of(by_id[str(edge.get("to-layer"))], "input", edge.get("to-port"))
            if port is not None:
                fed.setdefault(key, []).append(port)
        for (number, port_id), consumers in fed.items():
            output = port_of(by_id[number], "output", port_id)
            if output is None or by_id[number].get("type") in ("Const", "Parameter"):
                continue
            dims = [port.findall("dim") for port in (output, *consumers)]
            texts = {tuple(dim.text for dim in row) for row in dims}
            if len(texts) != 1 or not dims[0] or (dims[0][-1].text or "-1").startswith("-"):
                continue
            before = str(dims[0][-1].text)
            for row in dims:
                row[-1].text = str(int(before) + 1)
            yield where(by_id[number])
            for row in dims:
                row[-1].text = before


# edges


@structure_fault
def results_exchanged(tree: Tree) -> Iterator[Where]:
    """Two Results are fed by each other's producers."""
    for body in bodies(tree):
        by_id = members(body)
        into = [
            e
            for e in body.findall("edges/edge")
            if by_id[str(e.get("to-layer"))].get("type") == "Result"
        ]
        for one, other in pairwise(into):
            targets = str(one.get("to-layer")), str(other.get("to-layer"))
            first, second = (by_id[number].find("input/port") for number in targets)
            assert first is not None
            assert second is not None
            if declares(first) != declares(second) and first.get("id") == second.get("id"):
                with changed(one, "to-layer", targets[1]), changed(other, "to-layer", targets[0]):
                    yield where(by_id[targets[0]])


@structure_fault
def reversed_edge(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        ends = {name: str(text) for name, text in edge.attrib.items()}
        with ExitStack() as stack:
            for name, other in (
                ("from-layer", "to-layer"),
                ("to-layer", "from-layer"),
                ("from-port", "to-port"),
                ("to-port", "from-port"),
            ):
                stack.enter_context(changed(edge, name, ends[other]))
            yield where(layer_of(body, ends["to-layer"]))


@structure_fault
def exchanged_edge_ports(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        ends = str(edge.get("from-port")), str(edge.get("to-port"))
        if ends[0] != ends[1]:
            with changed(edge, "from-port", ends[1]), changed(edge, "to-port", ends[0]):
                yield where(layer_of(body, edge.get("to-layer")))


@structure_fault
def edge_to_the_next_layer(tree: Tree) -> Iterator[Where]:
    for body in bodies(tree):
        by_id = members(body)
        following = dict(pairwise(by_id))
        for edge in body.findall("edges/edge"):
            after = following.get(str(edge.get("to-layer")))
            if after is not None:
                owner = by_id[str(edge.get("to-layer"))]
                with changed(edge, "to-layer", after):
                    yield where(owner)


@structure_fault
def edge_to_the_next_port(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        owner = layer_of(body, edge.get("to-layer"))
        with changed(edge, "to-port", str(int(str(edge.get("to-port"))) + 1)):
            yield where(owner)


@structure_fault
def edge_attribute_misspelt(tree: Tree) -> Iterator[Where]:
    for body, edge in edges(tree):
        for name in ("from-layer", "to-port"):
            with spelt(edge, name, name[:-1]):
                yield where(layer_of(body, edge.get("to-layer")))


# layers


@structure_fault
def doubled_layer(tree: Tree) -> Iterator[Where]:
    """A layer stands in the file twice."""
    for group in tree.iter("layers"):
        for layer in group.findall("layer"):
            twin = deepcopy(layer)
            group.insert(group.index(layer) + 1, twin)
            yield where(layer)
            group.remove(twin)


@structure_fault
def doubled_layer_with_a_new_id(tree: Tree) -> Iterator[Where]:
    """A copy of a layer under another id, which no edge names."""
    for group in tree.iter("layers"):
        for layer in group.findall("layer"):
            if layer.get("type") in ("Const", "Parameter") or layer.find("input") is None:
                continue
            twin = deepcopy(layer)
            twin.set("id", "77777")
            with added(group, twin):
                yield where(twin)


@structure_fault
def missing_result(tree: Tree) -> Iterator[Where]:
    """A Result is gone; the edge into it is left."""
    for body in bodies(tree):
        by_id = members(body)
        for edge in body.findall("edges/edge"):
            layer = by_id[str(edge.get("to-layer"))]
            if layer.get("type") == "Result":
                with removed(layer):
                    yield where(by_id[str(edge.get("from-layer"))])


@structure_fault
def missing_constant(tree: Tree) -> Iterator[Where]:
    """A Const is gone; the edges from it are left."""
    for body in bodies(tree):
        by_id = members(body)
        for edge in body.findall("edges/edge"):
            layer = by_id[str(edge.get("from-layer"))]
            if layer.get("type") == "Const":
                with removed(layer):
                    yield where(by_id[str(edge.get("to-layer"))])


@structure_fault
def exchanged_ids(tree: Tree) -> Iterator[Where]:
    """Two layers one after the other have each other's ids."""
    for group in tree.iter("layers"):
        for one, other in pairwise(group.findall("layer")):
            ids = str(one.get("id")), str(other.get("id"))
            with changed(one, "id", ids[1]), changed(other, "id", ids[0]):
                yield where(one, ids[1])


@structure_fault
def exchanged_types(tree: Tree) -> Iterator[Where]:
    """Two layers of the same number of inputs have each other's types."""
    for group in tree.iter("layers"):
        last: dict[int, Tree] = {}
        for layer in group.findall("layer"):
            count = len(layer.findall("input/port"))
            other = last.get(count)
            last[count] = layer
            if count and other is not None and other.get("type") != layer.get("type"):
                types = str(other.get("type")), str(layer.get("type"))
                versions = str(other.get("version")), str(layer.get("version"))
                if versions[0] != versions[1]:
                    continue
                with changed(other, "type", types[1]), changed(layer, "type", types[0]):
                    yield where(layer)


@structure_fault
def another_type(tree: Tree) -> Iterator[Where]:
    """A layer has the type of another operation that there is."""
    other = {
        "MatMul": "Gather",
        "Convolution": "GroupConvolution",
        "GroupConvolution": "Convolution",
        "Reshape": "Transpose",
        "Transpose": "Reshape",
        "ReduceMean": "Softmax",
        "Unsqueeze": "Squeeze",
        "Squeeze": "Unsqueeze",
        "Gather": "Concat",
        "Concat": "Add",
        "MaxPool": "AvgPool",
        "Equal": "Add",
        "Convert": "Relu",
    }
    for layer in layers(tree):
        text = other.get(str(layer.get("type")))
        if text is not None:
            with changed(layer, "type", text):
                yield where(layer)


@structure_fault
def next_version(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        digits = str(layer.get("version")).removeprefix("opset")
        if digits.isdigit():
            for step in (-1, 1):
                if int(digits) + step > 0:
                    with changed(layer, "version", f"opset{int(digits) + step}"):
                        yield where(layer)


@structure_fault
def version_in_another_spelling(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        digits = str(layer.get("version")).removeprefix("opset")
        with changed(layer, "version", digits):
            yield where(layer)


@structure_fault
def doubled_name(tree: Tree) -> Iterator[Where]:
    for group in tree.iter("layers"):
        for one, other in pairwise(group.findall("layer")):
            with changed(other, "name", str(one.get("name"))):
                yield where(other)


@structure_fault
def layer_attribute_misspelt(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for name, other in (("type", "tpye"), ("version", "verison"), ("id", "di")):
            with spelt(layer, name, other):
                yield where(layer, None if name != "id" else layer.get("di"))


@structure_fault
def missing_id(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        with without(layer, "id"):
            yield Where(where(layer, "?").path, None)


# attributes


@structure_fault
def exchanged_attributes(tree: Tree) -> Iterator[Where]:
    """Two layers of an operation have each other's value of an attribute."""
    seen: dict[tuple[str, str], tuple[Tree, Tree, str]] = {}
    for layer, data, name, text in list(attribute_texts(tree)):
        key = (str(layer.get("type")), name)
        before = seen.get(key)
        seen[key] = (layer, data, text)
        if before is not None and before[2] != text:
            with changed(before[1], name, text), changed(data, name, before[2]):
                yield where(layer)


@structure_fault
def first_number(tree: Tree) -> Iterator[Where]:
    """The first number of a list is one larger, or twice as large."""
    for layer, data, name, text in attribute_texts(tree):
        parts = [part.strip() for part in text.split(",")]
        if len(parts) > 1 and parts[0].isdigit():
            comma = ", " if ", " in text else ","
            for other in dict.fromkeys((int(parts[0]) + 1, int(parts[0]) * 2)):
                if other != int(parts[0]):
                    with changed(data, name, comma.join([str(other), *parts[1:]])):
                        yield where(layer)


@structure_fault
def longer_list(tree: Tree) -> Iterator[Where]:
    """A list of numbers has one more, or one less."""
    for layer, data, name, text in attribute_texts(tree):
        parts = [part.strip() for part in text.split(",")]
        if len(parts) > 1 and all(part.lstrip("-").isdigit() for part in parts):
            comma = ", " if ", " in text else ","
            for other in (parts[:-1], [*parts, parts[-1]]):
                with changed(data, name, comma.join(other)):
                    yield where(layer)


@structure_fault
def negative_attribute(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        first = text.split(",")[0].strip()
        if first.isdigit() and int(first):
            with changed(data, name, "-" + text):
                yield where(layer)


@structure_fault
def empty_attribute(tree: Tree) -> Iterator[Where]:
    for data in tree.iter("data"):
        layer = data.getparent()
        assert layer is not None
        for name, text in list(data.attrib.items()):
            if text:
                with changed(data, str(name), ""):
                    yield where(layer)


@structure_fault
def attribute_of_another_type(tree: Tree) -> Iterator[Where]:
    """A list in brackets, a number with a point, a boolean as yes or no."""
    for layer, data, name, text in attribute_texts(tree):
        if text in ("true", "false"):
            other = "yes" if text == "true" else "no"
        elif "," in text:
            other = f"[{text}]"
        elif text.isdigit():
            other = f"{text}.5"
        else:
            continue
        with changed(data, name, other):
            yield where(layer)


# constants


def numbers(text: str | None) -> list[int]:
    return [int(part) for part in str(text).split(",") if part.strip()]


def room(tree: Tree) -> int:
    """How far the constants reach into the .bin."""
    return max(
        (int(str(d.get("offset"))) + int(str(d.get("size"))) for _, d in constants(tree)), default=0
    )


@structure_fault
def offset_shifted_a_little(tree: Tree) -> Iterator[Where]:
    end = room(tree)
    for layer, data in constants(tree):
        offset, size = int(str(data.get("offset"))), int(str(data.get("size")))
        for by in (1, 4, 64, -4):
            if 0 <= offset + by <= end - size:
                with changed(data, "offset", str(offset + by)):
                    yield where(layer)


@structure_fault
def offset_of_another_constant(tree: Tree) -> Iterator[Where]:
    for (_, before), (layer, data) in pairwise(list(constants(tree))):
        if before.get("offset") != data.get("offset"):
            with changed(data, "offset", str(before.get("offset"))):
                yield where(layer)


@structure_fault
def doubled_size(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        size = int(str(data.get("size")))
        for other in dict.fromkeys((size * 2, size + 4, size // 2)):
            if other != size and data.get("element_type") != "string":
                with changed(data, "size", str(other)):
                    yield where(layer)


@structure_fault
def transposed_constant(tree: Tree) -> Iterator[Where]:
    """The shape of a constant in another order; its port stays."""
    for layer, data in constants(tree):
        shape = numbers(data.get("shape"))
        if len(set(shape)) > 1:
            with changed(data, "shape", ", ".join(map(str, reversed(shape)))):
                if shape[::-1] != shape:
                    yield where(layer)


@structure_fault
def transposed_constant_and_port(tree: Tree) -> Iterator[Where]:
    """The shape of a constant in another order, and that of its port."""
    for layer, data in constants(tree):
        shape = numbers(data.get("shape"))
        dims = layer.findall("output/port/dim")
        if shape[::-1] == shape or len(dims) != len(shape):
            continue
        for dim, size in zip(dims, reversed(shape), strict=True):
            dim.text = str(size)
        with changed(data, "shape", ", ".join(map(str, reversed(shape)))):
            yield where(layer)
        for dim, size in zip(dims, shape, strict=True):
            dim.text = str(size)


@structure_fault
def constant_attribute_missing(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        for name in ("offset", "size", "shape", "element_type"):
            if data.get(name) is not None:
                with without(data, name):
                    yield where(layer)


# inputs of the model


@structure_fault
def parameter_shape_of_another_rank(tree: Tree) -> Iterator[Where]:
    for layer, data in parameters(tree):
        parts = [part.strip() for part in str(data.get("shape")).split(",") if part.strip()]
        for other in (parts[1:], [*parts, "1"], parts[::-1]):
            if other != parts and (other or len(parts) > 1):
                with changed(data, "shape", ",".join(other)):
                    yield where(layer)


@structure_fault
def parameter_and_port(tree: Tree) -> Iterator[Where]:
    """The shape of a Parameter of a body and of its port, while the rest stays as it was."""
    for layer, data in parameters(tree):
        parts = [part.strip() for part in str(data.get("shape")).split(",") if part.strip()]
        dims = layer.findall("output/port/dim")
        if len(parts) < 2 or len(parts) != len(dims) or not parts[-1].isdigit():
            continue
        if not where(layer).path:
            continue  # the inputs of the net are what its author says
        before = dims[-1].text
        dims[-1].text = other = str(int(parts[-1]) + 1)
        with changed(data, "shape", ",".join([*parts[:-1], other])):
            yield where(layer)
        dims[-1].text = before


# bodies


def entries(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    for entry in tree.iter("input", "output"):
        owner = entry.getparent()
        assert owner is not None
        if owner.tag.endswith("port_map"):
            layer = owner.getparent()
            assert layer is not None
            yield layer, entry


@structure_fault
def port_map_entry_missing(tree: Tree) -> Iterator[Where]:
    for layer, entry in list(entries(tree)):
        with removed(entry):
            yield where(layer)


@structure_fault
def port_map_entries_exchanged(tree: Tree) -> Iterator[Where]:
    """Two entries have each other's layer of the body."""
    for (layer, one), (owner, other) in pairwise(list(entries(tree))):
        if layer is owner and one.tag == other.tag:
            ids = str(one.get("internal_layer_id")), str(other.get("internal_layer_id"))
            if ids[0] != ids[1]:
                with (
                    changed(one, "internal_layer_id", ids[1]),
                    changed(other, "internal_layer_id", ids[0]),
                ):
                    yield where(layer)


@structure_fault
def port_map_number(tree: Tree) -> Iterator[Where]:
    """Another start, end, stride or part_size of a sliced input or output."""
    for layer, entry in list(entries(tree)):
        for name in ("start", "end", "stride", "part_size"):
            text = entry.get(name)
            if text is not None:
                with changed(entry, name, str(int(text) + 1)):
                    yield where(layer)


@structure_fault
def back_edge(tree: Tree) -> Iterator[Where]:
    """A back edge from or to a layer that is not there."""
    for group in tree.iter("back_edges"):
        layer = group.getparent()
        assert layer is not None
        for edge in group:
            for name in ("from-layer", "to-layer"):
                with changed(edge, name, "4444"):
                    yield where(layer)


@structure_fault
def missing_back_edge(tree: Tree) -> Iterator[Where]:
    for group in tree.iter("back_edges"):
        layer = group.getparent()
        assert layer is not None
        for edge in list(group):
            with removed(edge):
                yield where(layer)
