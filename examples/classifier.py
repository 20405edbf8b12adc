"""A residual image classifier of a fixed size, with folded batch normalisation and a softmax.

The normalisation of the image is part of the graph, as a converter leaves it, and the weights are
stored as f16 with a Convert behind each: this is what `openvino.save_model` does unless it is told
not to.
"""

import numpy as np
import openvino as ov
from common import dense, floats, ints, normal, result, write
from openvino import opset13 as op


def convolution(
    rng: np.random.Generator,
    x: ov.Node,
    inputs: int,
    outputs: int,
    name: str,
    *,
    kernel: int = 3,
    stride: int = 1,
) -> ov.Node:
    """Convolution without a bias, then a factor and a shift per channel (a folded batch norm)."""
    pad = [kernel // 2] * 2
    weights = floats(normal(rng, outputs, inputs, kernel, kernel))
    y = op.convolution(x, weights, [stride] * 2, pad, pad, [1, 1], name=name)
    return batch_norm(rng, y, outputs, name)


def batch_norm(rng: np.random.Generator, x: ov.Node, channels: int, name: str) -> ov.Node:
    factor = floats(1.0 + normal(rng, 1, channels, 1, 1, scale=0.1))
    shift = floats(normal(rng, 1, channels, 1, 1, scale=0.1))
    return op.add(op.multiply(x, factor, name=f"{name}/bn_scale"), shift, name=f"{name}/bn_shift")


def residual(
    rng: np.random.Generator, x: ov.Node, inputs: int, outputs: int, name: str, *, stride: int = 1
) -> ov.Node:
    y = op.relu(
        convolution(rng, x, inputs, outputs, f"{name}/conv1", stride=stride), name=f"{name}/relu1"
    )
    y = convolution(rng, y, outputs, outputs, f"{name}/conv2")
    if stride != 1:
        # An average over the 2x2 windows, those at the border without their padding, before the 1x1
        # projection.
        x = op.avg_pool(
            x, [stride] * 2, [0, 0], [0, 0], [2, 2], True, "ceil", "explicit", name=f"{name}/pool"
        )
        x = convolution(rng, x, inputs, outputs, f"{name}/shortcut", kernel=1)
    return op.relu(op.add(x, y, name=f"{name}/add"), name=f"{name}/relu2")


def separable(
    rng: np.random.Generator, x: ov.Node, inputs: int, outputs: int, name: str
) -> ov.Node:
    """A depthwise convolution, squeeze and excitation, a pointwise convolution."""
    weights = floats(normal(rng, inputs, 1, 1, 3, 3, scale=0.3))
    y = op.group_convolution(
        x, weights, [1, 1], [0, 0], [0, 0], [1, 1], "same_upper", name=f"{name}/depthwise"
    )
    y = op.clamp(batch_norm(rng, y, inputs, f"{name}/depthwise"), 0.0, 6.0, name=f"{name}/relu6")
    squeezed = op.reduce_mean(y, ints([2, 3]), True, name=f"{name}/squeeze")
    narrow = op.relu(
        op.convolution(
            squeezed, floats(normal(rng, 6, inputs, 1, 1)), [1, 1], [0, 0], [0, 0], [1, 1]
        )
    )
    wide = op.convolution(
        narrow, floats(normal(rng, inputs, 6, 1, 1)), [1, 1], [0, 0], [0, 0], [1, 1]
    )
    y = op.multiply(y, op.sigmoid(wide), name=f"{name}/excite")
    return op.hswish(
        convolution(rng, y, inputs, outputs, f"{name}/pointwise", kernel=1), name=f"{name}/hswish"
    )


def build() -> ov.Model:
    rng = np.random.default_rng(1)
    image = op.parameter([1, 3, 32, 32], ov.Type.f32, name="image")
    mean = floats(np.reshape([0.485, 0.456, 0.406], (1, 3, 1, 1)))
    deviation = floats(np.reshape([0.229, 0.224, 0.225], (1, 3, 1, 1)))
    x = op.divide(op.subtract(image, mean, name="mean"), deviation, name="scale")
    x = op.relu(convolution(rng, x, 3, 12, "stem"), name="stem/relu")
    x = op.max_pool(
        x, [2, 2], [1, 1], [1, 1], [1, 1], [3, 3], "floor", "explicit", name="stem/pool"
    ).output(0)
    x = residual(rng, x, 12, 12, "block1")
    x = residual(rng, x, 12, 24, "block2", stride=2)
    x = separable(rng, x, 24, 32, "block3")
    features = op.reduce_mean(x, ints([2, 3]), False, name="global_pool")
    logits = dense(rng, op.unsqueeze(features, ints(1)), 32, 10, "head")
    probabilities = op.softmax(op.squeeze(logits, ints([1])), 1, name="softmax")
    return ov.Model(
        [result(probabilities, "probabilities"), result(features, "features")],
        [image],
        "classifier",
    )


def main() -> None:
    write(build, compress_to_fp16=True)


if __name__ == "__main__":
    main()
