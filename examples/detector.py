"""A one-stage detector: a backbone, a feature pyramid of two scales, a YOLO-style head, and NMS.

The head's output is decoded in the graph (cell grid, anchors, sigmoid and exp); NonMaxSuppression
then leaves a number of boxes that depends on the data, and each is gathered into a row: image,
class, score, four corners.
"""

import numpy as np
import openvino as ov
from common import dimension, floats, ints, normal, result, write
from openvino import opset13 as op

SIZE, CLASSES = 64, 3
GAIN = 4.0  # spreads the logits of the random weights, so that no two scores come close
FIELDS = 5 + CLASSES
ANCHORS = {8: [(10.0, 14.0), (22.0, 18.0)], 16: [(30.0, 36.0), (44.0, 52.0)]}


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
    pad = [kernel // 2] * 2
    weights = floats(normal(rng, outputs, inputs, kernel, kernel))
    y = op.convolution(x, weights, [stride] * 2, pad, pad, [1, 1], name=name)
    return op.add(y, floats(normal(rng, 1, outputs, 1, 1, scale=0.1)), name=f"{name}/bias")


def silu(x: ov.Node) -> ov.Node:
    return op.multiply(x, op.sigmoid(x))


def backbone(rng: np.random.Generator, image: ov.Node) -> tuple[ov.Node, ov.Node]:
    """Features at an eighth and a sixteenth of the image's size."""
    x = op.space_to_depth(image, "blocks_first", 2, name="focus")
    x = op.prelu(convolution(rng, x, 12, 12, "stem"), floats([0.1]), name="stem/leaky")
    x = silu(convolution(rng, x, 12, 16, "stage1", stride=2))
    fine = silu(convolution(rng, x, 16, 24, "stage2", stride=2))
    x = silu(convolution(rng, fine, 24, 24, "stage3", stride=2))
    pools = [
        op.max_pool(x, [1, 1], [1, 1], [p, p], [p, p], [2 * p + 1] * 2).output(0) for p in (1, 2)
    ]
    coarse = silu(
        convolution(rng, op.concat([x, *pools], 1, name="pyramid_pool"), 72, 24, "stage4", kernel=1)
    )
    return fine, coarse


def pyramid(rng: np.random.Generator, fine: ov.Node, coarse: ov.Node) -> dict[int, ov.Node]:
    """Enlarges the coarse features to the size of the fine features, and joins them."""
    size = op.slice(op.shape_of(fine, "i64"), ints([2]), ints([4]), ints([1]))
    enlarged = op.interpolate(
        convolution(rng, coarse, 24, 12, "lateral", kernel=1),
        size,
        "nearest",
        "sizes",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
        axes=ints([2, 3]),
        name="enlarge",
    )
    joined = op.concat([fine, enlarged], 1, name="join")
    return {8: silu(convolution(rng, joined, 36, 24, "smooth")), 16: coarse}


def grid(features: ov.Node) -> ov.Node:
    """The column and row of every cell: [1, 1, height, width, 2]."""
    height, width = dimension(features, 2), dimension(features, 3)
    rows = op.range(ints(0), op.squeeze(height, ints(0)), ints(1), "f32")
    columns = op.range(ints(0), op.squeeze(width, ints(0)), ints(1), "f32")
    shape = op.concat([height, width], 0)
    x = op.broadcast(columns, shape)
    y = op.broadcast(op.unsqueeze(rows, ints(1)), shape)
    return op.unsqueeze(
        op.concat([op.unsqueeze(x, ints(-1)), op.unsqueeze(y, ints(-1))], -1), ints([0, 1])
    )


def head(rng: np.random.Generator, features: ov.Node, stride: int) -> tuple[ov.Node, ov.Node]:
    """Boxes [batch, cells, 4] as centre and size in pixels, and class scores [batch, cells, 3]."""
    anchors = ANCHORS[stride]
    raw = op.multiply(
        convolution(rng, features, 24, len(anchors) * FIELDS, f"head{stride}", kernel=1),
        floats(GAIN),
    )
    shape = op.concat(
        [ints([0, len(anchors), FIELDS]), dimension(features, 2), dimension(features, 3)], 0
    )
    cells = op.transpose(op.reshape(raw, shape, True), ints([0, 1, 3, 4, 2]))
    parts = op.variadic_split(cells, ints(4), ints([2, 2, 1, -1]), name=f"head{stride}/split")
    shifted = op.subtract(op.multiply(op.sigmoid(parts.output(0)), floats(2.0)), floats(0.5))
    centre = op.multiply(op.add(shifted, grid(features)), floats(stride))
    factor = op.exp(op.multiply(op.tanh(parts.output(1)), floats(0.7)))
    sizes = op.multiply(factor, floats(np.reshape(anchors, (1, -1, 1, 1, 2))))
    scores = op.multiply(op.sigmoid(parts.output(2)), op.sigmoid(parts.output(3)))
    boxes = op.reshape(
        op.concat([centre, sizes], 4), ints([0, -1, 4]), True, name=f"head{stride}/boxes"
    )
    return boxes, op.reshape(scores, ints([0, -1, CLASSES]), True, name=f"head{stride}/scores")


def corners(boxes: ov.Node) -> ov.Node:
    """Converts centre and size to left, top, right, bottom, as fractions of the image's size."""
    centre, size = op.split(boxes, ints(2), 2).outputs()
    half = op.multiply(size, floats(0.5))
    both = op.concat([op.subtract(centre, half), op.add(centre, half)], 2)
    return op.divide(both, floats(SIZE), name="corners")


def build() -> ov.Model:
    rng = np.random.default_rng(6)
    image = op.parameter(ov.PartialShape(f"?,3,{SIZE},{SIZE}"), ov.Type.f32, name="image")
    heads = [
        head(rng, features, stride)
        for stride, features in pyramid(rng, *backbone(rng, image)).items()
    ]
    boxes = corners(op.concat([boxes for boxes, _ in heads], 1))
    scores = op.transpose(
        op.concat([scores for _, scores in heads], 1), ints([0, 2, 1]), name="scores"
    )

    # Rows of the selection are (image, class, box); its third output is their number.
    chosen = op.non_max_suppression(
        boxes, scores, ints(6), floats(0.45), floats(0.3), output_type="i64", name="nms"
    )
    selection = chosen.output(0)
    image_and_box = op.gather(selection, ints([0, 2]), ints(1))
    corner = op.gather_nd(boxes, image_and_box, 0, name="chosen_corners")
    score = op.gather_nd(scores, selection, 0, name="chosen_scores")
    image_and_class = op.convert(op.gather(selection, ints([0, 1]), ints(1)), "f32")
    rows = op.concat([image_and_class, op.unsqueeze(score, ints(1)), corner], 1)
    results = [
        result(rows, "detections"),
        result(chosen.output(2), "count"),
        result(boxes, "boxes"),
    ]
    return ov.Model(results, [image], "detector")


def main() -> None:
    write(build)


if __name__ == "__main__":
    main()
