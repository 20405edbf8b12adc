"""Reads the attributes of each layer as its operation declares them."""

from __future__ import annotations

from functools import lru_cache

from ..faults import Violation
from ..model.graph import Layer, Model
from ..ops import registry
from ..ops.declaration import AttributeFault, Operation, check_inputs
from ..rule_ids import INPUT_COUNT
from ..shapes import PartialShape
from .ports import input_tensors

Read = tuple[Operation, tuple[AttributeFault, ...]]
"""An operation with its parsed attributes, and the faults of the attributes."""

Declaration = Read | registry.UnknownOperation
"""An operation with its attributes and their faults, or the error for an unknown operation."""


class Declarations:
    """The operations of the layers of one model. Layers of equal type and attributes share one
    object."""

    def __init__(self, model: Model) -> None:
        self._alone = model.kind == "layers"
        self._by_layer: dict[Layer, Declaration] = {}

    def of(self, layer: Layer) -> Declaration:
        """Returns the operation of a layer with its attributes. The first call for a layer reads
        them."""
        known = self._by_layer.get(layer)
        if known is None:
            known = self._by_layer[layer] = self._read(layer)
        return known

    def of_all(self, layers: list[Layer]) -> list[Declaration]:
        """Returns the operation of each layer of a body, with its attributes."""
        known, of = self._by_layer, self.of
        return [known.get(layer) or of(layer) for layer in layers]

    def _read(self, layer: Layer) -> Declaration:
        try:
            if self._alone and not layer.version:
                return newest_fitting(layer).read(layer.items)
            operation = registry.find(layer.type, layer.version)
        except registry.UnknownOperation as unknown:
            return unknown.with_traceback(None)  # which holds frames, and with them the model
        return read_once(operation, layer.items)


def read_once(operation: type[Operation], items: tuple[str, ...]) -> Read:
    """Returns an operation with its attributes. Layers with equal attributes share one object."""
    if len(items) == 8 and _lies_anywhere(items):
        items = (*items[:4], "offset", "0", "size", "0")
    return _read(operation, items)  # type: ignore[arg-type]


@lru_cache(maxsize=1 << 13)
def _read(operation: type[Operation], items: tuple[str, ...]) -> Read:
    return operation.read(items)


def _lies_anywhere(items: tuple[str, ...]) -> bool:
    """Whether a Const's attributes end in a valid `offset` and `size`, which inference ignores."""
    numbers = items[5] + "0" + items[7]
    named = items[4] == "offset" and items[6] == "size" and items[5] and items[7]
    return bool(named) and numbers.isdigit() and numbers.isascii()


def newest_fitting(layer: Layer) -> type[Operation]:
    """Returns the newest version of an operation that fits the attributes and ports of a layer. If
    none fits, returns the newest of the versions that fit best. Raises `UnknownOperation`."""
    known = registry.versions(layer.type)
    if not known:
        registry.find(layer.type, "opset1")
        raise registry.UnknownOperation(f"no opset contains an operation named {layer.type}")
    if len(known) == 1:
        return known[0]
    return min(reversed(known), key=lambda operation: _misfits(operation, layer))


def _misfits(declared: type[Operation], layer: Layer) -> tuple[int, ...]:
    """Counts the contradictions between a layer and a version of its operation, worst kind first:
    in attributes, number of inputs, number of outputs, and shapes of outputs."""
    operation, faults = declared.read(layer.items)
    refused = any(not fault.silent for fault in faults)
    try:
        inputs = check_inputs(operation, input_tensors(layer, declared.operands))
        if declared.bodies or refused:
            return len(faults), 0, int(refused), 0
        outputs = operation.infer(*inputs)
    except Violation as violation:
        return len(faults), int(violation.fault.rule == INPUT_COUNT), 1, 1
    tensors = outputs if isinstance(outputs, tuple) else (outputs,)
    contradicted = sum(
        bool(port.dims) and not PartialShape(port.dims).compatible(tensor.shape)
        for port, tensor in zip(layer.outputs, tensors, strict=False)
    )
    return len(faults), 0, int(len(tensors) != len(layer.outputs)), contradicted
