"""Single faults of hands and tools that were thought of once the search was written.

Search and replace in one layer, typing errors anywhere in the text, lines lost or doubled in a
merge, and values in the spelling of another tool. They tell how faults fare that nobody expected.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from itertools import pairwise

from faults import Fault, Tree, Where, changed, constants, layers, removed, where, without
from lxml import etree
from single_faults import attribute_texts, bodies, edges_by_target, members
from structure_faults import entries, numbers, ports
from text_faults import (
    Patch,
    Slip,
    TextFault,
    ValueFault,
    constants_of_indices,
    matches,
    values_of,
)

TREE_SLIPS: dict[str, Fault] = {}
CHARACTER_SLIPS: dict[str, TextFault] = {}
NUMBER_SLIPS: dict[str, ValueFault] = {}


def tree_slip(planted: Fault) -> Fault:
    TREE_SLIPS[planted.__name__.replace("_", "-")] = planted
    return planted


def character_slip(planted: TextFault) -> TextFault:
    CHARACTER_SLIPS[planted.__name__.replace("_", "-")] = planted
    return planted


def number_slip(planted: ValueFault) -> ValueFault:
    NUMBER_SLIPS[planted.__name__.replace("_", "-")] = planted
    return planted


@contextmanager
def texts(elements: list[Tree], text: str) -> Iterator[None]:
    """Elements with another text."""
    before = [element.text for element in elements]
    for element in elements:
        element.text = text
    yield
    for element, each in zip(elements, before, strict=True):
        element.text = each


@contextmanager
def each_changed(changes: list[tuple[Tree, str, str]]) -> Iterator[None]:
    with ExitStack() as stack:
        for change in changes:
            stack.enter_context(changed(*change))
        yield


# search and replace in one layer


@tree_slip
def batch_of_one_layer(tree: Tree) -> Iterator[Where]:
    """The first dimension of all ports of a layer is another."""
    for layer in layers(tree):
        firsts = [port.find("dim") for port in layer.findall("*/port")]
        dims = [dim for dim in firsts if dim is not None]
        if layer.get("type") in ("Const", "Parameter") or len({dim.text for dim in dims}) != 1:
            continue
        if len(dims) > 1:
            with texts(dims, "8"):
                yield where(layer)


@tree_slip
def size_of_one_layer(tree: Tree) -> Iterator[Where]:
    """A size is replaced by another wherever the ports of a layer have it."""
    for layer in layers(tree):
        dims = layer.findall("*/port/dim")
        if layer.get("type") in ("Const", "Parameter"):
            continue
        for size in dict.fromkeys(dim.text for dim in dims):
            same = [dim for dim in dims if dim.text == size]
            if len(same) > 1 and size is not None and size not in ("1", "-1"):
                with texts(same, str(int(size) * 2)):
                    yield where(layer)


@tree_slip
def precision_of_one_layer(tree: Tree) -> Iterator[Where]:
    """All ports of a layer with FP32 get FP16, or the other way round."""
    other = {"FP32": "FP16", "FP16": "FP32", "I64": "I32", "I32": "I64"}
    for layer in layers(tree):
        if layer.get("type") in ("Const", "Parameter"):
            continue
        for name, text in other.items():
            same = [p for p in layer.findall("*/port") if p.get("precision") == name]
            if len(same) > 1:
                with each_changed([(port, "precision", text) for port in same]):
                    yield where(layer)


@tree_slip
def input_ports_from_one(tree: Tree) -> Iterator[Where]:
    """The input ports of a layer are numbered from one on; edges stay."""
    for layer in layers(tree):
        inputs = layer.findall("input/port")
        if inputs:
            with each_changed([(p, "id", str(int(str(p.get("id"))) + 1)) for p in inputs]):
                yield where(layer)


@tree_slip
def output_ports_from_zero(tree: Tree) -> Iterator[Where]:
    """The output ports of a layer are numbered from zero on; edges stay."""
    for layer in layers(tree):
        outputs = layer.findall("output/port")
        if outputs and outputs[0].get("id") != "0":
            with each_changed([(p, "id", str(index)) for index, p in enumerate(outputs)]):
                yield where(layer)


@tree_slip
def edges_into_one_layer_shifted(tree: Tree) -> Iterator[Where]:
    """All edges into a layer lead one port further."""
    for body in bodies(tree):
        by_id = members(body)
        for number, incoming in edges_by_target(body).items():
            if len(incoming) > 1:
                changes = [
                    (edge, "to-port", str(int(str(edge.get("to-port"))) + 1)) for edge in incoming
                ]
                with each_changed(changes):
                    yield where(by_id[number])


# structure


@tree_slip
def bypassed_layer(tree: Tree) -> Iterator[Where]:
    """A layer with one input is removed; what it fed is fed by its producer."""
    for body in list(bodies(tree)):
        by_id = members(body)
        every = body.findall("edges/edge")
        for number, layer in by_id.items():
            into = [edge for edge in every if edge.get("to-layer") == number]
            out = [edge for edge in every if edge.get("from-layer") == number]
            if len(into) != 1 or not out or len(layer.findall("output/port")) != 1:
                continue
            source = into[0].get("from-layer"), into[0].get("from-port")
            owner = where(by_id[str(out[0].get("to-layer"))])
            with ExitStack() as stack:
                for edge in out:
                    stack.enter_context(changed(edge, "from-layer", str(source[0])))
                    stack.enter_context(changed(edge, "from-port", str(source[1])))
                stack.enter_context(removed(into[0]))
                stack.enter_context(removed(layer))
                yield owner


@tree_slip
def port_in_the_other_section(tree: Tree) -> Iterator[Where]:
    """The last input port stands among the outputs."""
    for layer in layers(tree):
        inputs, outputs = layer.findall("input/port"), layer.find("output")
        if len(inputs) > 1 and outputs is not None:
            port = inputs[-1]
            with removed(port):
                outputs.insert(0, port)
                yield where(layer)
                outputs.remove(port)


@tree_slip
def empty_section(tree: Tree) -> Iterator[Where]:
    """`<input>` or `<output>` without its ports."""
    for layer in layers(tree):
        for tag in ("input", "output"):
            section = layer.find(tag)
            if section is not None:
                with ExitStack() as stack:
                    for port in list(section)[::-1]:
                        stack.enter_context(removed(port))
                    yield where(layer)


@tree_slip
def attribute_on_the_layer(tree: Tree) -> Iterator[Where]:
    """An attribute stands in `<layer>`, not in `<data>`."""
    for layer in layers(tree):
        data = layer.find("data")
        if data is None:
            continue
        for name, text in list(data.attrib.items()):
            if layer.get(str(name)) is not None:
                continue
            before = dict(data.attrib)
            del data.attrib[name]
            layer.set(str(name), str(text))
            yield where(layer)
            del layer.attrib[name]
            data.attrib.clear()
            for each, value in before.items():
                data.set(str(each), str(value))


@tree_slip
def dimension_lost_at_both_ends(tree: Tree) -> Iterator[Where]:
    """An output and the one input that it feeds lack the same dimension."""
    for body in bodies(tree):
        by_id = members(body)
        every = body.findall("edges/edge")
        for edge in every:
            ends = str(edge.get("from-layer")), str(edge.get("to-layer"))
            source = by_id[ends[0]].find(f"output/port[@id='{edge.get('from-port')}']")
            target = by_id[ends[1]].find(f"input/port[@id='{edge.get('to-port')}']")
            fan = sum(other.get("from-layer") == ends[0] for other in every)
            if source is None or target is None or fan > 1:
                continue
            if by_id[ends[0]].get("type") in ("Const", "Parameter"):
                continue
            dims = source.findall("dim"), target.findall("dim")
            if len(dims[0]) == len(dims[1]) > 1:
                with removed(dims[0][0]), removed(dims[1][0]):
                    yield where(by_id[ends[0]])


@tree_slip
def port_map_ids_rotated(tree: Tree) -> Iterator[Where]:
    """Each entry of a port map names the layer of the next."""
    groups: dict[tuple[Tree, str], list[Tree]] = {}
    for layer, entry in entries(tree):
        groups.setdefault((layer, str(entry.tag)), []).append(entry)
    for (layer, _), rows in groups.items():
        ids = [str(row.get("internal_layer_id")) for row in rows]
        rotated = [*ids[1:], ids[0]]
        if len(rows) > 1 and rotated != ids:
            with each_changed(
                [(r, "internal_layer_id", i) for r, i in zip(rows, rotated, strict=True)]
            ):
                yield where(layer)


@tree_slip
def edge_from_a_sibling(tree: Tree) -> Iterator[Where]:
    """The edge into an input comes from the other output of the same form that is nearest."""
    for body in bodies(tree):
        by_id = members(body)
        order = list(by_id)
        forms: dict[tuple[object, ...], list[tuple[str, str]]] = {}
        for number, layer in by_id.items():
            for port in layer.findall("output/port"):
                form = (port.get("precision"), *(dim.text for dim in port.findall("dim")))
                forms.setdefault(form, []).append((number, str(port.get("id"))))
        alike = {place: group for group in forms.values() for place in group}
        for edge in body.findall("edges/edge"):
            own = str(edge.get("from-layer")), str(edge.get("from-port"))
            target = str(edge.get("to-layer"))
            at = order.index(target)
            others = [p for p in alike.get(own, ()) if p != own and order.index(p[0]) < at]
            if others:
                number, port_id = others[-1]
                with changed(edge, "from-layer", number), changed(edge, "from-port", port_id):
                    yield where(by_id[target])


# spelling


def respelt(tree: Tree, rows: Iterator[tuple[Tree, Tree, str, str]]) -> Iterator[Where]:
    for layer, element, name, text in rows:
        if element.get(name) != text:
            with changed(element, name, text):
                yield where(layer)


@tree_slip
def precision_as_element_type(tree: Tree) -> Iterator[Where]:
    names = {"FP32": "f32", "FP16": "f16", "I64": "int64", "I32": "int32", "BOOL": "bool"}
    names |= {"U8": "uint8", "I8": "int8"}
    for layer, port in ports(tree):
        text = names.get(str(port.get("precision")))
        if text is not None:
            with changed(port, "precision", text):
                yield where(layer)


@tree_slip
def element_type_as_precision(tree: Tree) -> Iterator[Where]:
    names = {"f32": "FP32", "f16": "half", "i64": "int64", "i32": "INT32", "u8": "uint8"}
    for layer in layers(tree):
        data = layer.find("data")
        for name in ("element_type", "destination_type", "output_type"):
            text = names.get(str(data.get(name))) if data is not None else None
            if text is not None and data is not None:
                with changed(data, name, text):
                    yield where(layer)


@tree_slip
def shape_in_another_spelling(tree: Tree) -> Iterator[Where]:
    """A shape in brackets, or with blanks or an x between the sizes."""
    for layer in layers(tree):
        data = layer.find("data")
        shape = "" if data is None else str(data.get("shape") or "")
        if data is not None and "," in shape:
            sizes = [part.strip() for part in shape.split(",")]
            for text in (f"[{shape}]", " ".join(sizes), "x".join(sizes), ";".join(sizes)):
                with changed(data, "shape", text):
                    yield where(layer)


@tree_slip
def type_in_another_spelling(tree: Tree) -> Iterator[Where]:
    """`Mat_Mul`, `MatMul_1` or `ov::MatMul` for `MatMul`."""
    for layer in layers(tree):
        name = str(layer.get("type"))
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
        for text in dict.fromkeys((words, f"{name}_1", f"ov::{name}")):
            if text != name:
                with changed(layer, "type", text):
                    yield where(layer)


@tree_slip
def version_in_words(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        digits = str(layer.get("version")).removeprefix("opset")
        if digits.isdigit():
            for text in (f"Opset{digits}", f"opset-{digits}", f"v{digits}", f"opset{digits}.0"):
                with changed(layer, "version", text):
                    yield where(layer)


@tree_slip
def decimal_comma(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if re.fullmatch(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text) and ("." in text or "e" in text):
            other = text.replace(".", ",") if "." in text else f"{float(text):f}".replace(".", ",")
            with changed(data, name, other):
                yield where(layer)


@tree_slip
def thousands_separator(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        for name in ("offset", "size"):
            text = str(data.get(name))
            if text.isdigit() and len(text) > 3:
                with changed(data, name, f"{int(text):,}"):
                    yield where(layer)


@tree_slip
def id_with_a_letter(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        text = f"{layer.get('id')}a"
        with changed(layer, "id", text):
            yield where(layer)


# attributes


@tree_slip
def every_number_of_a_list(tree: Tree) -> Iterator[Where]:
    """Strides, dilations, pads or a kernel: 1, 1 becomes 2, 2, and so on."""
    for layer, data, name, text in attribute_texts(tree):
        parts = [part.strip() for part in text.split(",")]
        if len(parts) > 1 and all(part.isdigit() for part in parts):
            comma = ", " if ", " in text else ","
            with changed(data, name, comma.join(str(int(part) + 1) for part in parts)):
                yield where(layer)


@tree_slip
def other_word(tree: Tree) -> Iterator[Where]:
    """Another word that the attribute may be: a way of padding, of rounding, of broadcasting."""
    words = {
        "auto_pad": ("explicit", "same_upper", "valid"),
        "rounding_type": ("floor", "ceil"),
        "auto_broadcast": ("numpy", "none"),
        "mode": ("numpy", "bidirectional", "constant", "reflect"),
        "direction": ("forward", "reverse", "bidirectional"),
        "shape_calculation_mode": ("sizes", "scales"),
    }
    for layer, data, name, text in attribute_texts(tree):
        for other in words.get(name, ()):
            if text in words[name] and other != text:
                with changed(data, name, other):
                    yield where(layer)


@tree_slip
def mask_bit(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if name.endswith("_mask"):
            parts = [part.strip() for part in text.split(",")]
            for at, part in enumerate(parts):
                if part in ("0", "1"):
                    row = [*parts[:at], "1" if part == "0" else "0", *parts[at + 1 :]]
                    with changed(data, name, (", " if ", " in text else ",").join(row)):
                        yield where(layer)


@tree_slip
def negative_axis(tree: Tree) -> Iterator[Where]:
    """An axis counted from the wrong end."""
    for layer, data, name, text in attribute_texts(tree):
        if name.startswith("ax") and re.fullmatch(r"-?\d+", text):
            number = int(text)
            with changed(data, name, str(-number - 1 if number >= 0 else -number)):
                yield where(layer)


# constants


@tree_slip
def narrower_constant(tree: Tree) -> Iterator[Where]:
    """The type of a Const and of its port; its size and what takes it stay."""
    narrower = {"i64": ("i32", "I32"), "f32": ("f16", "FP16"), "f16": ("f32", "FP32")}
    for layer, data in constants(tree):
        port = layer.find("output/port")
        names = narrower.get(str(data.get("element_type")))
        if names is not None and port is not None and port.get("precision"):
            with changed(data, "element_type", names[0]), changed(port, "precision", names[1]):
                yield where(layer)


@tree_slip
def merged_axes_of_a_constant(tree: Tree) -> Iterator[Where]:
    """The first two axes of a Const are one, in its port, too."""
    for layer, data in constants(tree):
        shape = numbers(data.get("shape"))
        dims = layer.findall("output/port/dim")
        if len(shape) < 2 or len(dims) != len(shape):
            continue
        text = ", ".join(map(str, (shape[0] * shape[1], *shape[2:])))
        with (
            changed(data, "shape", text),
            texts([dims[1]], str(shape[0] * shape[1])),
            removed(dims[0]),
        ):
            yield where(layer)


@tree_slip
def constant_of_the_layer_before(tree: Tree) -> Iterator[Where]:
    """Offset, size, shape and type of a Const are those of the one before; its port stays."""
    for (_, before), (layer, data) in pairwise(list(constants(tree))):
        names = [name for name in ("offset", "size", "shape", "element_type") if data.get(name)]
        changes = [(data, name, str(before.get(name) or "")) for name in names]
        if any(data.get(name) != text for _, name, text in changes if name != "offset"):
            with each_changed(changes):
                yield where(layer)


# characters and lines


def inside(data: bytes) -> tuple[int, int]:
    """From the first layer to the end of the edges."""
    return data.find(b"<layer "), data.rfind(b"</edges>")


def lines(data: bytes) -> Iterator[tuple[int, int]]:
    start, stop = inside(data)
    at = data.find(b"\n", start) + 1
    while 0 < at < stop:
        end = data.find(b"\n", at) + 1
        if end <= 0:
            return
        yield at, end
        at = end


@character_slip
def line_lost(data: bytes) -> Iterator[Slip]:
    for at, end in lines(data):
        yield at, end, b""


@character_slip
def line_doubled(data: bytes) -> Iterator[Slip]:
    for at, end in lines(data):
        yield end, end, data[at:end]


@character_slip
def lines_exchanged(data: bytes) -> Iterator[Slip]:
    for (at, middle), (_, end) in pairwise(lines(data)):
        if data[at:middle].strip() != data[middle:end].strip():
            yield at, end, data[middle:end] + data[at:middle]


@character_slip
def conflict_marker(data: bytes) -> Iterator[Slip]:
    """One of the lines that a merge leaves."""
    for index, (at, _) in enumerate(lines(data)):
        if index % 5 == 0:
            marker = (b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> export\n")[index // 5 % 3]
            yield at, at, marker


@character_slip
def digit_changed(data: bytes) -> Iterator[Slip]:
    start, stop = inside(data)
    for match in re.compile(rb"\d+").finditer(data, start, stop):
        at = match.start() + (match.end() - match.start()) // 2
        yield at, at + 1, b"%d" % ((int(data[at : at + 1]) + 3) % 10)


@character_slip
def digit_doubled(data: bytes) -> Iterator[Slip]:
    start, stop = inside(data)
    for match in re.compile(rb'(?<=[">])\d+(?=["<])').finditer(data, start, stop):
        yield match.end(), match.end(), data[match.end() - 1 : match.end()]


@character_slip
def letter_lost(data: bytes) -> Iterator[Slip]:
    """A letter of an element or attribute name, or of a word that is a value."""
    start, stop = inside(data)
    for match in re.compile(rb'(?<=[</ "])[A-Za-z_]{3,}(?=[=" >/])').finditer(data, start, stop):
        at = match.start() + (match.end() - match.start()) // 2
        yield at, at + 1, b""


@character_slip
def blank_lost(data: bytes) -> Iterator[Slip]:
    start, stop = inside(data)
    for match in re.compile(rb'" (?=[a-z_-]+=")').finditer(data, start, stop):
        yield match.end() - 1, match.end(), b""


@character_slip
def half_a_tag(data: bytes) -> Iterator[Slip]:
    start, stop = inside(data)
    for match in re.compile(rb"<(port|edge|data|layer) [^<>]*>").finditer(data, start, stop):
        middle = (match.start() + match.end()) // 2
        yield middle, match.end(), b""


@character_slip
def nul_byte(data: bytes) -> Iterator[Slip]:
    start, stop = inside(data)
    for index, match in enumerate(re.compile(rb'="').finditer(data, start, stop)):
        if index % 7 == 0:
            yield match.end(), match.end(), b"\0"


@character_slip
def letter_of_another_encoding(data: bytes) -> Iterator[Slip]:
    for match in matches(r'<layer [^<>]*? name="', data):
        yield match.end(), match.end(), b"\xe9"


@character_slip
def tag_twice(data: bytes) -> Iterator[Slip]:
    """An opening or closing tag stands there twice."""
    start, stop = inside(data)
    for match in re.compile(rb"</?(input|output|layer|port)>").finditer(data, start, stop):
        yield match.end(), match.end(), match[0]


# values


@number_slip
def first_length(tree: Tree, weights: bytes) -> Iterator[Patch]:
    """The first number that a Reshape, Broadcast, Slice or the like takes is twice as large."""
    for source, _, offset, (size, width) in constants_of_indices(tree):
        form, values = values_of(weights, offset, size, width)
        if 1 < len(values) <= 8:
            values[0] = values[0] * 2 or 2
            yield where(source), offset, struct.pack(form, *values)


@number_slip
def free_length_fixed(tree: Tree, weights: bytes) -> Iterator[Patch]:
    """The -1 of a Reshape is a 1, or there is a second one."""
    for source, target, offset, (size, width) in constants_of_indices(tree):
        form, values = values_of(weights, offset, size, width)
        if target.get("type") != "Reshape" or not 1 < len(values) <= 8:
            continue
        other = [1 if value == -1 else value for value in values]
        if -1 not in values:
            other[-1] = -1
            other[0] = -1
        yield where(source), offset, struct.pack(form, *other)


@tree_slip
def layer_moved_into_a_body(tree: Tree) -> Iterator[Where]:
    """A layer stands in the body of the next loop; its edges stay where they were."""
    for body in list(bodies(tree)):
        inner = [layer for layer in members(body).values() if layer.find("body/layers") is not None]
        for holder in inner:
            group = holder.find("body/layers")
            for layer in list(members(body).values())[:6]:
                if layer is holder or group is None:
                    continue
                owner = where(layer)
                with removed(layer):
                    group.append(layer)
                    yield owner
                    group.remove(layer)


# kinds on which nothing was tried before they were measured


@tree_slip
def exchanged_values(tree: Tree) -> Iterator[Where]:
    """Two attributes of a layer have each other's value."""
    for layer in layers(tree):
        data = layer.find("data")
        if data is None:
            continue
        for (one, text), (other, value) in pairwise(list(data.attrib.items())):
            if text != value:
                with changed(data, str(one), str(value)), changed(data, str(other), str(text)):
                    yield where(layer)


@tree_slip
def output_without_precision(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for port in layer.findall("output/port"):
            if port.get("precision") is not None:
                with without(port, "precision"):
                    yield where(layer)


@tree_slip
def constant_without_sizes(tree: Tree) -> Iterator[Where]:
    """The shape of a Const is empty."""
    for layer, data in constants(tree):
        if data.get("shape"):
            with changed(data, "shape", ""):
                yield where(layer)


@tree_slip
def half_a_constant(tree: Tree) -> Iterator[Where]:
    """Size and first dimension of a Const are half of what they were; its port stays."""
    for layer, data in constants(tree):
        shape, size = numbers(data.get("shape")), int(str(data.get("size")))
        if shape and shape[0] % 2 == 0 and shape[0] and size % 2 == 0:
            text = ", ".join(map(str, (shape[0] // 2, *shape[1:])))
            with changed(data, "shape", text), changed(data, "size", str(size // 2)):
                yield where(layer)


@tree_slip
def edge_from_the_next_layer(tree: Tree) -> Iterator[Where]:
    """The number after `from-layer` is one more."""
    for body in bodies(tree):
        by_id = members(body)
        for edge in body.findall("edges/edge"):
            with changed(edge, "from-layer", str(int(str(edge.get("from-layer"))) + 1)):
                yield where(by_id[str(edge.get("to-layer"))])


@tree_slip
def dimension_in_the_next_port(tree: Tree) -> Iterator[Where]:
    """The last dimension of a port stands in the next one."""
    for layer in layers(tree):
        for one, other in pairwise(layer.findall("*/port")):
            dims = one.findall("dim")
            if dims and len(other):
                with removed(dims[-1]):
                    other.insert(0, dims[-1])
                    yield where(layer)
                    other.remove(dims[-1])


@tree_slip
def unit_behind_a_number(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if re.fullmatch(r"-?\d+(\.\d+)?", text):
            with changed(data, name, f"{text}px"):
                yield where(layer)


@tree_slip
def output_of_the_next_layer(tree: Tree) -> Iterator[Where]:
    """The output ports of a layer are a copy of those of the next one."""
    for group in tree.iter("layers"):
        for layer, other in pairwise(group.findall("layer")):
            one, copy = layer.find("output"), other.find("output")
            if one is not None and copy is not None:
                twin = deepcopy(copy)
                same = etree.tostring(one, method="c14n") == etree.tostring(copy, method="c14n")
                if not same:
                    at = layer.index(one)
                    with removed(one):
                        layer.insert(at, twin)
                        yield where(layer)
                        layer.remove(twin)


BLIND = (
    *("exchanged-values", "output-without-precision", "constant-without-sizes"),
    *("half-a-constant", "edge-from-the-next-layer", "dimension-in-the-next-port"),
    *("unit-behind-a-number", "output-of-the-next-layer"),
)
"""The last kinds above."""
