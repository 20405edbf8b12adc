"""Single faults of scripts and tools that edit, convert or merge models, in well-formed XML.

A layout or precision that is changed in one place only, numbers that are off by one or scaled,
pieces copied from another layer, and ports or edges numbered by another rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from copy import deepcopy
from itertools import pairwise

from faults import (
    Fault,
    Tree,
    Where,
    changed,
    constants,
    layer_of,
    layers,
    outputs,
    removed,
    where,
)
from hand_faults import dims
from single_faults import attribute_texts, bodies, declares, members, parameters
from slip_faults import each_changed
from structure_faults import numbers

EDIT_FAULTS: dict[str, Fault] = {}
WIDTHS = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "i64": 8, "i32": 4, "i16": 2, "u16": 2}


def edit_fault(planted: Fault) -> Fault:
    EDIT_FAULTS[planted.__name__.replace("_", "-")] = planted
    return planted


def sizes(port: Tree) -> list[str]:
    return [str(dim.text) for dim in port.findall("dim")]


def reordered(layer: Tree, ports: list[Tree], order: list[str]) -> Iterator[Where]:
    """Ports with dimensions in another order."""
    if order != sizes(ports[0]):
        with ExitStack() as stack:
            for port in ports:
                stack.enter_context(dims(port, order))
            yield where(layer)


def channels_last(port: Tree) -> list[str] | None:
    own = sizes(port)
    return [own[0], *own[2:], own[1]] if len(own) in (4, 5) else None


def fed_by(body: Tree, number: str | None, port: str | None = None) -> list[Tree]:
    """The edges from a layer, or from one of its ports."""
    return [
        edge
        for edge in body.findall("edges/edge")
        if edge.get("from-layer") == number and port in (None, edge.get("from-port"))
    ]


def end_port(body: Tree, edge: Tree) -> Tree | None:
    """The input port that an edge leads to."""
    layer = layer_of(body, edge.get("to-layer"))
    return layer.find(f"input/port[@id='{edge.get('to-port')}']")


def swapped(data: Tree, one: str, other: str) -> list[tuple[Tree, str, str]]:
    return [(data, one, str(data.get(other))), (data, other, str(data.get(one)))]


# attributes


@edit_fault
def number_one_less(tree: Tree) -> Iterator[Where]:
    """An axis, a stride, a count or the like is one less."""
    for layer, data, name, text in attribute_texts(tree):
        if re.fullmatch(r"-?\d+", text):
            with changed(data, name, str(int(text) - 1)):
                yield where(layer)


@edit_fault
def strides_and_dilations_exchanged(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        data = layer.find("data")
        texts = () if data is None else (data.get("strides"), data.get("dilations"))
        if data is not None and all(texts) and len(set(texts)) > 1:
            with each_changed(swapped(data, "strides", "dilations")):
                yield where(layer)


@edit_fault
def pads_exchanged(tree: Tree) -> Iterator[Where]:
    """The padding at the beginning stands at the end; what is the same at both is lost there."""
    for layer in layers(tree):
        data = layer.find("data")
        if data is None or not data.get("pads_begin"):
            continue
        begin, end = str(data.get("pads_begin")), str(data.get("pads_end"))
        if begin != end:
            with each_changed(swapped(data, "pads_begin", "pads_end")):
                yield where(layer)
        elif set(begin) - set("0, "):
            with changed(data, "pads_end", re.sub(r"\d+", "0", end)):
                yield where(layer)


@edit_fault
def number_times_ten(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if re.fullmatch(r"[1-9]\d*", text):
            with changed(data, name, f"{text}0"):
                yield where(layer)


@edit_fault
def strides_reset(tree: Tree) -> Iterator[Where]:
    """Strides, dilations or pads have the value that is usual."""
    usual = {"strides": "1", "dilations": "1", "pads_begin": "0", "pads_end": "0"}
    for layer, data, name, text in attribute_texts(tree):
        if name in usual:
            other = re.sub(r"\d+", usual[name], text)
            if other != text:
                with changed(data, name, other):
                    yield where(layer)


@edit_fault
def boolean_as_number(tree: Tree) -> Iterator[Where]:
    """`True` as Python prints it; the other way round, 2."""
    for layer, data, name, text in attribute_texts(tree):
        if text in ("true", "false"):
            for other in (text.title(), "2" if text == "true" else "-1"):
                with changed(data, name, other):
                    yield where(layer)


@edit_fault
def number_as_float(tree: Tree) -> Iterator[Where]:
    for layer, data, name, text in attribute_texts(tree):
        if re.fullmatch(r"-?\d+(, ?\d+)*", text):
            with changed(data, name, re.sub(r"(\d+)", r"\1.0", text)):
                yield where(layer)


@edit_fault
def attributes_of_the_last_of_its_type(tree: Tree) -> Iterator[Where]:
    """A layer has all attributes of the one of its type before it."""
    last: dict[object, Tree] = {}
    for layer in layers(tree):
        data = layer.find("data")
        if data is None or layer.get("type") in ("Const", "Parameter"):
            continue
        key = layer.get("type"), layer.get("version")
        before = last.get(key)
        last[key] = data
        if before is not None and dict(before.attrib) != dict(data.attrib):
            twin = deepcopy(before)
            at = layer.index(data)
            with removed(data):
                layer.insert(at, twin)
                yield where(layer)
                layer.remove(twin)


@edit_fault
def type_of_another_framework(tree: Tree) -> Iterator[Where]:
    names = {
        "Convolution": ("Conv", "Conv2D"),
        "Const": ("Constant", "Initializer"),
        "Parameter": ("Input", "Placeholder"),
        "Result": ("Output",),
        "Multiply": ("Mul",),
        "Subtract": ("Sub",),
        "Divide": ("Div",),
        "Power": ("Pow",),
        "MatMul": ("Gemm", "FullyConnected"),
        "Convert": ("Cast",),
        "Clamp": ("Clip",),
        "Concat": ("Concatenate", "cat"),
        "Transpose": ("Permute",),
        "Softmax": ("SoftMax",),
        "Relu": ("ReLU",),
        "PRelu": ("PReLU", "LeakyReLU"),
        "Add": ("Eltwise", "Sum"),
        "Reshape": ("View", "Flatten"),
        "Broadcast": ("Expand",),
        "Select": ("Where",),
        "Gather": ("Embedding",),
        "ReduceMean": ("Mean",),
        "MVN": ("LayerNormalization",),
        "Sigmoid": ("Logistic",),
        "VariadicSplit": ("SplitV",),
        "SquaredDifference": ("SquareDiff",),
        "GroupConvolution": ("DepthwiseConv2d",),
        "StridedSlice": ("Strided_Slice",),
    }
    for layer in layers(tree):
        for name in names.get(str(layer.get("type")), ()):
            with changed(layer, "type", name):
                yield where(layer)


# layouts and sizes


@edit_fault
def output_in_another_layout(tree: Tree) -> Iterator[Where]:
    """An output of four dimensions is written channels last."""
    for layer, port in outputs(tree):
        order = channels_last(port)
        if order is not None and layer.get("type") not in ("Const", "Parameter"):
            yield from reordered(layer, [port], order)


@edit_fault
def edge_in_another_layout(tree: Tree) -> Iterator[Where]:
    """An output and all inputs that it feeds are written channels last."""
    for body in bodies(tree):
        for layer in members(body).values():
            for port in layer.findall("output/port"):
                order = channels_last(port)
                ends = [
                    end_port(body, edge) for edge in fed_by(body, layer.get("id"), port.get("id"))
                ]
                inputs = [end for end in ends if end is not None]
                alike = all(sizes(end) == sizes(port) for end in inputs)
                if order and alike and layer.get("type") not in ("Const", "Parameter"):
                    yield from reordered(layer, [port, *inputs], order)


@edit_fault
def parameter_in_another_layout(tree: Tree) -> Iterator[Where]:
    """A Parameter and its port are written channels last; what takes it stays."""
    for layer, data in parameters(tree):
        port = layer.find("output/port")
        order = None if port is None else channels_last(port)
        parts = str(data.get("shape")).split(",")
        if port is not None and order is not None and len(parts) == len(order):
            with changed(data, "shape", ",".join([parts[0], *parts[2:], parts[1]])):
                yield from reordered(layer, [port], order)


@edit_fault
def constant_in_another_layout(tree: Tree) -> Iterator[Where]:
    """Weights in the order of another framework, HWIO, in the port, too."""
    for layer, data in constants(tree):
        shape = numbers(data.get("shape"))
        port = layer.find("output/port")
        if port is None or len(shape) != 4 or sizes(port) != [str(size) for size in shape]:
            continue
        other = [*shape[2:], shape[1], shape[0]]
        if other != shape:
            with changed(data, "shape", ", ".join(map(str, other))):
                yield from reordered(layer, [port], [str(size) for size in other])


@edit_fault
def last_axes_of_a_constant_swapped(tree: Tree) -> Iterator[Where]:
    """The last two sizes of a Const of three or more, in the port, too."""
    for layer, data in constants(tree):
        shape = numbers(data.get("shape"))
        port = layer.find("output/port")
        if port is None or len(shape) < 3 or sizes(port) != [str(size) for size in shape]:
            continue
        other = [*shape[:-2], shape[-1], shape[-2]]
        if other != shape:
            with changed(data, "shape", ", ".join(map(str, other))):
                yield from reordered(layer, [port], [str(size) for size in other])


@edit_fault
def reversed_dimensions(tree: Tree) -> Iterator[Where]:
    """All dimensions of a port, of three or more, the other way round."""
    for layer in layers(tree):
        for port in layer.findall("*/port"):
            if len(port.findall("dim")) > 2:
                yield from reordered(layer, [port], sizes(port)[::-1])


@edit_fault
def dimension_times_ten(tree: Tree) -> Iterator[Where]:
    for layer in layers(tree):
        for port in layer.findall("*/port"):
            own = sizes(port)
            for at, size in enumerate(own):
                if size != "-1":
                    with dims(port, [*own[:at], f"{size}0", *own[at + 1 :]]):
                        yield where(layer)


@edit_fault
def digits_exchanged(tree: Tree) -> Iterator[Where]:
    """Two digits of a number in `<data>` are typed in the wrong order."""
    for layer in layers(tree):
        data = layer.find("data")
        for name, text in [] if data is None else list(data.attrib.items()):
            for match in re.finditer(r"(?<![\d.])\d{2,}(?![\d.])", str(text)):
                at = match.end() - 2
                one, other = str(text)[at], str(text)[at + 1]
                if one != other and re.fullmatch(r"[\d, -]+", str(text)):
                    with changed(data, str(name), f"{text[:at]}{other}{one}{text[at + 2 :]}"):
                        yield where(layer)


@edit_fault
def free_dimension_fixed(tree: Tree) -> Iterator[Where]:
    """A free dimension of an output is one."""
    for layer, port in outputs(tree):
        own = sizes(port)
        for at, size in enumerate(own):
            if size == "-1" and layer.get("type") != "Parameter":
                with dims(port, [*own[:at], "1", *own[at + 1 :]]):
                    yield where(layer)


@edit_fault
def outputs_exchanged(tree: Tree) -> Iterator[Where]:
    """Two outputs of a layer have each other's dimensions and precision."""
    for layer in layers(tree):
        for one, other in pairwise(layer.findall("output/port")):
            if declares(one) == declares(other) or len(one) != len(other):
                continue
            precisions = str(other.get("precision")), str(one.get("precision"))
            with (
                dims(one, sizes(other)),
                changed(one, "precision", precisions[0]),
                changed(other, "precision", precisions[1]),
            ):
                yield where(layer)


# types


@edit_fault
def precision_of_an_edge(tree: Tree) -> Iterator[Where]:
    """An output and all inputs that it feeds have another precision."""
    names = {"FP32": "FP16", "FP16": "FP32", "I64": "I32", "I32": "I64", "BOOL": "U8"}
    for body in bodies(tree):
        for layer in members(body).values():
            for port in layer.findall("output/port"):
                ends = [
                    end_port(body, edge) for edge in fed_by(body, layer.get("id"), port.get("id"))
                ]
                every = [port, *(end for end in ends if end is not None)]
                other = names.get(str(port.get("precision")))
                if other and len(every) > 1 and layer.get("type") not in ("Const", "Parameter"):
                    with each_changed([(each, "precision", other) for each in every]):
                        yield where(layer)


@edit_fault
def constant_converted_without_its_port(tree: Tree) -> Iterator[Where]:
    """Type and size of a Const are those of half the precision; its port stays."""
    narrower = {"f32": "f16", "i64": "i32"}
    for layer, data in constants(tree):
        name = narrower.get(str(data.get("element_type")))
        if name is not None:
            half = str(int(str(data.get("size"))) // 2)
            with changed(data, "element_type", name), changed(data, "size", half):
                yield where(layer)


@edit_fault
def constant_converted_with_its_port(tree: Tree) -> Iterator[Where]:
    """Type and size of a Const and its port are those of half the precision."""
    narrower = {"f32": ("f16", "FP16"), "i64": ("i32", "I32")}
    for layer, data in constants(tree):
        names = narrower.get(str(data.get("element_type")))
        port = layer.find("output/port")
        if names is not None and port is not None and port.get("precision"):
            half = str(int(str(data.get("size"))) // 2)
            with (
                changed(data, "element_type", names[0]),
                changed(data, "size", half),
                changed(port, "precision", names[1]),
            ):
                yield where(layer)


# constants


@edit_fault
def size_in_elements(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        width = WIDTHS.get(str(data.get("element_type")))
        if width:
            with changed(data, "size", str(int(str(data.get("size"))) // width)):
                yield where(layer)


@edit_fault
def offset_in_elements(tree: Tree) -> Iterator[Where]:
    for layer, data in constants(tree):
        width = WIDTHS.get(str(data.get("element_type")))
        offset = int(str(data.get("offset")))
        if width and offset:
            with changed(data, "offset", str(offset // width)):
                yield where(layer)


@edit_fault
def scalar_as_one(tree: Tree) -> Iterator[Where]:
    """The shape of a scalar is 1; that of a list of one value is empty."""
    for layer, data in constants(tree):
        if data.get("shape") in ("", "1"):
            with changed(data, "shape", "" if data.get("shape") else "1"):
                yield where(layer)


@edit_fault
def groups_halved(tree: Tree) -> Iterator[Where]:
    """Weights of a grouped convolution for half as many groups, in the port, too."""
    for layer, data in constants(tree):
        shape = numbers(data.get("shape"))
        port = layer.find("output/port")
        if port is None or len(shape) != 5 or shape[0] % 2 or len(port) != 5:
            continue
        other = [shape[0] // 2, shape[1] * 2, *shape[2:]]
        with changed(data, "shape", ", ".join(map(str, other))):
            yield from reordered(layer, [port], [str(size) for size in other])


@edit_fault
def shape_and_size_doubled(tree: Tree) -> Iterator[Where]:
    """The first size of a Const is doubled, in its port and in bytes."""
    for layer, data in constants(tree):
        shape = numbers(data.get("shape"))
        port = layer.find("output/port")
        if port is None or not shape or len(port) != len(shape):
            continue
        other = [shape[0] * 2, *shape[1:]]
        double = str(int(str(data.get("size"))) * 2)
        with changed(data, "shape", ", ".join(map(str, other))), changed(data, "size", double):
            yield from reordered(layer, [port], [str(size) for size in other])


# inputs of the model


@edit_fault
def parameter_with_a_batch(tree: Tree) -> Iterator[Where]:
    """A Parameter has one more dimension before the others, in its port, too."""
    for layer, data in parameters(tree):
        port = layer.find("output/port")
        if port is None or not len(port):
            continue
        first = deepcopy(port[0])
        first.text = "1"
        port.insert(0, first)
        with changed(data, "shape", f"1,{data.get('shape')}"):
            yield where(layer)
        port.remove(first)
