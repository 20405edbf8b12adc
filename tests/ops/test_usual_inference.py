"""`infer_usual` against `infer`: what it gives, and that neither `infer` nor `check` objects, nor
demands anything of a dynamic dimension.

The rows of the other tests, and these with other sizes, values and attributes at random.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from differential.cases import Case, Const, Data, Input
from differential.coverage import cases

from irshape.demands import NotedDemands
from irshape.element_types import ElementType
from irshape.faults import Fault, Violation
from irshape.ops import registry
from irshape.ops.declaration import Operation, check_inputs, check_specified
from irshape.ops.tensors import Tensor, Value
from irshape.shapes import DYNAMIC, UNBOUNDED, Dimension, PartialShape

CHANGES = 20
"""How often each row is changed."""
SIZES = [Dimension(0, UNBOUNDED), DYNAMIC, Dimension(2, 9), *map(Dimension, (0, 1, 2, 3, 4))]
"""Some come again and again: that two dimensions are one and the same tells something."""
FEWEST = 8
"""How many layers `infer_usual` must tell of each operation that has it."""


@cache
def rows() -> dict[type[Operation], list[Case]]:
    """The rows of the operations that have `infer_usual`."""
    found = defaultdict(list)
    for case in cases():
        try:
            operation = registry.find(case.type, case.version)
        except registry.UnknownOperation:
            continue
        if operation.infer_usual is not None and all(
            isinstance(given, Data) or (isinstance(given, Const) and not is_raw(given))
            for given in case.inputs
        ):
            found[operation].append(case)
    return dict(found)


def is_raw(given: Const) -> bool:
    """Whether the values of a constant are bytes, or strings."""
    return isinstance(given.values, bytes) or given.element_type == "string"


def of_row(given: Input) -> Tensor | None:
    """An input of a row; None for one of dynamic rank."""
    assert isinstance(given, (Data, Const))
    element_type = ElementType.of(given.element_type)
    if isinstance(given, Data):
        shape = PartialShape.parse(given.shape)
        return None if shape.rank is None else Tensor(element_type, shape)
    values = np.asarray(given.values)
    numbers = np.broadcast_to(values, given.shape) if values.size == 1 else values
    return Tensor(element_type, given.shape, Value(numbers.ravel().tolist()))


def changed(tensor: Tensor, chance: random.Random) -> Tensor:
    """A tensor with another size, another value, or another number of axes."""
    if tensor.value is None:
        dims = list(tensor.shape)
        if dims and chance.random() < 0.4:
            at = chance.randrange(len(dims))
            step = chance.choice([-1, 1, 2])
            dims[at] = chance.choice([Dimension(max(dims[at].low + step, 0)), *SIZES])
        elif chance.random() < 0.1:
            dims.insert(0, chance.choice(SIZES))
        return Tensor(tensor.element_type, dims)
    sizes = list(tensor.shape.static or ())
    numbers = list(tensor.value.lower)
    if numbers and tensor.element_type.is_integer and chance.random() < 0.5:
        numbers[chance.randrange(len(numbers))] = chance.choice(
            [-3, -2, -1, 0, 1, 2, 3, 4, 5, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
        )
    if tensor.rank == 1 and chance.random() < 0.1:
        numbers.append(chance.choice([0, 1, 2]))
        sizes = [len(numbers)]
    element_type = tensor.element_type
    if chance.random() < 0.1:
        element_type = ElementType.of(chance.choice(["i32", "i64", "f32", "u8"]))
    return Tensor(element_type, sizes, Value(numbers))


def layers(operation: type[Operation]) -> Iterator[tuple[Operation, tuple[Tensor, ...]]]:
    """The layers of an operation: with the attributes of the rows, and with others."""
    chance = random.Random(operation.__name__)
    for case in rows()[operation]:
        given = [of_row(each) for each in case.inputs]
        row = tuple([tensor for tensor in given if tensor is not None])
        if len(row) < len(given):
            continue
        items = tuple(text for item in case.attributes.items() for text in item)
        for number in range(CHANGES + 1):
            inputs, texts = row, items
            for _ in range(number % 4):
                inputs = tuple([changed(tensor, chance) for tensor in inputs])
            if number > CHANGES // 2:
                texts = tuple(
                    re.sub(r"\d", lambda digit: chance.choice([digit[0], *"0123"]), text)
                    if at % 2
                    else text
                    for at, text in enumerate(items)
                )
            layer, faults = operation.read(texts)
            if not faults:
                yield layer, inputs


def handed_on(
    outputs: Tensor | tuple[Tensor, ...], inputs: tuple[Tensor, ...]
) -> list[tuple[int, int] | None]:
    """For each dimension of the outputs which one of the inputs it is, if it is dynamic."""
    places = {
        id(dim): (number, axis)
        for number, tensor in reversed(list(enumerate(inputs)))
        for axis, dim in enumerate(tensor.shape)
        if dim.is_dynamic
    }
    tensors = outputs if isinstance(outputs, tuple) else (outputs,)
    return [places.get(id(dim)) for tensor in tensors for dim in tensor.shape if dim.is_dynamic]


@pytest.mark.parametrize(
    "operation", sorted(rows(), key=lambda each: each.__name__), ids=lambda each: each.__name__
)
def test_gives_what_the_general_inference_gives(operation: type[Operation]) -> None:
    told: Counter[bool] = Counter()
    for layer, inputs in layers(operation):
        try:
            operands = check_inputs(layer, inputs)
        except Violation:
            continue
        assert layer.infer_usual is not None
        refused: Fault | None = None
        with NotedDemands() as noted:
            try:
                usual = layer.infer_usual(*operands)
            except Violation as violation:
                usual, refused = None, violation.fault
        if refused is not None:
            with pytest.raises(Violation) as general:
                layer.infer(*operands)
            assert refused == general.value.fault
        told[usual is not None] += 1
        if usual is not None:
            with NotedDemands() as demanded:
                assert usual == layer.infer(*operands), (layer, inputs)
                assert handed_on(usual, inputs) == handed_on(layer.infer(*operands), inputs)
                assert [*layer.check(*operands), *check_specified(layer, operands)] == []
            assert noted.demands == demanded.demands == []
    assert told[True] >= FEWEST
    assert told[False]


def test_every_operation_has_rows() -> None:
    having = {
        version
        for name in registry.type_names()
        for version in registry.versions(name)
        if version.infer_usual is not None
    }
    assert having == rows().keys()
    # what several operands share is asked of dynamic dimensions before `infer_usual` is
    assert not any(version.shaped for version in having)
