"""Infers one layer, apart from where it stands, and remembers the result for identical layers."""

from __future__ import annotations

import os
from math import prod
from typing import Any, Generic, NamedTuple, TypeVar

from ..demands import NOTED, Demand
from ..faults import Fault, Violation, fault
from ..model.graph import Layer, Model, PortDims, PortHeads
from ..model.weights import Constant, numbers_of, raw_bytes
from ..ops.declaration import Operation, check_inputs, check_specified
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..rule_ids import INTERNAL_ERROR
from ..types import ElementType, PartialShape
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

_RESULTS: Lasting[LayerResult] = Lasting()
"""The results of layers. An operation is its class and its attributes, and a result depends on
nothing but these and the inputs."""
_CONSTANTS: Lasting[Tensor] = Lasting()
"""The outputs of constants with their values, by their bytes."""
_BYTE_SIZES: dict[tuple[str, ...], int] = {}
"""The bytes of small constants that have been read, by their attributes but for the place."""
_MOST_SIZES = 4096
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
        self._constants: dict[tuple[tuple[str, ...], Tensor], Tensor] = {}
        """Constants with their values, by the attributes of their layers."""
        self._by_bytes: dict[tuple[Tensor, bytes], Tensor] = {}
        """The same by their bytes: what constants in several places feed is inferred once."""
        self.alike_constants: dict[Kind, Alike] = {}
        """Constants with their values, by their declaration and place."""
        self._sizes_of_kinds: dict[int, int] = {}
        """The bytes of such constants, by their declaration."""
        self._by_kind: dict[tuple[int, bytes], Alike] = {}
        """The constants themselves, by their declaration and their bytes."""

    def infer(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], with_values: bool
    ) -> LayerResult:
        """The outputs of a layer of that operation, with bounds of their values where asked for."""
        if self.remembers:
            result = self._once(operation, inputs, with_values)
        else:
            result = self._infer(operation, inputs, with_values)
        if with_values and operation.reads_weights and not isinstance(result.outputs, Fault):
            tensor = result.outputs[0]
            if self.remembers:
                tensor = self.constant(layer, tensor)
            elif (read := self._read(layer, tensor)) is not None:
                tensor = _valued(tensor, *read)
            # without its value, some shape is wider than it is meant to be
            return LayerResult((tensor,), result.faults, unsure=tensor.value is None)
        return result

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
            lasts = self.lasting and not isinstance(result.outputs, Fault)
            if not lasts or not _RESULTS.keep(key, result, inputs):
                self._memo[key] = result
        return result

    def _infer(
        self, operation: Operation, inputs: tuple[Tensor, ...], with_values: bool
    ) -> LayerResult:
        demands: list[Demand] = []
        before = NOTED.set(demands)  # `with NotedDemands()` takes as long as a simple layer
        try:
            operands = check_inputs(operation, inputs)
            inferred = operation.infer(*operands)
            outputs = inferred if isinstance(inferred, tuple) else (inferred,)
            if operation.of_plugin:
                _check_returned(outputs)
            if with_values and not operation.reads_weights:
                outputs = _with_values(operation, operands, outputs)
            if not operation.stricter:
                result = LayerResult(outputs)
            else:
                faults = (*check_specified(operation, operands), *operation.check(*operands))
                result = LayerResult(outputs, faults)
        except Violation as violation:
            return LayerResult(violation.fault)
        except Exception as error:
            return LayerResult(internal_error(operation, error))
        finally:
            NOTED.reset(before)
        return result._replace(demands=frozenset(demands)) if demands else result

    def constant_at(self, kind: int, place: str) -> tuple[bytes | None, Alike | None]:
        """The bytes of a constant of a kind that has been seen, and what is known of one that has
        the same. place: where they begin, as the layer says it."""
        size, weights = self._sizes_of_kinds.get(kind), self.model.weights
        if size is None or weights is None or not _is_place(place):
            return None, None
        raw = weights.bytes_at(int(place), size)
        return raw, None if raw is None else self._by_kind.get((kind, raw))

    def keep_constant(self, kind: Kind, raw: bytes | None, layer: Layer, known: Alike) -> None:
        """Keeps what is known of a constant with its value, by place and by bytes."""
        self.alike_constants[kind] = known
        if raw is not None:
            self._by_kind[kind[0], raw] = known
        size = _byte_size(layer.items)
        if size is not None:
            self._sizes_of_kinds[kind[0]] = size

    def constant(self, layer: Layer, tensor: Tensor) -> Tensor:
        """The output of a Const layer with its value, where it is small and can be read."""
        key = (layer.items, tensor)
        valued = self._constants.get(key)
        if valued is None:
            valued = self._constants[key] = self._with_value(layer, tensor)
        return valued

    def _of_bytes(self, tensor: Tensor, raw: bytes) -> Tensor | None:
        """A constant of these bytes, where one has been read."""
        valued = _CONSTANTS.entries.get((tensor, raw)) if self.lasting else None
        return self._by_bytes.get((tensor, raw)) if valued is None else valued

    def _with_value(self, layer: Layer, tensor: Tensor) -> Tensor:
        """The output of a Const with its value; without where it is large, or there is none."""
        items, weights = layer.items, self.model.weights
        size = _byte_size(items)
        if size is not None and weights is not None and _is_place(items[5]):
            raw = weights.bytes_at(int(items[5]), size)
            valued = None if raw is None else self._of_bytes(tensor, raw)
            if valued is not None:
                return valued
        read = self._read(layer, tensor)
        if read is None:
            return tensor
        raw = read[1]
        valued = self._of_bytes(tensor, raw)
        if valued is None:
            valued = _valued(tensor, *read)
            if not self.lasting or not _CONSTANTS.keep((tensor, raw), valued, (valued,)):
                self._by_bytes[tensor, raw] = valued
        if items[4:5] == ("offset",):
            if len(_BYTE_SIZES) >= _MOST_SIZES:
                _BYTE_SIZES.clear()
            _BYTE_SIZES[(*items[:5], *items[6:])] = len(raw)
        return valued

    def _read(self, layer: Layer, tensor: Tensor) -> tuple[Constant, bytes] | None:
        """The constant that a Const layer describes, and its bytes; None where it is large, or
        there is none."""
        shape, weights = tensor.shape.static, self.model.weights
        if shape is None or prod(shape) > MAX_VALUE_ELEMENTS or weights is None:
            return None
        try:
            constant = Constant.of(layer.items, weights)
        except ValueError:
            return None
        if constant.shape != shape or constant.element_type.kind == "string":
            return None
        raw = raw_bytes(constant)
        return None if raw is None else (constant, raw)


def _valued(tensor: Tensor, constant: Constant, raw: bytes) -> Tensor:
    """A tensor with the value that a constant of these bytes has."""
    numbers = numbers_of(constant, raw)
    return tensor if numbers is None else tensor.with_value(Value(numbers))


def _byte_size(items: tuple[str, ...]) -> int | None:
    """The bytes of a constant with these attributes, where one like it has been read."""
    return _BYTE_SIZES.get((*items[:5], *items[6:])) if len(items) == 8 else None


def _is_place(offset: str) -> bool:
    """Whether a text is the offset of a constant in the .bin, as a writer has it."""
    return offset.isdecimal() and len(offset) < 19


def _with_values(
    operation: Operation, inputs: tuple[Tensor | None, ...], outputs: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    """The outputs with bounds of their values, where anything is known of them."""
    values: tuple[Value | None, ...]
    if operation.infer_value is None:
        values = fold(operation, inputs, outputs)
    elif any(output.shape.size.low > MAX_VALUE_ELEMENTS for output in outputs):
        return outputs
    else:
        inferred = operation.infer_value(*inputs, outputs=outputs)
        values = inferred if isinstance(inferred, tuple) else (inferred,)
    return tuple(
        output.with_value(value) if value is not None and _fits(value, output) else output
        for output, value in zip(outputs, values, strict=True)
    )


def _fits(value: Value, output: Tensor) -> bool:
    shape = output.shape.static
    return shape is not None and len(value) == prod(shape)


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
