"""The form of a case: one layer under test with its inputs, a row in a table.

    from differential.cases import Case, const, data
    from rows import against_openvino

    MOVING = data("f32", "1..8,?,4", run_shape=(2, 3, 4))
    CASES = [
        Case("ReduceMean", "opset1", {}, [data("f32", "2,3,4"), const("i64", [1])]),
        Case("ReduceMean", "opset1", {}, [MOVING, const("i64", [-1])]),
    ]

    test_reduction = against_openvino(*CASES)

- `data(type, shape)` is a Parameter ("1..10,3,?", "[2,3]", "..." for a dynamic rank, "" for a
  scalar). It is fed random values in [low, high), or `values` (an array, a nested list, or a
  function of a numpy Generator). A dynamic one is fed only with `run_shape` (or `values`); without,
  the case is not run.
- `const(type, values, shape=None)` is a Const: values, or raw bytes with a shape. Elements of nf4
  are its codes 0 to 15.
- `node(type, version, attributes, inputs, outputs=1)` is a further layer that feeds the one under
  test, e.g. a ShapeOf; `(node, 1)` is its output 1. The same object given twice is one layer with
  two consumers.
- Layers with bodies: `extra_xml` is text, or a function of `Blob` that returns text, put after the
  ports; `Blob.const`, `xml_layer` and `xml_edges` help to write it (test_harness.py has a Loop).
- Names: inputs "in0", "in1", … in order of appearance; the layer under test "op"; nodes "node0", …;
  Results "result0", …; output tensors "out0", …. Ids are numbers (OpenVINO wants that): inputs and
  nodes first, then "op", then Results.
- `run=False`: shapes and types only. `run="alone"`: irshape runs, OpenVINO cannot (that is
  checked). `expected=[…]`: values from the specification, held against irshape besides OpenVINO's
  (or instead, with run="alone" or a known difference in values).
- `known`: keys of known_differences.KNOWN. `edit`: a function that changes the finished text.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal, Union
from xml.sax import saxutils

import numpy as np

from . import elements
from .elements import REAL, Array, Tensor

quoteattr = cache(saxutils.quoteattr)  # the same few texts again and again


class Source:
    """What can stand among the inputs of a layer."""


RECENT = 128
"""How many cases are kept built: one is asked about together with others, and then compared."""

Declared = Mapping[str, Sequence[tuple[str, str]]]
"""Element type and shape of a layer's outputs, by name: what `Answer.layers` is."""


@dataclass(eq=False)
class Data(Source):
    """A Parameter. Made by `data`."""

    element_type: str
    shape: str
    values: Any = None
    low: float = -2.0
    high: float = 2.0
    run_shape: tuple[int, ...] | None = None

    def array(self, rng: np.random.Generator) -> Array | None:
        """What is fed, or None where the shape is dynamic and no `run_shape` is given."""
        if callable(self.values):
            return elements.cast(self.values(rng), self.element_type)
        if self.values is not None:
            array = elements.cast(self.values, self.element_type)
            return array if self.run_shape is None else array.reshape(self.run_shape)
        shape = self.run_shape if self.run_shape is not None else static(self.shape)
        if shape is None:
            return None
        name = self.element_type
        if name == "boolean":
            return rng.integers(0, 2, shape).astype(bool)
        if name == "string":
            words = np.array(["", "a", "Straße", "two words", "ÄÖ", "0"], dtype=object)
            return elements.cast(words[rng.integers(0, len(words), shape)], name).reshape(shape)
        if name == "nf4":
            return rng.integers(0, 16, shape).astype(np.uint8)
        if name == "f8e8m0":
            return elements.cast(2.0 ** rng.integers(-3, 4, shape), name)
        if name in REAL:
            return elements.cast(rng.uniform(self.low, self.high, shape), name)
        least, most = elements.limits(name)
        low, high = max(least, int(self.low)), min(most, int(self.high))
        return elements.cast(rng.integers(low, high, shape, endpoint=True), name)


@dataclass(eq=False)
class Const(Source):
    """A Const. Made by `const`."""

    element_type: str
    values: Any
    shape: tuple[int, ...]
    bytes: bytes


@dataclass(eq=False)
class Node(Source):
    """A layer that feeds the one under test. Made by `node`."""

    type: str
    version: str
    attributes: dict[str, str]
    inputs: list[Input]
    outputs: int = 1


Input = Union[Source, tuple[Node, int]]


def data(
    element_type: str,
    shape: str,
    values: Any = None,
    low: float = -2.0,
    high: float = 2.0,
    run_shape: tuple[int, ...] | None = None,
) -> Data:
    """A Parameter. Integers are drawn from low to high inclusive, floats from [low, high)."""
    return Data(element_type, re.sub(r"\s", "", shape).strip("[]"), values, low, high, run_shape)


def const(element_type: str, values: Any, shape: tuple[int, ...] | None = None) -> Const:
    """A Const of the model: a nested list, an array, or raw bytes (with a shape)."""
    if isinstance(values, bytes):
        if shape is None:
            raise ValueError("raw bytes need a shape")
        return Const(element_type, values, shape, values)
    array = elements.cast(values, element_type)
    if shape is not None:
        array = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
    return Const(element_type, values, array.shape, elements.pack(array, element_type))


def node(
    type: str,
    version: str,
    attributes: dict[str, str] | None = None,
    inputs: Iterable[Input] = (),
    outputs: int = 1,
) -> Node:
    """A further layer of the model, to be used as an input."""
    return Node(type, version, attributes or {}, list(inputs), outputs)


@dataclass(eq=False)
class Case:
    """A layer under test. Every field but the first two has a default."""

    type: str
    version: str
    attributes: dict[str, str] = field(default_factory=dict)
    inputs: Sequence[Input] = ()
    outputs: int = 1
    run: bool | Literal["alone"] = True
    id: str = ""
    known: str | tuple[str, ...] = ()
    rtol: float | None = None
    atol: float | None = None
    note: str = ""
    extra_xml: str | Callable[[Blob], str] = ""
    expected: Sequence[Any] | None = None
    edit: Callable[[str], str] | None = None
    """A last change to the IR text, for what the form cannot say."""

    def __post_init__(self) -> None:
        self.id = re.sub(r"\s+", "", self.id or _describe(self))

    @property
    def keys(self) -> tuple[str, ...]:
        """Those of the known differences."""
        return tuple(filter(None, (self.known,) if isinstance(self.known, str) else self.known))


def case_id(case: Case) -> str:
    """For `parametrize(ids=…)`; pytest numbers the ones that repeat."""
    return case.id


def _describe(case: Case) -> str:
    parts = [case.type, case.version]
    parts += [f"{name}={value}" for name, value in case.attributes.items()]
    parts += [_describe_input(made) for made in case.inputs]
    return "-".join(parts).encode("ascii", "replace").decode()


def _describe_input(made: Input) -> str:
    if isinstance(made, tuple):
        return f"{_describe_input(made[0])}.{made[1]}"
    if isinstance(made, Node):
        return f"{made.type}({';'.join(map(_describe_input, made.inputs))})"
    if isinstance(made, Data):
        run = "" if made.run_shape is None else "@" + "x".join(map(str, made.run_shape))
        return f"{made.element_type}[{made.shape}]{run}"
    assert isinstance(made, Const), made
    size = int(np.prod(made.shape, dtype=np.int64))
    if size <= 8 and not isinstance(made.values, bytes):
        shown = str(made.values).replace(" ", "")
    else:
        shown = "x".join(map(str, made.shape)) + f"#{zlib.crc32(made.bytes):08x}"
    return f"{made.element_type}{{{shown}}}"


def static(shape: str) -> tuple[int, ...] | None:
    """The sizes that a shape text names, None where it is dynamic."""
    inner = shape.strip("[]")
    sizes = [part.strip() for part in inner.split(",")] if inner else []
    return tuple(map(int, sizes)) if all(re.fullmatch("[0-9]+", size) for size in sizes) else None


class Blob:
    """The .bin as it grows."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def add(self, data: bytes) -> tuple[int, int]:
        """Offset and size of the bytes put at the end."""
        self.bytes += b"\0" * (-len(self.bytes) % 64)
        offset = len(self.bytes)
        self.bytes += (
            data or b"\0"
        )  # OpenVINO refuses an empty file even where every Const is empty
        return offset, len(data)

    def const(
        self,
        id: int | str,
        element_type: str,
        values: Any,
        shape: tuple[int, ...] | None = None,
        name: str = "",
    ) -> str:
        """The text of a Const layer; its output port is 0."""
        return self.layer(id, const(element_type, values, shape), name)

    def layer(self, id: int | str, made: Const, name: str = "") -> str:
        offset, size = self.add(made.bytes)
        attributes = {
            "element_type": made.element_type,
            "shape": ", ".join(map(str, made.shape)),
            "offset": str(offset),
            "size": str(size),
        }
        return xml_layer(
            id, "Const", "opset1", attributes, [], [(made.element_type, _text(made.shape))], name
        )


def _text(shape: Iterable[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


PortForm = Union[str, tuple[str, Union[str, None]]]


def xml_layer(
    id: int | str,
    type: str,
    version: str,
    attributes: Mapping[str, str] | None = None,
    inputs: Sequence[PortForm] = (),
    outputs: Sequence[PortForm] = (),
    name: str = "",
    names: Sequence[str] = (),
    extra: str = "",
) -> str:
    """The text of a layer. A port is an element type ("f32"), or that and a shape text ("[2,3]").

    Ids of ports are inputs first, then outputs, counted through from 0.
    """
    lines = [
        (
            f'<layer id="{id}" name={quoteattr(name or f"{type}_{id}")} type={quoteattr(type)} '
            f"version={quoteattr(version)}>"
        )
    ]
    if attributes:
        lines.append(
            "  <data"
            + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
            + "/>"
        )
    number = 0
    for tag, ports in (("input", inputs), ("output", outputs)):
        if not ports:
            continue
        lines.append(f"  <{tag}>")
        for index, port in enumerate(ports):
            element_type, shape = (port, None) if isinstance(port, str) else port
            named = (
                f" names={quoteattr(names[index])}"
                if tag == "output" and index < len(names)
                else ""
            )
            dims = "".join(f"<dim>{size}</dim>" for size in _dims(shape))
            start = f'    <port id="{number}" precision="{elements.precision(element_type)}"{named}'
            lines.append(start + (f">{dims}</port>" if dims else "/>"))
            number += 1
        lines.append(f"  </{tag}>")
    if extra:
        lines += ["  " + line for line in extra.strip("\n").split("\n")]
    return "\n".join([*lines, "</layer>"]) if len(lines) > 1 else lines[0][:-1] + "/>"


def _dims(shape: str | None) -> list[str]:
    inner = (shape or "").strip("[]")
    if inner in ("", "..."):
        return []
    return [size.strip() if size.strip().isdigit() else "-1" for size in inner.split(",")]


def xml_edges(edges: Iterable[tuple[int, int, int, int]]) -> str:
    """Edges as (from layer, from port, to layer, to port)."""
    lines = [
        f'  <edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>'
        for a, b, c, d in edges
    ]
    return "\n".join(["<edges>", *lines, "</edges>"])


def build(case: Case, declared: Declared | None = None) -> tuple[str, bytes]:
    """The text and the .bin of a case. Outputs declare no dims, or those that `declared` names."""
    return _built(case) if declared is None else _build(case, declared)


@lru_cache(RECENT)
def _built(case: Case) -> tuple[str, bytes]:
    return _build(case, None)


def _build(case: Case, declared: Declared | None) -> tuple[str, bytes]:
    blob = Blob()
    layers: list[str] = []
    edges: list[tuple[int, int, int, int]] = []
    made: dict[
        int, tuple[int, int, list[PortForm]]
    ] = {}  # object -> layer id, its first output port, its outputs
    counts = {"in": 0, "const": 0, "node": 0}

    def name_of(kind: str) -> str:
        counts[kind] += 1
        return f"{kind}{counts[kind] - 1}"

    def outputs_of(name: str, count: int, inputs: list[PortForm]) -> list[PortForm]:
        if declared is not None and name in declared:
            return list(declared[name])
        first = inputs[0] if inputs else "f32"
        element_type = first if isinstance(first, str) else first[0]
        return [element_type] * count

    def add_consumer(
        name: str, layer: Case | Node, names: Sequence[str] = (), extra: str = ""
    ) -> tuple[int, list[PortForm]]:
        sources = [source(item) for item in layer.inputs]
        ports = [form for _, _, form in sources]
        results = outputs_of(name, layer.outputs, ports)
        number = len(layers)
        layers.append(
            xml_layer(
                number,
                layer.type,
                layer.version,
                layer.attributes,
                ports,
                results,
                name,
                names,
                extra,
            )
        )
        edges.extend((layer, port, number, index) for index, (layer, port, _) in enumerate(sources))
        return number, results

    def source(item: Input) -> tuple[int, int, PortForm]:
        made_item, index = item if isinstance(item, tuple) else (item, 0)
        if id(made_item) not in made:
            if isinstance(made_item, Data):
                name, number = name_of("in"), len(layers)
                form = (made_item.element_type, made_item.shape)
                attributes = {"shape": made_item.shape, "element_type": made_item.element_type}
                layers.append(
                    xml_layer(number, "Parameter", "opset1", attributes, [], [form], name, [name])
                )
                made[id(made_item)] = number, 0, [form]
            elif isinstance(made_item, Const):
                number = len(layers)
                layers.append(blob.layer(number, made_item, name_of("const")))
                made[id(made_item)] = number, 0, [(made_item.element_type, _text(made_item.shape))]
            else:
                assert isinstance(made_item, Node), made_item
                name = name_of("node")
                number, results = add_consumer(name, made_item)
                made[id(made_item)] = number, len(made_item.inputs), results
        layer, first, results = made[id(made_item)]
        return layer, first + index, results[index]

    extra = case.extra_xml(blob) if callable(case.extra_xml) else case.extra_xml
    number, results = add_consumer(
        "op", case, [f"out{index}" for index in range(case.outputs)], extra
    )
    for index, form in enumerate(results):
        edges.append((number, len(case.inputs) + index, len(layers), 0))
        layers.append(xml_layer(len(layers), "Result", "opset1", {}, [form], [], f"result{index}"))
    parts = [
        '<?xml version="1.0"?>',
        '<net name="case" version="11">',
        "<layers>",
        *layers,
        "</layers>",
        xml_edges(edges),
        "</net>",
        "",
    ]
    text = "\n".join(parts)
    return (case.edit(text) if case.edit else text), bytes(blob.bytes)


def parameters(case: Case) -> list[Data]:
    """The Parameters of a case in the order of their names."""
    found: dict[int, Data] = {}

    def visit(item: Input) -> None:
        item = item[0] if isinstance(item, tuple) else item
        if isinstance(item, Data):
            found.setdefault(id(item), item)
        elif isinstance(item, Node):
            for inner in item.inputs:
                visit(inner)

    for item in case.inputs:
        visit(item)
    return list(found.values())


@lru_cache(RECENT)
def feeds(case: Case) -> dict[str, tuple[Tensor, Array]] | None:
    """The inputs by name, the same for the same case id; None where a shape is not static."""
    rng = np.random.default_rng(zlib.crc32(case.id.encode()))
    fed: dict[str, tuple[Tensor, Array]] = {}
    for index, parameter in enumerate(parameters(case)):
        array = parameter.array(rng)
        if array is None:
            return None
        fed[f"in{index}"] = Tensor.of(array, parameter.element_type), array
    return fed
