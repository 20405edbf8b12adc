"""An SSD detector as converters wrote them around 2020: IR v10, fixed sizes, opset1 throughout.

ShapeOf and StridedSlice find the sizes for the prior boxes, Softmax ranks them, DetectionOutput
decodes and selects.
"""

import numpy as np
import openvino as ov
from common import floats, ints, normal, result, write
from openvino import opset1 as op

SIZE, CLASSES = 48, 3
BOXES = [(12.0, 9.0), (18.0, 18.0)], [(26.0, 20.0), (34.0, 38.0)]


def convolution(
    rng: np.random.Generator,
    x: ov.Node,
    inputs: int,
    outputs: int,
    name: str,
    *,
    stride: int = 1,
    gain: float = 1.0,
) -> ov.Node:
    weights = floats(gain * normal(rng, outputs, inputs, 3, 3))
    y = op.convolution(x, weights, [stride] * 2, [1, 1], [1, 1], [1, 1], name=name)
    return op.add(y, floats(normal(rng, 1, outputs, 1, 1, scale=0.1)), name=f"{name}/bias")


def prelu(rng: np.random.Generator, x: ov.Node, channels: int, name: str) -> ov.Node:
    return op.prelu(x, floats(rng.uniform(0.1, 0.4, channels)), name=name)


def spatial(x: ov.Node) -> ov.Node:
    """Height and width, read from the shape."""
    return op.strided_slice(op.shape_of(x), ints([2]), ints([4]), ints([1]), [0], [0])


def priors(
    features: ov.Node, image: ov.Node, boxes: list[tuple[float, float]], name: str
) -> ov.Node:
    """The boxes of a grid, and the variances that scale the network's answer: [1, 2, n]."""
    attributes = {
        "width": [np.float32(width) for width, _ in boxes],
        "height": [np.float32(height) for _, height in boxes],
        "clip": np.bool_(False),
        "offset": np.float32(0.5),
        "variance": [np.float32(value) for value in (0.1, 0.1, 0.2, 0.2)],
    }
    return op.unsqueeze(
        op.prior_box_clustered(spatial(features), spatial(image), attributes, name=name), ints([0])
    )


def flatten(x: ov.Node) -> ov.Node:
    """[1, channels, height, width] to [1, height * width * channels]."""
    return op.reshape(op.transpose(x, ints([0, 2, 3, 1])), ints([0, -1]), True)


def detection_output(locations: ov.Node, confidences: ov.Node, proposals: ov.Node) -> ov.Node:
    attributes = {
        "num_classes": np.int64(CLASSES),
        "background_label_id": np.int64(0),
        "top_k": np.int64(100),
        "keep_top_k": [np.int64(20)],
        "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
        "share_location": np.bool_(True),
        "nms_threshold": np.float32(0.45),
        "confidence_threshold": np.float32(0.01),
        "normalized": np.bool_(True),
    }
    return op.detection_output(
        locations, confidences, proposals, attributes, name="detection_output"
    )


def build() -> ov.Model:
    rng = np.random.default_rng(9)
    image = op.parameter([1, 3, SIZE, SIZE], ov.Type.f32, name="image")
    x = prelu(rng, convolution(rng, image, 3, 12, "conv1", stride=2), 12, "conv1/prelu")
    x = op.max_pool(x, [2, 2], [0, 0], [0, 0], [3, 3], "ceil", "explicit", name="pool1")
    x = op.lrn(x, ints([1]), 0.0001, 0.75, 1.0, 5, name="lrn")
    x = prelu(rng, convolution(rng, x, 12, 16, "conv2"), 16, "conv2/prelu")
    small = op.relu(convolution(rng, x, 16, 24, "conv3", stride=2), name="conv3/relu")

    # A transposed convolution in groups enlarges the coarse features to the size of the fine
    # features.
    raised = op.group_convolution_backprop_data(
        small,
        floats(normal(rng, 8, 3, 2, 4, 4, scale=0.2)),
        [2, 2],
        pads_begin=[1, 1],
        pads_end=[1, 1],
        dilations=[1, 1],
        name="raise",
    )
    large = op.normalize_l2(
        op.concat([x, raised], 1, name="join"), ints([1]), 1e-10, "add", name="normalise"
    )
    large = op.multiply(large, floats(np.full((1, 32, 1, 1), 4.0)), name="normalise/scale")

    locations, confidences, proposals = [], [], []
    for number, (features, channels, boxes) in enumerate(
        [(large, 32, BOXES[0]), (small, 24, BOXES[1])], 1
    ):
        located = convolution(rng, features, channels, len(boxes) * 4, f"head{number}/locations")
        ranked = convolution(
            rng, features, channels, len(boxes) * CLASSES, f"head{number}/classes", gain=2.5
        )
        locations.append(flatten(located))
        confidences.append(flatten(ranked))
        proposals.append(priors(features, image, boxes, f"head{number}/priors"))
    logits = op.reshape(op.concat(confidences, 1), ints([1, -1, CLASSES]), False)
    probabilities = op.reshape(
        op.softmax(logits, 2, name="softmax"), ints([1, -1]), False, name="confidences"
    )
    detections = detection_output(
        op.concat(locations, 1, name="locations"), probabilities, op.concat(proposals, 2)
    )
    return ov.Model([result(detections, "detections")], [image], "ir_v10")


def main() -> None:
    write(build, version="IR_V10")


if __name__ == "__main__":
    main()
