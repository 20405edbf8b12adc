"""Quantization operations. They round values to a few allowed numbers, and keep the type."""

from __future__ import annotations

from collections.abc import Iterator

from ..element_types import ElementType
from ..faults import Fault, fault, require
from ..shapes import ONE
from .blockwise import BLOCK, in_blocks, part_along
from .conditions import equal
from .conversion import encoded, plain, real
from .declaration import NUMERIC_OR_BOOLEAN, Operation, attribute, operand, types
from .elementwise import Broadcasting, common_type, computed
from .kinds import Integer, TypeName
from .lazy import Array, np
from .tensors import Tensor

LIMITS = ("input_low", "input_high", "output_low", "output_high")


class FakeQuantize(Broadcasting):
    """`data` clipped to the range from `input_low` to `input_high`, rounded to one of `levels`
    equally spaced values, and mapped to the range from `output_low` to `output_high`."""

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
                    at=name,
                    relation="broadcast",
                    expected=data.shape,
                    actual=limit.shape,
                    of="data",
                    accepted=True,
                )

    def evaluate(self, data: Array, *limits: Array) -> Array:
        """Returns the result of the specification's formula, computed in f64, with one rounding.

        A number that lies exactly halfway between two quantized values also does so in f64: a
        product of f32 numbers is exact in f64, and the division after it is rounded correctly.
        """
        numbers = real(data)
        low, high, output_low, output_high = (
            self.aligned(data, plain(limit).astype(numbers.dtype)) for limit in limits
        )
        shape = np.broadcast_shapes(
            numbers.shape, *(limit.shape for limit in (low, high, output_low, output_high))
        )
        exact_low, exact_output_low = low.astype(np.float64), output_low.astype(np.float64)
        arrays = (
            numbers,
            exact_low,
            high - exact_low,
            exact_output_low,
            output_high - exact_output_low,
            np.minimum(low, high),
            np.maximum(low, high),
            output_low,
            output_high,
        )
        result = np.empty(shape, numbers.dtype)
        if result.size <= BLOCK:
            _quantize(self.levels - 1, result, *arrays)
            return computed(result.reshape(data.shape), data)
        axis = next(axis for axis, size in enumerate(shape) if size != 1)

        def rows(start: int, stop: int) -> None:
            parts = (
                part_along(array, axis - len(shape), start, stop) for array in (result, *arrays)
            )
            _quantize(self.levels - 1, *parts)

        in_blocks(rows, shape[axis], result.size // shape[axis])
        return computed(result.reshape(data.shape), data)


def _quantize(
    steps: int,
    out: Array,
    numbers: Array,
    low: Array,
    span: Array,
    output_low: Array,
    output_span: Array,
    least: Array,
    most: Array,
    below: Array,
    above: Array,
) -> None:
    """Writes the result of FakeQuantize for `numbers` to `out`.

    The arrays `low` to `output_span` are f64, the others have the type of `numbers`. The result is
    `below` for numbers up to `least`, and `above` for numbers beyond `most`.
    """
    result = np.empty(out.shape, np.float64)
    np.subtract(numbers, low, out=result)
    result *= steps
    result /= span
    np.rint(result, out=result)
    result *= output_span
    result /= steps
    result += output_low
    np.copyto(out, result, casting="same_kind")
    np.copyto(out, above, where=numbers > most)
    np.copyto(out, below, where=numbers <= least)


class FakeConvert(Operation):
    """`data · scale - shift`, clipped to the range of an 8-bit floating-point type, then converted
    to this type and back."""

    since = 13
    released = ((13, "2023.3"),)
    released_types = (("f8e4m3", "2023.3"), ("f8e5m2", "2023.3"))
    data = operand(types("f32 f16 bf16"))
    scale = operand(types("f32 f16 bf16"), like="data")
    shift = operand(types("f32 f16 bf16"), like="data", optional=True)
    destination_type: ElementType = attribute(
        TypeName("f8e4m3", "f8e5m2", refused=True), default=ElementType.of("f8e4m3")
    )

    def infer(self, data: Tensor, scale: Tensor, shift: Tensor | None) -> Tensor:
        factor = scale.shape
        if shift is not None:
            equal(shift.shape, factor, at="shift", of="scale")
        result = data.shape.broadcast(factor)
        require(
            result is not None and data.shape.agrees(result),
            at="scale",
            relation="broadcast",
            expected=data.shape,
            actual=factor,
            of="data",
        )
        return Tensor(common_type(data, scale, shift), result)

    def evaluate(self, data: Array, scale: Array, shift: Array | None = None) -> Array:
        numbers, factor = plain(data), plain(scale)
        offset = numbers.dtype.type(0) if shift is None else plain(shift)
        most = 448.0 if self.destination_type.name == "f8e4m3" else 57344.0
        narrow = encoded(np.clip(numbers * factor - offset, -most, most), self.destination_type)
        return computed((narrow.astype(numbers.dtype) + offset) / factor, data)
