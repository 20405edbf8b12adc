"""The last layers of YOLO networks: ReorgYolo and RegionYolo."""

from __future__ import annotations

from math import prod

from ...faults import require
from ...rule_ids import ATTRIBUTE_VALUE, OPERATION_CONSTRAINT
from ...shapes import DYNAMIC_SHAPE
from ..axes import divided
from ..conditions import at_least, between, large_enough
from ..declaration import ANY, REAL, Operation, attribute, operand
from ..kinds import BOOLEAN, FLOATS, INT, INTS, POSITIVES
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import dimension_of


class RegionYolo(Operation):
    """Applies the logistic function to position, objectness and class scores of every region.

    With `do_softmax`, class scores get softmax instead, and axes `axis` to `end_axis` are joined.
    """

    since = 1
    data = operand(REAL, rank=4)
    anchors: tuple[float, ...] = attribute(FLOATS, default=())
    axis: int = attribute(INT, default=0, required=True)
    coords: int = attribute(INT, default=0, required=True)
    classes: int = attribute(INT, default=0, required=True)
    end_axis: int = attribute(INT, default=0, required=True)
    num: int = attribute(INT, default=0, required=True)
    # the default is true in the specification, but false in OpenVINO
    do_softmax: bool = attribute(BOOLEAN, default=False)
    mask: tuple[int, ...] = attribute(INTS, default=())

    @property
    def regions(self) -> int:
        return self.num if self.do_softmax else len(self.mask)

    @property
    def per_region(self) -> int:
        """The number of channels of a region: coordinates, objectness, a score for each class."""
        return self.classes + self.coords + 1

    def infer(self, data: Tensor) -> Tensor:
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        if not self.do_softmax:
            channels = dimension_of(self.regions * self.per_region)
            return Tensor(data.element_type, [data.shape[0], channels, *data.shape[2:]])
        for name, axis in (("axis", self.axis), ("end_axis", self.end_axis)):
            between(axis, -4, 3, at=name, rule=ATTRIBUTE_VALUE)
        first, last = self.axis % 4, self.end_axis % 4
        flat = data.shape[first]
        for dim in data.shape[first + 1 : last + 1]:
            flat = flat * dim
        dims = [*data.shape[:first], flat, *data.shape[max(first, last) + 1 :]]
        return Tensor(data.element_type, dims)

    def evaluate(self, data: Array) -> Array:
        regions, per = self.regions, self.per_region
        images, _, height, width = data.shape
        used = data[:, : regions * per].astype(np.float32)
        values = used.reshape(images, regions, per, height, width)
        logistic = 1 / (1 + np.exp(-values))
        result = values.copy()
        last = self.coords + 1 if self.do_softmax else per
        result[:, :, :2] = logistic[:, :, :2]
        result[:, :, self.coords : last] = logistic[:, :, self.coords : last]
        if self.do_softmax and self.classes:
            scores = values[:, :, self.coords + 1 :]
            powers = np.exp(scores - scores.max(axis=2, keepdims=True))
            result[:, :, self.coords + 1 :] = powers / powers.sum(axis=2, keepdims=True)
        result = result.reshape(images, regions * per, height, width).astype(data.dtype)
        if not self.do_softmax:
            return result
        whole = np.concatenate([result, data[:, regions * per :]], axis=1)
        first, last = self.axis % 4, self.end_axis % 4
        flat = prod(data.shape[first : last + 1])
        return whole.reshape(*data.shape[:first], flat, *data.shape[last + 1 :])


class ReorgYolo(Operation):
    """Moves blocks of stride * stride points into channels, in the order that YOLO defines."""

    since, written = 1, 2
    data = operand(ANY, rank=4)
    stride: tuple[int, ...] = attribute(POSITIVES)

    def infer(self, data: Tensor) -> Tensor:
        wanted = "a positive number"
        require(self.stride, at="stride", expected=wanted, actual="empty", rule=ATTRIBUTE_VALUE)
        stride = self.stride[0]
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        if not stride:
            return Tensor(data.element_type, [data.shape[0], 0, 0, 0])
        at_least(stride, 1, at="stride", rule=ATTRIBUTE_VALUE)
        channels = data.shape[1]
        if channels.is_static:
            large_enough(channels, stride * stride, at="data", axis=1, rule=OPERATION_CONSTRAINT)
        sides = [
            divided(data.shape[axis], stride, f"dimension {axis} of `data` {data.shape}", "data")
            for axis in (2, 3)
        ]
        return Tensor(data.element_type, [data.shape[0], channels * (stride * stride), *sides])

    def evaluate(self, data: Array) -> Array:
        """Returns the result. If blocks do not divide the channels evenly, elements of other rows
        and images are read, as by the CPU plugin."""
        images, channels, height, width = data.shape
        stride = self.stride[0]
        area = stride * stride
        image, channel, row, column = np.ix_(*map(np.arange, data.shape))
        block, plane = np.divmod(channel, channels // area)
        from_row, from_column = row * stride + block // stride, column * stride + block % stride
        planes = image * (channels // area) + plane
        places = (planes * (height * stride) + from_row) * (width * stride) + from_column
        moved = data.ravel()[places]
        return moved.reshape(images, channels * area, height // stride, width // stride)
