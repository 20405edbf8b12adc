"""A network quantised to eight bits: FakeQuantize on activations, stored integers with scales.

It has three kinds of weights: i8 with a scale for each channel, u8 with a scale and a zero point,
and f32 with a FakeQuantize. Integer and float execution agree: scales are powers of two, and the
biases of convolutions shift the sums by half a step, so no sum lies on the border between two
steps.
"""

import numpy as np
import openvino as ov
from common import floats, ints, normal, result, write
from openvino import opset13 as op

SIZE, CHANNELS, CLASSES = 28, 16, 10


def quantise(x: ov.Node, low: int, high: int, step: float, name: str) -> ov.Node:
    """FakeQuantize to the multiples of `step` from `low` to `high`."""
    limits = [floats(np.reshape(bound * step, (1,) * 4)) for bound in (low, high)]
    return op.fake_quantize(x, *limits, *limits, high - low + 1, name=name)


def steps(rng: np.random.Generator, channels: int, *exponents: int) -> np.ndarray:
    """A scale for each channel: two to the power of one of `exponents`."""
    return np.asarray(np.exp2(rng.choice(exponents, channels)), dtype=np.float32)


def signed_weights(
    rng: np.random.Generator, shape: tuple[int, ...], scale: np.ndarray, spread: int
) -> ov.Node:
    """Const i8, Convert, Multiply."""
    stored = np.clip(np.rint(normal(rng, *shape, scale=spread)), -127, 127).astype(np.int8)
    return op.multiply(
        op.convert(op.constant(stored), "f32"), floats(scale.reshape(-1, *[1] * (len(shape) - 1)))
    )


def unsigned_weights(
    rng: np.random.Generator, shape: tuple[int, ...], scale: np.ndarray, spread: int
) -> ov.Node:
    """Const u8, Convert, Subtract a zero point for each channel, Multiply."""
    of_channel = (-1, *[1] * (len(shape) - 1))
    zero = rng.integers(112, 144, shape[0]).astype(np.uint8).reshape(of_channel)
    stored = np.clip(np.rint(normal(rng, *shape, scale=spread)) + zero, 0, 255).astype(np.uint8)
    shifted = op.subtract(
        op.convert(op.constant(stored), "f32"), op.convert(op.constant(zero), "f32")
    )
    return op.multiply(shifted, floats(scale.reshape(of_channel)))


def faked_weights(
    rng: np.random.Generator, shape: tuple[int, ...], scale: np.ndarray, spread: int
) -> ov.Node:
    """Const f32 behind a FakeQuantize of 255 levels with limits for each channel."""
    of_channel = scale.reshape(-1, *[1] * (len(shape) - 1))
    limits = [floats(bound * of_channel) for bound in (-127, 127)]
    return op.fake_quantize(
        floats(normal(rng, *shape, scale=spread) * of_channel), *limits, *limits, 255
    )


def bias(rng: np.random.Generator, step: np.ndarray) -> ov.Node:
    """Random biases around zero: multiples of `step` plus half a step."""
    return floats(
        ((np.rint(normal(rng, step.size, scale=0.1) / step) + 0.5) * step).reshape(1, -1, 1, 1)
    )


def build() -> ov.Model:
    rng = np.random.default_rng(7)
    image = op.parameter(ov.PartialShape(f"?,1,{SIZE},{SIZE}"), ov.Type.f32, name="image")
    x = quantise(image, -128, 127, 2.0**-7, "image/fq")

    scale = steps(rng, CHANNELS, -7, -8)
    weights = signed_weights(rng, (CHANNELS, 1, 3, 3), scale, 40)
    x = op.convolution(x, weights, [2, 2], [1, 1], [1, 1], [1, 1], name="conv1")
    x = op.relu(op.add(x, bias(rng, scale * 2.0**-7), name="conv1/bias"), name="conv1/relu")
    x = quantise(x, 0, 255, 2.0**-7, "conv1/fq")

    scale = steps(rng, CHANNELS, -6, -7)
    weights = op.reshape(
        unsigned_weights(rng, (CHANNELS, 1, 3, 3), scale, 40), ints([CHANNELS, 1, 1, 3, 3]), False
    )
    y = op.group_convolution(x, weights, [1, 1], [1, 1], [1, 1], [1, 1], name="conv2")
    y = op.relu(op.add(y, bias(rng, scale * 2.0**-7), name="conv2/bias"), name="conv2/relu")
    y = quantise(y, 0, 255, 2.0**-6, "conv2/fq")

    scale = steps(rng, CHANNELS, -8, -9)
    weights = faked_weights(rng, (CHANNELS, CHANNELS, 1, 1), scale, 45)
    y = op.convolution(y, weights, [1, 1], [0, 0], [0, 0], [1, 1], name="conv3")
    y = op.add(y, bias(rng, scale * 2.0**-6), name="conv3/bias")
    x = quantise(op.add(x, y, name="residual"), -128, 127, 2.0**-5, "residual/fq")
    x = op.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2], name="pool").output(0)

    # The mean of 49 multiples of a step never lies exactly between two multiples.
    x = quantise(op.reduce_mean(x, ints([2, 3]), True, name="mean"), -128, 127, 2.0**-5, "mean/fq")
    x = op.reshape(x, ints([0, -1]), True)
    weights = signed_weights(rng, (CLASSES, CHANNELS), steps(rng, CLASSES, -6, -7), 50)
    logits = op.add(
        op.matmul(x, weights, False, True, name="head"), floats(normal(rng, 1, CLASSES, scale=0.1))
    )
    return ov.Model(
        [result(logits, "logits"), result(op.softmax(logits, 1), "probabilities")], [image], "int8"
    )


def main() -> None:
    write(build)


if __name__ == "__main__":
    main()
