"""Operations that move blocks of elements between axes, or use patches of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ...faults import Between, Fault, require
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_VALUE, OPERATION_CONSTRAINT
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, UNBOUNDED, Dimension, PartialShape
from .. import conditions
from ..axes import divided, listed
from ..conversion import encoded, plain
from ..declaration import ANY, I32_I64, INTEGER, Operation, at_least, attribute, operand
from ..differences import facts, not_run, of_version
from ..kinds import INT, NATURALS, POSITIVES, Choice
from ..lazy import Array, element_type_of, np
from ..tensors import Tensor
from ..windows import Frame, along_last, padded, reached
from .broadcasting import negative_sizes, wanted_dimensions
from .padding import blank


class DepthOrSpace(Operation):
    """The base class of DepthToSpace and SpaceToDepth.

    DepthToSpace moves channels into spatial blocks of `block_size`, SpaceToDepth does the reverse.
    """

    moves = ("data",)
    data = operand(ANY, rank=at_least(3))
    block_size: int = attribute(INT)
    mode: str = attribute(
        Choice("blocks_first", "depth_first"), default="blocks_first", required=True
    )

    def infer(self, data: Tensor) -> Tensor:
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        block = self.block_size
        # not declared: OpenVINO checks it only if the rank of `data` is known
        conditions.at_least(block, 1, at="block_size", rule=ATTRIBUTE_VALUE)
        return Tensor(data.element_type, self.moved(data.shape, block, block ** (data.rank - 2)))

    def moved(self, shape: PartialShape, block: int, count: int) -> list[Dimension]:
        """Returns the dimensions of the result. `count` is the number of elements in a block."""
        raise NotImplementedError


class DepthToSpace(DepthOrSpace):
    """Rearranges channels into spatial blocks."""

    since = 1

    def moved(self, shape: PartialShape, block: int, count: int) -> list[Dimension]:
        depth = divided(shape[1], count, f"the depth (dimension 1) of `data` {shape}", "block_size")
        return [shape[0], depth, *(dim * block for dim in shape[2:])]

    def evaluate(self, data: Array) -> Array:
        batch, depth, *space = data.shape
        block, axes = self.block_size, len(space)
        blocks = [block] * axes
        depth //= block**axes
        if self.mode == "blocks_first":
            split, first, depth_axis = [batch, *blocks, depth, *space], 1, axes + 1
        else:
            split, first, depth_axis = [batch, depth, *blocks, *space], 2, 1
        pairs = [axis for i in range(axes) for axis in (axes + 2 + i, first + i)]
        spread = data.reshape(split).transpose([0, depth_axis, *pairs])
        return spread.reshape([batch, depth, *(size * block for size in space)])


class SpaceToDepth(DepthOrSpace):
    """Rearranges spatial blocks into channels."""

    since = 1

    def moved(self, shape: PartialShape, block: int, count: int) -> list[Dimension]:
        space = [
            divided(dim, block, f"dimension {i} of `data` {shape}", "block_size")
            for i, dim in enumerate(shape[2:], 2)
        ]
        return [shape[0], shape[1] * count, *space]

    def evaluate(self, data: Array) -> Array:
        batch, depth, *space = data.shape
        block, axes = self.block_size, len(space)
        split = [part for size in space for part in (size // block, block)]
        outer, inner = [2 + 2 * i for i in range(axes)], [3 + 2 * i for i in range(axes)]
        order = [0, *inner, 1, *outer] if self.mode == "blocks_first" else [0, 1, *inner, *outer]
        blocks = data.reshape([batch, depth, *split]).transpose(order)
        return blocks.reshape([batch, depth * block**axes, *(size // block for size in space)])


class BatchBlocks(Operation):
    """The base class of BatchToSpace and SpaceToBatch.

    BatchToSpace moves elements of the batch into spatial blocks, SpaceToBatch does the reverse.
    `block_shape` and the next two inputs have an element for each axis. For the batch axis, the
    elements are 1, 0 and 0.
    """

    data = operand(ANY, rank=at_least(2))

    def require_same_lists(
        self, data: Tensor, lists: tuple[Tensor, ...], *, longer: bool = False
    ) -> None:
        """Raises `Violation` unless the lists have the same length, which is the rank of `data`.

        longer: whether the lists may have more elements than `data` has axes.
        """
        shared = DYNAMIC_SHAPE
        for declared, tensor in zip(self.operands[1:], lists, strict=True):
            shared = conditions.equal(tensor.shape, shared, at=declared.name)
        if data.rank is not None and shared.rank is not None:
            wanted = Between(data.rank, None) if longer else data.rank
            conditions.count(shared[0], wanted, at="block_shape", of="data", given=data.shape)

    def check(self, data: Tensor, *lists: Tensor) -> Iterator[Fault]:
        for declared, tensor in zip(self.operands[1:], lists, strict=True):
            if tensor.known:
                wanted = int(declared.name == "block_shape")
                facts = {"at": declared.name, "axis": 0, "rule": INPUT_VALUE}
                yield from conditions.doubted(
                    conditions.equal, tensor.known[0], wanted, accepted=True, **facts
                )


def _blocks_in_space(block_shape: Array) -> list[int]:
    """Returns the block sizes of the spatial axes; the block size of the batch must be 1."""
    conditions.equal(int(block_shape[0]), 1, at="block_shape", axis=0, rule=INPUT_VALUE)
    return [int(size) for size in block_shape[1:]]


class BatchToSpace(BatchBlocks):
    """Rearranges elements of the batch into spatial blocks, and crops the result."""

    since = 2
    moves = ("data",)
    block_shape = operand(INTEGER, rank=1, like="block_shape", value=True)
    crops_begin = operand(INTEGER, rank=1, like="block_shape", value=True)
    crops_end = operand(INTEGER, rank=1, like="block_shape", value=True)

    def infer(self, data: Tensor, *lists: Tensor) -> Tensor:
        self.require_same_lists(data, lists)
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        blocks, begin, end = (each.known for each in lists)
        conditions.at_least(blocks or (), 1, at="block_shape")
        batch = DYNAMIC
        if blocks is not None:
            what = f"the batch (dimension 0) of `data` {data.shape}"
            batch = divided(data.shape[0], prod(blocks), what, "block_shape")
        dims = [batch]
        if begin is not None and end is not None:
            conditions.at_least(begin, 0, at="crops_begin")
            conditions.at_least(end, 0, at="crops_end")
        for axis in range(1, data.rank):
            if begin is None or end is None:
                dims.append(DYNAMIC)
                continue
            crop = begin[axis] + end[axis]
            full = data.shape[axis] * (Dimension(1, UNBOUNDED) if blocks is None else blocks[axis])
            require(
                full.is_dynamic or crop <= full.low,
                f"crops of {begin[axis]} and {end[axis]} along axis {axis} exceed its size {full}",
                at="crops_begin",
                expected=f"at most {full} together",
                actual=crop,
                rule=INPUT_VALUE,
            )
            dims.append(full - crop)
        return Tensor(data.element_type, dims)

    def evaluate(
        self, data: Array, block_shape: Array, crops_begin: Array, crops_end: Array
    ) -> Array:
        blocks = _blocks_in_space(block_shape)
        axes = len(blocks)
        batch, *space = data.shape
        batch //= prod(blocks)
        order = [axes, *(axis for i in range(axes) for axis in (axes + 1 + i, i))]
        sizes = [size * block for size, block in zip(space, blocks, strict=True)]
        spread = data.reshape([*blocks, batch, *space]).transpose(order).reshape([batch, *sizes])
        keep = [
            slice(int(begin), size - int(end))
            for begin, size, end in zip(crops_begin[1:], sizes, crops_end[1:], strict=True)
        ]
        return spread[(slice(None), *keep)]


class SpaceToBatch(BatchBlocks):
    """Pads the input with zeros, and rearranges its spatial blocks into the batch."""

    since = 2
    block_shape = operand(INTEGER, rank=1, value=True)
    pads_begin = operand(INTEGER, rank=1, value=True)
    pads_end = operand(INTEGER, rank=1, value=True)

    def infer(self, data: Tensor, *lists: Tensor) -> Tensor:
        self.require_same_lists(data, lists, longer=True)
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        blocks, begin, end = (each.known for each in lists)
        dims = [DYNAMIC if blocks is None else data.shape[0] * max(prod(blocks), 0)]
        for axis in range(1, data.rank):
            if blocks is None or begin is None or end is None:
                dims.append(DYNAMIC)
                continue
            block, pad = blocks[axis], begin[axis] + end[axis]
            conditions.at_least(block, 1, at="block_shape")
            padded = data.shape[axis] + pad
            what = f"dimension {axis} of `data` {data.shape} with padding of {pad}"
            dims.append(
                padded.ceil_div(block)
                if padded.high == UNBOUNDED
                else divided(padded, block, what, "block_shape")
            )
        return Tensor(data.element_type, dims)

    def check(self, data: Tensor, *lists: Tensor) -> Iterator[Fault]:
        yield from super().check(data, *lists)
        for declared, tensor in zip(self.operands[1:], lists, strict=True):
            if data.rank is not None and tensor.rank == 1:
                facts = {"at": declared.name, "of": "data", "given": data.shape}
                yield from conditions.doubted(
                    conditions.count, tensor.shape[0], data.rank, accepted=True, **facts
                )
        yield from negative_sizes(lists[1], "pads_begin")
        yield from negative_sizes(lists[2], "pads_end")

    def evaluate(
        self, data: Array, block_shape: Array, pads_begin: Array, pads_end: Array
    ) -> Array:
        blocks = _blocks_in_space(block_shape)
        filler = blank((), data.dtype)
        area = padded(data, pads_begin.tolist(), pads_end.tolist(), filler)
        batch, *space = area.shape
        sizes = [size // block for size, block in zip(space, blocks, strict=True)]
        pairs = [part for pair in zip(sizes, blocks, strict=True) for part in pair]
        split = area.reshape([batch, *pairs])
        order = [*range(2, split.ndim, 2), 0, *range(1, split.ndim, 2)]
        return split.transpose(order).reshape([batch * prod(blocks), *sizes])


class ExtractImagePatches(Operation):
    """Patches of an image, with the elements of each patch as channels."""

    since = 3
    data = operand(ANY, rank=4)
    sizes: tuple[int, ...] = attribute(POSITIVES, default=(), required=True)
    strides: tuple[int, ...] = attribute(POSITIVES, default=(), required=True)
    rates: tuple[int, ...] = attribute(POSITIVES, default=(), required=True)
    auto_pad: str = attribute(Choice("valid", "same_upper", "same_lower"))

    def infer(self, data: Tensor) -> Tensor:
        for name in ("sizes", "strides", "rates"):
            values = getattr(self, name)
            conditions.count(len(values), 2, at=name, rule=ATTRIBUTE_VALUE)
            if name != "sizes":
                conditions.not_zero(values, at=name, rule=ATTRIBUTE_VALUE)
        if data.rank is None:
            return Tensor(data.element_type, PartialShape.of_rank(4))
        batch, depth, *image = data.shape
        patches = (self.patches(axis, dim) for axis, dim in enumerate(image))
        return Tensor(data.element_type, (batch, depth * prod(self.sizes), *patches))

    def patches(self, axis: int, dim: Dimension) -> Dimension:
        """Returns the number of patches along a spatial axis."""
        counts = sorted((self.count(axis, dim.low), self.count(axis, dim.high)))
        interval = Dimension(counts[0], UNBOUNDED if dim.high == UNBOUNDED else counts[1])
        reach = self.rates[axis] * (self.sizes[axis] - 1) if self.auto_pad == "valid" else 0
        stride = self.strides[axis]
        return dim.followed(interval, lambda size: ((size - 1 - reach) // stride + 1).maximum(0))

    def count(self, axis: int, size: int) -> int:
        """Returns the number of patches along a spatial axis of known size."""
        room = size - 1
        if self.auto_pad == "valid":
            room -= self.rates[axis] * (self.sizes[axis] - 1)
        return max(0, room // self.strides[axis] + 1)

    def evaluate(self, data: Array) -> Array:
        batch, depth, *image = data.shape
        counts = [self.count(axis, size) for axis, size in enumerate(image)]
        frame = Frame(self.sizes, self.strides, self.rates, (0, 0), (0, 0))
        if self.auto_pad != "valid":
            frame = frame.same(image, self.auto_pad)
            data = padded(data, frame.pads_begin, frame.pads_end)
        result = np.empty([batch, *self.sizes, depth, *counts], data.dtype)
        if result.size:
            for (row, column), where in reached(frame, counts):
                result[:, row, column] = data[along_last(where)]
        return result.reshape([batch, depth * prod(self.sizes), *counts])


_PER_AXIS = ("strides", "dilations", "pads_begin", "pads_end")


class Col2Im(Operation):
    """An image assembled from sliding blocks. Where blocks overlap, their elements are added."""

    since = 15
    released = ((15, "2024.2"),)
    differs = facts(
        not_run("2024.3", "Col2Im of opset15", of_version(15), since="2024.2"),
    )
    data = operand(ANY, rank=(2, 3))
    output_size = operand(I32_I64, rank=1, value=True)
    kernel_size = operand(I32_I64, rank=1, value=True)
    strides: tuple[int, ...] = attribute(POSITIVES, default=(1, 1))
    dilations: tuple[int, ...] = attribute(POSITIVES, default=(1, 1))
    pads_begin: tuple[int, ...] = attribute(NATURALS, default=(0, 0))
    pads_end: tuple[int, ...] = attribute(NATURALS, default=(0, 0))

    def infer(self, data: Tensor, output_size: Tensor, kernel_size: Tensor) -> Tensor:
        for name, tensor in (("output_size", output_size), ("kernel_size", kernel_size)):
            # not declared: OpenVINO refuses a list of unknown length too
            require(
                tensor.rank is None or tensor.shape[0] == 2,
                at=name,
                relation="count",
                expected=2,
                actual=tensor.shape,
            )
        for name in _PER_AXIS:
            seen, least = len(getattr(self, name)), Between(2, None)
            conditions.count(seen, least, at=name, rule=ATTRIBUTE_VALUE)
        conditions.not_zero(self.strides, at="strides", rule=ATTRIBUTE_VALUE)
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        batch, (block, count) = data.shape[:-2], data.shape[-2:]
        kernel, size = kernel_size.known, wanted_dimensions(output_size)
        channels = DYNAMIC
        if kernel is not None and block.is_static:
            conditions.at_least(prod(kernel), 1, at="kernel_size")
            what = f"channels times kernel (dimension {len(batch)}) of `data` {data.shape}"
            channels = divided(block, prod(kernel), what, "kernel_size")
        image = size or [DYNAMIC, DYNAMIC]
        if kernel is not None and count.is_static and all(dim.is_static for dim in image):
            sizes = [dim.low for dim in image]
            expected = prod(self.frame(kernel).steps(sizes))
            require(
                count.low == expected > 0,
                f"`data` {data.shape} contains {count} blocks, but an image of {listed(sizes)} "
                f"has {expected} positions for a kernel of {listed(kernel)}",
                at="data",
                relation="equal",
                expected=expected,
                actual=count,
                rule=OPERATION_CONSTRAINT,
            )
        return Tensor(data.element_type, (*batch, channels, *image))

    def check(self, data: Tensor, output_size: Tensor, kernel_size: Tensor) -> Iterator[Fault]:
        for name in _PER_AXIS:
            seen, facts = len(getattr(self, name)), {"at": name, "rule": ATTRIBUTE_VALUE}
            yield from conditions.doubted(conditions.count, seen, 2, accepted=True, **facts)
        yield from negative_sizes(output_size, "output_size")

    def frame(self, kernel: Sequence[int]) -> Frame:
        """Returns the geometry of a sliding kernel of this size."""
        pads = self.pads_begin[:2], self.pads_end[:2]
        return Frame(tuple(kernel), self.strides[:2], self.dilations[:2], *pads)

    def evaluate(self, data: Array, output_size: Array, kernel_size: Array) -> Array:
        image, kernel = [int(size) for size in output_size], [int(size) for size in kernel_size]
        frame = self.frame(kernel)
        counts = frame.steps(image)
        batch, channels = data.shape[0] if data.ndim == 3 else 1, data.shape[-2] // prod(kernel)
        numbers = plain(data.reshape([batch, channels, *kernel, *counts]))
        pads = zip(image, frame.pads_begin, frame.pads_end, strict=True)
        sizes = [size + begin + end for size, begin, end in pads]
        wide = np.zeros([batch, channels, *sizes], numbers.dtype)
        for (row, column), where in reached(frame, counts):
            wide[along_last(where)] += numbers[:, :, row, column]
        top, left = frame.pads_begin
        inside = wide[:, :, top : top + image[0], left : left + image[1]]
        return encoded(inside, element_type_of(data)).reshape((*data.shape[:-2], channels, *image))
