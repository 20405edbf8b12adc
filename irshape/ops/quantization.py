"""Quantization: numbers brought to a few levels."""

from __future__ import annotations

from .conversion import plain
from .declaration import NUMERIC, Operation, attribute, operand, require
from .elementwise import AutoBroadcast, computed
from .kinds import NATURAL
from .lazy import Array, np
from .tensors import Tensor


class FakeQuantize(Operation):
    """`data` rounded to one of `levels` values between `output_low` and `output_high`, as if quantized and dequantized. Specification: FakeQuantize-1."""

    since = 1
    data = operand(NUMERIC)
    input_low = operand(NUMERIC, like="data")
    input_high = operand(NUMERIC, like="data")
    output_low = operand(NUMERIC, like="data")
    output_high = operand(NUMERIC, like="data")
    levels: int = attribute(NATURAL)
    auto_broadcast: str = attribute(AutoBroadcast(), default="numpy")

    def infer(self, data: Tensor, input_low: Tensor, input_high: Tensor, output_low: Tensor, output_high: Tensor) -> Tensor:
        shape = data.shape
        for name, bound in (("input_low", input_low), ("input_high", input_high), ("output_low", output_low), ("output_high", output_high)):
            if self.auto_broadcast == "none":
                together = shape.merge(bound.shape)
            else:
                together = shape.broadcast(bound.shape)
                require(
                    bound.rank is None or shape.rank is None or bound.rank <= shape.rank,
                    f"`{name}` has shape {bound.shape}, of a higher rank than `data`, {shape}",
                    at=name,
                    expected=f"rank {shape.rank} or less",
                    seen=bound.shape,
                    rule="input-shapes",
                )
            require(
                together is not None,
                f"`{name}` has shape {bound.shape}, which does not broadcast to `data`, {shape}",
                at=name,
                expected=shape,
                seen=bound.shape,
                rule="input-shapes",
            )
            assert together is not None
            shape = together
        return Tensor(data.element_type, shape)

    def evaluate(self, data: Array, input_low: Array, input_high: Array, output_low: Array, output_high: Array) -> Array:
        numbers, low, high, out_low, out_high = map(plain, (data, input_low, input_high, output_low, output_high))
        steps = numbers.dtype.type(self.levels - 1)
        level = np.rint((numbers - low) / (high - low) * steps)
        made = np.where(
            numbers <= np.minimum(low, high), out_low, np.where(numbers > np.maximum(low, high), out_high, level / steps * (out_high - out_low) + out_low)
        )
        return computed(made.astype(numbers.dtype, copy=False), data)
