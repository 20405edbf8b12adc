"""Quantization operations: values as they come back from a type of few levels, in the type that
they had.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Fault, fault, require
from ..rule_ids import INPUT_SHAPES
from ..types import ONE, ElementType
from .conversion import encoded, plain
from .declaration import NUMERIC_OR_BOOLEAN, Operation, attribute, operand, types
from .elementwise import Broadcasting, common_type, computed
from .kinds import Integer, TypeName
from .lazy import Array, np
from .tensors import Tensor

LIMITS = ("input_low", "input_high", "output_low", "output_high")


class FakeQuantize(Broadcasting):
    """`data` cut to the range from `input_low` to `input_high`, in steps of which there are
    `levels`, and these spread from `output_low` to `output_high`.

    Specification: FakeQuantize-1.
    """

    since = 1
    data = operand(NUMERIC_OR_BOOLEAN)
    input_low = operand(NUMERIC_OR_BOOLEAN)
    input_high = operand(NUMERIC_OR_BOOLEAN)
    output_low = operand(NUMERIC_OR_BOOLEAN)
    output_high = operand(NUMERIC_OR_BOOLEAN)
    levels: int = attribute(Integer(low=2), default=2, required=True)

    def infer(self, data: Tensor, *limits: Tensor) -> Tensor:
        merged = data.shape
        for name, limit in zip(LIMITS, limits, strict=True):
            merged = self.merged(merged, limit.shape, name, "data")
        return Tensor(data.element_type, data.shape)

    def check(self, data: Tensor, *limits: Tensor) -> Iterator[Fault]:
        if data.shape.dims is None or self.auto_broadcast != "numpy":
            return
        for name, limit in zip(LIMITS, limits, strict=True):
            lead = len(limit.shape.dims or ()) - len(data.shape.dims)
            aligned = (ONE,) * lead + data.shape.dims[max(-lead, 0) :]
            if any(
                here == 1 and not dim.contains(1)
                for here, dim in zip(aligned, limit.shape.dims or (), strict=False)
            ):
                yield fault(
                    f"`{name}` has shape {limit.shape}, which cannot be broadcast to {data.shape} "
                    "of "
                    "`data`; OpenVINO silently accepts it",
                    at=name,
                    expected=f"a shape that can be broadcast to {data.shape}",
                    actual=limit.shape,
                    rule=INPUT_SHAPES,
                )

    def evaluate(self, data: Array, *limits: Array) -> Array:
        numbers = plain(data)
        numbers = numbers if numbers.dtype.kind == "f" else numbers.astype(np.float32)
        low, high, output_low, output_high = (
            self.aligned(data, plain(limit).astype(numbers.dtype)) for limit in limits
        )
        steps = numbers.dtype.type(self.levels - 1)
        shape = np.broadcast_shapes(
            numbers.shape, *(limit.shape for limit in (low, high, output_low, output_high))
        )
        result = np.empty(shape or 1, numbers.dtype)
        np.subtract(numbers, low, out=result)
        result /= high - low
        result *= steps
        np.rint(result, out=result)
        result /= steps
        result *= output_high - output_low
        result += output_low
        np.copyto(result, output_high, where=numbers > np.maximum(low, high))
        np.copyto(result, output_low, where=numbers <= np.minimum(low, high))
        return computed(result.reshape(data.shape), data)


class FakeConvert(Operation):
    """`(data · scale - shift)` through a type of 8 bits and back, cut to what it can hold.

    Specification: FakeConvert-13.
    """

    since = 13
    data = operand(types("f32 f16 bf16"))
    scale = operand(types("f32 f16 bf16"), like="data")
    shift = operand(types("f32 f16 bf16"), like="data", optional=True)
    destination_type: ElementType = attribute(
        TypeName("f8e4m3", "f8e5m2", refused=True), default=ElementType.of("f8e4m3")
    )

    def infer(self, data: Tensor, scale: Tensor, shift: Tensor | None) -> Tensor:
        element_type, factor = common_type(data, scale), scale.shape
        if shift is not None:
            element_type = common_type(Tensor(element_type, ()), shift)
            require(
                factor.compatible(shift.shape),
                f"`shift` has shape {shift.shape}, `scale` {factor}; they must be the same",
                at="shift",
                expected=factor,
                actual=shift.shape,
                rule=INPUT_SHAPES,
            )
        result = data.shape.broadcast(factor)
        require(
            result is not None and data.shape.compatible(result),
            f"`scale` has shape {factor}, which cannot be broadcast to `data` {data.shape}: "
            "dimensions must be equal from the last on, or 1",
            at="scale",
            expected=f"a shape that can be broadcast to {data.shape}",
            actual=factor,
            rule=INPUT_SHAPES,
        )
        return Tensor(element_type, result)

    def evaluate(self, data: Array, scale: Array, shift: Array | None = None) -> Array:
        numbers, factor = plain(data), plain(scale)
        offset = numbers.dtype.type(0) if shift is None else plain(shift)
        most = 448.0 if self.destination_type.name == "f8e4m3" else 57344.0
        narrow = encoded(np.clip(numbers * factor - offset, -most, most), self.destination_type)
        return computed((narrow.astype(numbers.dtype) + offset) / factor, data)
