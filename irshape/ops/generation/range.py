"""Range: evenly spaced numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isfinite, trunc

from ...element_types import DYNAMIC_TYPE, ElementType
from ...faults import Fault, Violation, fault, require
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_VALUE
from ...shapes import DYNAMIC, INT64_MIN, UNBOUNDED, Dimension, PartialShape
from ..declaration import NUMERIC, Operation, attribute, operand, types
from ..differences import facts, no_type, refused
from ..elementwise import common_type
from ..kinds import TYPE_NAME
from ..lazy import Array, dtype_of, element_type_of, np
from ..tensors import Number, Tensor, Value


def count(start: Number, stop: Number, step: Number) -> int:
    """Returns how many numbers a Range contains, from `start` (included) to `stop` (excluded)."""
    if (stop - start) * (1 if step > 0 else -1) <= 0:
        return 0
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return -((start - stop) // step)
    return min(ceil(abs(stop - start) / abs(step)), UNBOUNDED) if step else 0


def number(array: Array) -> Number:
    """Returns the only element of an array: an `int` for integer types, else a `float`."""
    return array.item() if array.dtype.kind in "iu" else float(array.astype(np.float64).item())


class RangeBase(Operation):
    """The base class of both versions of Range. It infers the size and the values of the result."""

    differs = facts(
        refused("2025.0", "a layer that leaves its element type undefined", no_type),
    )

    def result_type(self, start: Tensor, stop: Tensor, step: Tensor) -> ElementType:
        raise NotImplementedError

    def bounds(
        self, start: Tensor, stop: Tensor, step: Tensor
    ) -> list[tuple[Number, Number]] | None:
        """Returns bounds of start, stop and step, in the result's type; None if any is unknown."""
        integral = self.result_type(start, stop, step).is_integer
        bounds: list[tuple[Number, Number]] = []
        for tensor in (start, stop, step):
            if (
                tensor.value is None
                or len(tensor.value) != 1
                or not isfinite(tensor.value.lower[0])
                or not isfinite(tensor.value.upper[0])
            ):
                return None
            low, high = tensor.value.lower[0], tensor.value.upper[0]
            bounds.append((trunc(low), trunc(high)) if integral else (low, high))
        return bounds

    def infer(self, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
        element_type = self.result_type(start, stop, step)
        for name, tensor in (("start", start), ("stop", stop), ("step", step)):
            for seen in (tensor.value and tensor.value.exact) or ():
                wanted = "a finite number"
                require(isfinite(seen), at=name, expected=wanted, actual=seen, rule=INPUT_VALUE)
                wanted = "a number other than 0"
                fits = name != "step" or seen
                require(fits, at=name, expected=wanted, actual=seen, rule=INPUT_VALUE)
        size = self.size(self.bounds(start, stop, step))
        if start.known_by_name or stop.known_by_name:
            from ..symbolic import range_size

            size = range_size(start, stop, step, size)
        return Tensor(element_type, PartialShape([size]))

    def size(self, bounds: list[tuple[Number, Number]] | None) -> Dimension:
        """Returns the number of elements, given bounds of the three inputs.

        It rises with `stop - start` and falls with `step`, so bounds of the inputs give its bounds.
        """
        if bounds is None:
            return DYNAMIC
        (start_low, start_high), (stop_low, stop_high), (step_low, step_high) = bounds
        if step_low < 0 < step_high or step_low == step_high == 0:
            return Dimension(0) if step_low == step_high else DYNAMIC
        if step_high <= 0:
            start_low, start_high = -start_high, -start_low
            stop_low, stop_high = -stop_high, -stop_low
            step_low, step_high = -step_high, -step_low
        least = (
            count(start_high, stop_low, step_high)
            if start_high < UNBOUNDED and step_high < UNBOUNDED
            else 0
        )
        most = (
            count(start_low, stop_high, step_low)
            if step_low and start_low > INT64_MIN and stop_high < UNBOUNDED
            else UNBOUNDED
        )
        if start_low == start_high and stop_low == stop_high and step_low == step_high:
            most = least
        return Dimension(least, max(least, most))

    def infer_value(
        self, start: Tensor, stop: Tensor, step: Tensor, outputs: tuple[Tensor, ...]
    ) -> Value | None:
        bounds, size = self.bounds(start, stop, step), outputs[0].shape.static
        if bounds is None or size is None:
            return None
        (start_low, start_high), _, (step_low, step_high) = bounds
        lower = [start_low + i * step_low for i in range(size[0])]
        upper = [start_high + i * step_high for i in range(size[0])]
        if outputs[0].element_type.is_integer:
            least, most = outputs[0].element_type.limits
            if (
                size[0]
                and not least <= min(lower[0], lower[-1]) <= max(upper[0], upper[-1]) <= most
            ):
                return None
        if start.known_by_name:
            from ..symbolic import range_value

            return range_value(start, step, lower, upper)
        return Value(lower, upper)

    def evaluate(self, start: Array, stop: Array, step: Array) -> Array:
        abstract = [
            Tensor(element_type_of(array), (), Value([number(array)]))
            for array in (start, stop, step)
        ]
        element_type = self.result_type(*abstract)
        bounds = self.bounds(*abstract)
        assert bounds is not None
        first, last, stride = (low for low, _ in bounds)
        size = count(first, last, stride)
        if not element_type.is_integer:
            return np.asarray(first + np.arange(size) * float(stride)).astype(
                dtype_of(element_type)
            )
        return (
            np.arange(size, dtype=np.int64) * np.int64(stride) + np.asarray(first).astype(np.int64)
        ).astype(dtype_of(element_type))


class Range_1(RangeBase):
    """Numbers from `start` to `stop` (excluded), `step` apart, in the type of the inputs."""

    since = 1
    start = operand(NUMERIC - types("u1 i4 u4"), rank=0, value=True)
    stop = operand(NUMERIC - types("u1 i4 u4"), rank=0, like="start", value=True)
    step = operand(NUMERIC - types("u1 i4 u4"), rank=0, like="start", value=True)

    def result_type(self, start: Tensor, stop: Tensor, step: Tensor) -> ElementType:
        return common_type(start, stop, step)


class Range_4(RangeBase):
    """Numbers from `start` to `stop` (excluded), `step` apart, in `output_type`.

    For an integer type, the three inputs are first rounded towards zero.
    """

    since = 4
    start = operand(NUMERIC, rank=0, value=True)
    stop = operand(NUMERIC, rank=0, value=True)
    step = operand(NUMERIC, rank=0, value=True)
    output_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)

    def result_type(self, start: Tensor, stop: Tensor, step: Tensor) -> ElementType:
        return self.output_type

    def infer(self, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
        if self.output_type.kind == "boolean":
            raise Violation.of(self.no_numbers())
        return super().infer(start, stop, step)

    def no_numbers(self) -> Fault:
        seen = str(self.output_type)
        wanted = "a numeric type"
        return fault(at="output_type", expected=wanted, actual=seen, rule=ATTRIBUTE_VALUE)

    def check(self, start: Tensor, stop: Tensor, step: Tensor) -> Iterator[Fault]:
        if self.output_type.kind == "string":
            yield self.no_numbers()
        bounds = self.bounds(start, stop, step)
        if bounds is not None and bounds[2] == (0, 0):
            seen = step.value.lower[0] if step.value else 0
            wanted = f"a number other than 0 as {self.output_type}"
            yield fault(at="step", expected=wanted, actual=seen, rule=INPUT_VALUE)
