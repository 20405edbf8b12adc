"""Rows of tables of cases, written as text: a case is a line.

    row("ReduceMean-1", "keep_dims=true", "f32[2,3,4] i64{[1, -1]}")
    row("Abs-1", {}, "f32[?,3]@2,3", known="a-difference")
    unrun("Reshape-1", {"special_zero": "false"}, "f32[...]", "i64[3]")

An input is text or what `differential.cases` makes. `f32[1..4,?]` is a Parameter, `f32[1..4,?]@2,3`
one that is fed in that shape, `i64{[1, 2]}` a Const of a list and `i64{1}` one of a scalar. Several
can stand in one text.
"""

from __future__ import annotations

import math
import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Union

import numpy as np
import pytest
from differential.cases import Case, Data, Input, Node, Source, case_id, const, data
from differential.compare import check
from differential.oracle import Oracle

Attributes = Union[Mapping[str, Union[str, None]], str, None]
ONE_INPUT = re.compile(r"\s*(\w+)(?:\[([^]]*)\](?:@([\d,]*))?|\{([^}]*)\})")


def row(operation: str, attributes: Attributes = None, *inputs: Input | str, **rest: Any) -> Case:
    """A case of an operation version: `Softmax-8`, or `Softmax-opset8`.

    An attribute that is None is left out.
    """
    return Case(*_named(operation), attributes_of(attributes), list(sources(inputs)), **rest)


def unrun(operation: str, attributes: Attributes = None, *inputs: Input | str, **rest: Any) -> Case:
    """A case of types and shapes only."""
    return row(operation, attributes, *inputs, run=False, **rest)


def against_openvino(*cases: Case) -> Callable[[Case, Oracle], None]:
    """A test of a table: the shapes, refusals and values of each case are OpenVINO's.

    test_shape = against_openvino(*SHAPE_OF, *RESHAPE)
    """

    @pytest.mark.parametrize("case", cases, ids=case_id)
    def test(case: Case, oracle: Oracle) -> None:
        check(case, oracle)

    return test


FIELDS = {each.name for each in fields(Case)}


def rows_of(
    operation: str, attributes: Callable[..., Mapping[str, str | None]] | str = "", **fixed: Any
) -> Callable[..., Case]:
    """What makes the rows of an operation whose attributes have defaults.

    `convolution("f32[1,2,5,5] f32[3,2,3,3]", strides="2,2", run=False)`

    attributes: the text of the defaults, or what makes the attributes of those that are given.
    """

    def make(*inputs: Input | str, **given: Any) -> Case:
        rest = {name: given.pop(name) for name in FIELDS & given.keys()}
        made = written(attributes, **given) if isinstance(attributes, str) else attributes(**given)
        return row(operation, made, *inputs, **fixed | rest)

    return make


def node(
    operation: str, attributes: Attributes = None, *inputs: Input | str, outputs: int = 1
) -> Node:
    """A further layer, to be used as an input."""
    return Node(*_named(operation), attributes_of(attributes), list(sources(inputs)), outputs)


def sizes_of(shape: str, element_type: str = "i64") -> Node:
    """The sizes of a tensor as values: known, or within bounds."""
    return node("ShapeOf-3", f"output_type={element_type}", f"f32[{shape}]")


def size_of(shape: str, element_type: str = "i64") -> Node:
    """The first size of a tensor as a scalar."""
    return node("Gather-8", "batch_dims=0", sizes_of(shape, element_type), "i64{0} i64{0}")


def list_of_size(shape: str) -> Node:
    """The first size of a tensor as a list of one element."""
    return node("Gather-8", "batch_dims=0", sizes_of(shape), "i64{[0]} i64{0}")


def as_shape(sizes: Input, source: Input | str = "f32[?]", **rest: Any) -> Case:
    """A Reshape to values, whose result shows what irshape and OpenVINO know of them."""
    return unrun("Reshape-1", "special_zero=false", source, sizes, **rest)


def names(text: str) -> list[str]:
    """Words, such as element types, of which a list would take a line each."""
    return text.split()


def table(text: str) -> list[list[float]]:
    """The rows of a matrix, such as `0 0 1 1; 0 0.1 1 1.1`."""
    return [[float(number) for number in line.split()] for line in text.split(";")]


def different(shape: Sequence[int]) -> Callable[[np.random.Generator], Any]:
    """Values for `data`: from 0 to 1, no two of them equal, so that their order is certain."""
    count = math.prod(shape)
    return lambda rng: ((rng.permutation(count) + 1) / (count + 1)).reshape(shape)


def given(element_type: str, value: Any, **drawn: Any) -> Input:
    """A Const of values, a Parameter of a shape, or an input as it is; `drawn` as of `data`."""
    if isinstance(value, Source):
        return value
    is_shape = isinstance(value, str)
    return data(element_type, value, **drawn) if is_shape else const(element_type, value)


def all_given(element_type: str, *values: Any) -> list[Input]:
    """Those of `values` that are not None, as inputs."""
    return [given(element_type, value) for value in values if value is not None]


def parameters(shapes: Sequence[str], types: str = "f32") -> list[Data]:
    """Parameters of these shapes; `types` is one element type for all, or one for each."""
    each = names(types) if " " in types else [types] * len(shapes)
    return [data(element_type, shape) for element_type, shape in zip(each, shapes, strict=True)]


def written(text: str, **changed: str | None) -> dict[str, str | None]:
    """Attributes such as `mode=avg pooled_h=2`, and those that differ."""
    return {**dict(each.split("=", 1) for each in text.split()), **changed}


def _named(operation: str) -> tuple[str, str]:
    type, _, opset = operation.rpartition("-")
    return type, f"opset{opset.removeprefix('opset')}"


def attributes_of(given: Attributes) -> dict[str, str]:
    """Those that are not None."""
    attributes = written(given) if isinstance(given, str) else given or {}
    return {name: text for name, text in attributes.items() if text is not None}


TYPES = names("f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 boolean")
PACKED = names("f8e4m3 f8e5m2 f8e8m0 f4e2m1 nf4 i4 u6 u4 u3 u2 u1")


def sources(inputs: Iterable[Input | str]) -> Iterator[Input]:
    """The inputs, with those that are text made."""
    for given in inputs:
        if isinstance(given, str):
            yield from _read(given)
        else:
            yield given


def _read(text: str) -> Iterator[Input]:
    place = 0
    while place < len(text):
        read = ONE_INPUT.match(text, place)
        if read is None:
            raise ValueError(f"no input: {text[place:]!r}")
        element_type, shape, run_shape, values = read.groups()
        if values is not None:
            yield const(element_type, literal_eval(values))
        elif run_shape is not None:
            sizes = tuple(int(size) for size in run_shape.split(",") if size)
            yield data(element_type, shape, run_shape=sizes)
        else:
            yield data(element_type, shape)
        place = read.end()


SIZES = sizes_of("1..4,?,5")
