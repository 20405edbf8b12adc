"""Infers one layer, apart from where it stands, and remembers the result for identical layers."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, Generic, NamedTuple, TypeVar, Union

from ..demands import NOTED, Demand
from ..element_types import ElementType
from ..faults import Fault, Violation, fault
from ..model.graph import Layer, Model
from ..model.ports import PortDims, PortHeads
from ..model.weights import Constant, Layout, layout_of, numbers_of, raw_bytes
from ..ops.declaration import Operation, check_inputs, check_specified
from ..ops.registry import UnknownOperation
from ..ops.tensors import MAX_VALUE_ELEMENTS, Number, Tensor, Value
from ..rule_ids import INTERNAL_ERROR
from ..shapes import PartialShape
from .declarations import Declaration
from .folding import fold
from .result import LayerResult, Mismatch

T = TypeVar("T")
_ENTRY = 16
"""What an entry takes besides, in elements."""


class Lasting(Generic[T]):
    """What is remembered from one model to the next, by what alone decides it."""

    def __init__(self, most: int = 1 << 16) -> None:
        """most: how much is held, in elements of values, all inputs counted."""
        self.entries: dict[tuple[object, ...], T] = {}
        self._most = most
        self._size = 0

    def keep(
        self, key: tuple[object, ...], entry: T, tensors: tuple[Tensor, ...], size: int = _ENTRY
    ) -> bool:
        """Remembers something, if it is not too large; begins anew where all of it is.

        tensors: those whose values are kept with it. size: what it takes besides, in elements.
        """
        for tensor in tensors:
            if tensor.value is not None:
                size += len(tensor.value)
        if self._size + size > self._most:
            if size > self._most:
                return False
            self.entries.clear()
            self._size = 0
        self.entries[key] = entry
        self._size += size
        return True


Kind = tuple[Any, ...]
"""What tells layers apart: the `id` of their declaration, negative where the values of their
outputs are needed, and the `id` of each input."""


class More(NamedTuple):
    """What is to be noted of a layer besides its outputs."""

    demands: frozenset[Demand]
    """What it demands of dynamic dimensions."""
    mismatches: tuple[Mismatch, ...]
    """Where its ports declare something else."""


Alike = tuple[
    Declaration,
    tuple[Tensor, ...],
    tuple[Tensor, ...],
    PortHeads,
    PortDims,
    More | None,
]
"""What layers alike have: their declaration, inputs and outputs; the ports of the one that was
inferred; and what was noted of that one, mostly nothing."""


class Constants(NamedTuple):
    """Constants that differ in nothing but where their bytes lie."""

    operation: Operation
    """That of one of them."""
    without_value: tuple[Tensor, ...]
    """The outputs of one whose value is not needed."""
    declared: PortDims
    """What its ports declare."""
    precisions: tuple[str, ...]


_RESULTS: Lasting[LayerResult] = Lasting()
"""The results of layers. An operation is its class and its attributes, and a result depends on
nothing but these and the inputs."""
_CONSTANTS: Lasting[Constants] = Lasting()
"""Constants by what they are besides their values."""
_VALUED: Lasting[tuple[Tensor, ...]] = Lasting()
"""The outputs of constants with their values, by what they are besides, and their bytes."""
ALIKE: Lasting[Alike] = Lasting()
"""Layers of which nothing is reported. An entry holds the objects whose ids are its key: while it
is remembered, no other object has one of these."""
_FED: Lasting[Tensor] = Lasting()


def kept_once(tensor: Tensor) -> Tensor:
    """A tensor, or an equal one: layers of bodies that are fed equal ones are alike."""
    known = _FED.entries.get((tensor,))
    if known is None:
        _FED.keep((tensor,), tensor, (tensor,))
        known = tensor
    return known


class LayerEngine:
    """Infers layers without bodies; layers of one operation with the same inputs only once.

    The model supplies the bytes of small constants. lasting: remember results from one model to
    the next; only for an inference without named sizes, which belong to one model.
    """

    def __init__(self, model: Model, *, lasting: bool = False) -> None:
        self.model = model
        self.lasting = lasting
        self.remembers = True
        """Whether results are remembered; not where hardly any of them comes again."""
        self._memo: dict[tuple[object, ...], LayerResult] = {}

    def infer(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], with_values: bool
    ) -> LayerResult:
        """The outputs of a layer of that operation, with bounds of their values where asked for."""
        if with_values and operation.reads_weights and not inputs:
            return self._constant(layer.items, operation)
        if self.remembers or not inputs:
            return self._once(operation, inputs, with_values)
        return self._infer(operation, inputs, with_values)

    def _constant(self, items: tuple[str, ...], operation: Operation) -> LayerResult:
        """The output of a Const with its value."""
        result = self._once(operation, (), False)
        if isinstance(result.outputs, Fault):
            return result
        tensor = result.outputs[0]
        read = self._read(items, tensor)
        if read is not None:
            tensor = self._of_bytes(tensor, *read)
        # without its value, some shape is wider than it is meant to be
        return LayerResult((tensor,), result.faults, unsure=tensor.value is None)

    def _once(
        self, operation: Operation, inputs: tuple[Tensor, ...], with_values: bool
    ) -> LayerResult:
        key = (operation, with_values, *inputs)
        result = _RESULTS.entries.get(key) if self.lasting else None
        if result is None and self._memo:
            result = self._memo.get(key)
        if result is None:
            result = self._infer(operation, inputs, with_values)
            # a fault may be for lack of memory
            lasts = self.lasting and self.remembers and not isinstance(result.outputs, Fault)
            if not lasts or not _RESULTS.keep(key, result, inputs):
                self._memo[key] = result
        return result

    def _infer(
        self, operation: Operation, inputs: tuple[Tensor, ...], with_values: bool
    ) -> LayerResult:
        usual = operation.infer_usual
        if usual is not None and not _are_usual(inputs, dynamic=self.lasting):
            usual = None
        demands: list[Demand] = []
        before = NOTED.set(demands)  # `with NotedDemands()` takes as long as a simple layer
        faults: tuple[Fault, ...] = ()
        try:
            operands = check_inputs(operation, inputs)
            inferred = None if usual is None else usual(*operands)
            is_usual = inferred is not None
            if inferred is None:
                inferred = operation.infer(*operands)
            outputs = inferred if isinstance(inferred, tuple) else (inferred,)
            if operation.questioned:
                faults = _questioned(operation, operands, outputs, is_usual=is_usual)
            if with_values and not operation.reads_weights:
                outputs = _with_values(operation, operands, outputs)
        except Violation as violation:
            return LayerResult(violation.fault)
        except Exception as error:
            return LayerResult(internal_error(operation, error))
        finally:
            NOTED.reset(before)
        if faults or demands:
            return LayerResult(outputs, faults, demands=frozenset(demands))
        return LayerResult(outputs)

    def alike_constants(self, declaration: Declaration, *, lasting: bool) -> Constants | None:
        """What is known of constants of a declaration; None where there is something to report.

        lasting: remember it from one model to the next.
        """
        if isinstance(declaration, UnknownOperation) or declaration[1]:
            return None
        operation = declaration[0]
        known = _CONSTANTS.entries.get((operation,)) if lasting else None
        if known is None:
            if not operation.reads_weights or operation.of_plugin:
                return None
            try:
                inferred = operation.infer()
            except Exception:  # which is told of each layer
                return None
            assert isinstance(inferred, Tensor)
            precisions = (inferred.element_type.precision,)
            known = Constants(operation, (inferred,), (inferred.shape.declared,), precisions)
            if lasting and self.lasting:
                _CONSTANTS.keep((operation,), known, ())
        return known

    def valued(
        self, alike: Constants, items: tuple[str, ...], places: list[int]
    ) -> list[tuple[Tensor, ...]]:
        """The outputs of constants with their values; nothing for one that takes more than to
        unpack its bytes.

        items: the attributes of one of them. places: where the bytes of each begin.
        """
        (tensor,), weights, layout = alike.without_value, self.model.weights, _layout(items)
        if (
            weights is None
            or layout is None
            or layout.shape != tensor.shape.declared
            or prod(layout.shape) > MAX_VALUE_ELEMENTS
        ):
            return [()] * len(places)
        all_bytes = weights.all_bytes_at(places, layout.size)
        outputs: dict[bytes | None, tuple[Tensor, ...]] = dict.fromkeys(all_bytes, ())
        few = self.lasting and len(outputs) < _FEW_VALUES
        for raw in outputs:
            if raw is None:
                continue
            known = _VALUED.entries.get((alike.operation, raw)) if few else None
            if known is None:
                value = Value(layout.unpack(raw))
                known = (Tensor(tensor.element_type, tensor.shape, value),)
                if few:
                    _VALUED.keep((alike.operation, raw), known, known)
            outputs[raw] = known
        return [outputs[raw] for raw in all_bytes]

    def constant(self, layer: Layer, tensor: Tensor) -> Tensor:
        """The output of a Const layer with its value, where it is small and can be read."""
        read = self._read(layer.items, tensor)
        return tensor if read is None else self._of_bytes(tensor, *read)

    def _of_bytes(self, tensor: Tensor, raw: bytes, unpack: Unpack) -> Tensor:
        """A constant of these bytes with its value."""
        numbers = unpack(raw)
        return tensor if numbers is None else tensor.with_value(Value(numbers))

    def _read(self, items: tuple[str, ...], tensor: Tensor) -> tuple[bytes, Unpack] | None:
        """The bytes of the constant that these attributes describe, and what unpacks them; None
        where it is large, or there are none."""
        weights, shape = self.model.weights, tensor.shape.static
        if weights is None or shape is None or prod(shape) > MAX_VALUE_ELEMENTS:
            return None
        layout = _layout(items)
        if layout is not None and layout.shape == shape:
            raw = weights.bytes_at(int(items[5]), layout.size)
            return None if raw is None else (raw, layout.unpack)
        try:
            constant = Constant.of(items, weights)
        except ValueError:
            return None
        if constant.shape != shape or constant.element_type.kind == "string":
            return None
        raw = raw_bytes(constant)
        return None if raw is None else (raw, partial(numbers_of, constant))


_FEW_VALUES = 256
"""Where constants have more values than this, those are hardly those of another model."""


def _are_usual(tensors: tuple[Tensor, ...], *, dynamic: bool) -> bool:
    """Whether ranks are known, and nothing in terms of named sizes. dynamic: whether dynamic
    dimensions are but intervals."""
    for tensor in tensors:
        if tensor.rank is None or not (
            dynamic
            or (
                (-1 not in tensor.shape.declared)
                and (tensor.value is None or tensor.value.expressions is None)
            )
        ):
            return False
    return True


Unpack = Callable[[bytes], Union[tuple[Number, ...], None]]
_WRITTEN = ("element_type", "shape", "offset", "size")
"""The attributes of a constant as writers have them."""


def _layout(items: tuple[str, ...]) -> Layout | None:
    """How a constant lies in the .bin that has these attributes, as writers have them."""
    if items[::2] != _WRITTEN or not (is_place(items[5]) and items[7].isdecimal()):
        return None
    return layout_of(items[1], items[3])


def is_place(offset: str) -> bool:
    """Whether a text is the offset of a constant in the .bin, as a writer has it."""
    return offset.isdecimal() and len(offset) < 19


def _with_values(
    operation: Operation, inputs: tuple[Tensor | None, ...], outputs: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    """The outputs with bounds of their values, where anything is known of them."""
    values: tuple[Value | None, ...]
    if operation.infer_value is None:
        values = fold(operation, inputs, outputs)
    elif max([output.shape.least_size for output in outputs], default=0) > MAX_VALUE_ELEMENTS:
        return outputs
    else:
        inferred = operation.infer_value(*inputs, outputs=outputs)
        if inferred is None:
            return outputs
        values = inferred if isinstance(inferred, tuple) else (inferred,)
    return tuple(map(_with_value, outputs, values))


def _with_value(output: Tensor, value: Value | None) -> Tensor:
    """An output with bounds of its value, if these are as many as it has elements."""
    sizes = output.shape.declared
    if value is None or output.rank is None or -1 in sizes or len(value.lower) != prod(sizes):
        return output
    return Tensor(output.element_type, output.shape, value)


def _questioned(
    operation: Operation,
    inputs: tuple[Tensor | None, ...],
    outputs: tuple[Tensor, ...],
    *,
    is_usual: bool,
) -> tuple[Fault, ...]:
    """The faults of a layer that OpenVINO passes over. Raises `TypeError` unless a plugin has
    returned tensors."""
    if operation.of_plugin:
        _check_returned(outputs)
    if is_usual:
        return ()
    return (*check_specified(operation, inputs), *operation.check(*inputs))


def plugin_of(operation: type[Operation]) -> str | None:
    """The module and class of an operation that another package declares."""
    package, _, _ = operation.__module__.partition(".")
    return None if package == "irshape" else f"{operation.__module__}:{operation.__name__}"


def _check_returned(outputs: tuple[object, ...]) -> None:
    """Raises `TypeError` unless the `infer` of a plugin has returned tensors."""
    for output in outputs:
        if not (
            isinstance(output, Tensor)
            and isinstance(output.element_type, ElementType)
            and isinstance(output.shape, PartialShape)
        ):
            raise TypeError(f"infer returns a Tensor, or a tuple of them, not {output!r}")


def internal_error(operation: Operation, error: Exception) -> Fault:
    """A bug in the declaration of an operation, as a fault of the layer that reveals it.

    With IRSHAPE_DEBUG set, the error is raised instead.
    """
    if os.environ.get("IRSHAPE_DEBUG"):
        raise error
    kind = type(operation)
    plugin = plugin_of(kind)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if plugin is None:
        blamed = f"irshape's {kind.type_name()} of {kind.version_name()}: please report it"
    else:
        blamed = f"the plugin {plugin}: please report it to its authors"
    return fault(
        f"{'irshape' if plugin is None else f'the plugin {plugin}'} failed on this layer ({text}); "
        "the declared types and shapes of its ports are used",
        rule=INTERNAL_ERROR,
        help=f"a bug in {blamed} with this layer; IRSHAPE_DEBUG=1 shows where it happens",
    )
