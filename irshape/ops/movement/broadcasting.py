"""Broadcast and Tile, which repeat elements to fill a larger shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...faults import Between, Fault, Violation
from ...rule_ids import INPUT_COUNT, OPERATION_CONSTRAINT
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, ONE, Dimension, PartialShape
from ..axes import of_length, picked, repeated
from ..conditions import ascending, at_least, count, doubted, of_type, rank, within
from ..declaration import ANY, INTEGER, Operation, attribute, operand
from ..differences import NO_LOWER_BOUNDS, facts
from ..kinds import INT, Choice
from ..lazy import Array, np
from ..tensors import Tensor, Value


def wanted_dimensions(sizes: Tensor, minus_one: Dimension = DYNAMIC) -> list[Dimension] | None:
    """Returns the elements of `sizes` as dimensions; None if the value is unknown.

    As in OpenVINO, -1 becomes `minus_one` and any other negative number becomes 0.
    """
    value = sizes.value
    if value is None:
        return None
    return [
        minus_one if low == high == -1 else value.dimension(index) or Dimension(0)
        for index, (low, high) in enumerate(zip(value.lower, value.upper, strict=True))
    ]


def wanted_shape(sizes: Tensor) -> PartialShape:
    """Returns the shape whose dimensions are the elements of `sizes`; dynamic if unknown."""
    dims = wanted_dimensions(sizes)
    return of_length(sizes) if dims is None else PartialShape(dims)


def negative_sizes(sizes: Tensor, at: str) -> Iterator[Fault]:
    """Yields a fault for the first negative size, which OpenVINO accepts."""
    return doubted(at_least, sizes.known or (), 0, at=at, accepted=True)


class Broadcast(Operation):
    """The base class of all versions: `data` broadcast to `target_shape`."""

    differs = facts(NO_LOWER_BOUNDS)

    moves = ("data",)
    data = operand(ANY)
    target_shape = operand(INTEGER, rank=1, value=True)
    axes_mapping = operand(ANY, value=True, packed=True, optional=True)
    mode: str = "numpy"
    axis: int = 0

    def mode_for(self, axes_mapping: object) -> str:
        """Returns the mode in effect, which can depend on whether `axes_mapping` is present."""
        return self.mode

    def infer(self, data: Tensor, target_shape: Tensor, axes_mapping: Tensor | None) -> Tensor:
        mode = self.mode_for(axes_mapping)
        target = wanted_dimensions(target_shape)
        result = PartialShape(target) if target is not None else of_length(target_shape)
        if mode == "bidirectional":
            merged = data.shape.broadcast(result)
            if merged is None:
                raise self.misfit(data, result)
            return Tensor(data.element_type, merged)
        if mode == "explicit":
            assert axes_mapping is not None
            self.require_mapping(data, result, axes_mapping, known=target is not None)
        elif target is not None and mode == "pdpd":
            result = self.aligned(data, result)
        elif target is not None and data.rank is not None:
            least = Between(data.rank, None)
            count(len(target), least, at="target_shape", of="data", given=data.shape)
            for ours, theirs in zip(reversed(list(data.shape)), reversed(target), strict=False):
                if ours.is_static and theirs.is_static and ours not in (ONE, theirs):
                    raise self.misfit(data, result)
                if ours.is_dynamic and theirs.is_static:
                    ours.one_or(theirs.low)
        return Tensor(data.element_type, result)

    def require_mapping_input(self, needed: bool, axes_mapping: object) -> None:
        """Raises `Violation` unless `axes_mapping` is present if needed, and absent otherwise."""
        if needed == (axes_mapping is None):
            raise Violation(
                f"mode {self.mode} {'needs the' if needed else 'takes no'} input `axes_mapping`",
                at="axes_mapping",
                expected=f"{2 + needed} inputs",
                actual=f"{3 - needed} inputs",
                rule=INPUT_COUNT,
            )

    @staticmethod
    def misfit(data: Tensor, result: PartialShape) -> Violation:
        return Violation(
            at="target_shape",
            relation="broadcast",
            expected=data.shape,
            actual=result,
            of="data",
            rule=OPERATION_CONSTRAINT,
        )

    def aligned(self, data: Tensor, target: PartialShape) -> PartialShape:
        """Returns the shape in mode `pdpd`, where `data` begins at axis `axis` of the target."""
        if data.rank is None:
            return PartialShape.of_rank(len(target))
        start = len(target) - data.rank if self.axis == -1 else self.axis
        if not (start >= 0 and (start >= len(target) or len(target) - start <= data.rank)):
            raise Violation(
                f"`data` {data.shape} must have a dimension for each axis of the target shape "
                f"{target} from axis {start} on",
                at="mode.axis",
                relation="rank",
                expected=len(target) - start,
                actual=data.rank,
                rule=OPERATION_CONSTRAINT,
            )
        dims = list(target)
        for index in range(start, len(dims)):
            ours, theirs = data.shape[index - start], target[index]
            dim: Dimension | None = theirs
            if ours != 1:
                dim = ours if theirs == 1 else ours.merge(theirs)
            if dim is None:
                raise self.misfit(data, target)
            dims[index] = dim
        return PartialShape(dims)

    def require_mapping(
        self, data: Tensor, target: PartialShape, axes_mapping: Tensor, *, known: bool
    ) -> None:
        """Raises `Violation` unless `axes_mapping` maps the axes of `data` to axes of the target.

        The axes must ascend, and the dimensions must fit.
        known: whether the value of `target_shape` is known.
        """
        # not declared: OpenVINO does not check `axes_mapping` in the other modes
        rank(axes_mapping.rank, 1, at="axes_mapping")
        of_type(axes_mapping.element_type, INTEGER, at="axes_mapping")
        if data.rank is None or target.rank is None or not axes_mapping.shape.is_static:
            return
        length = axes_mapping.shape[0].low
        if data.rank or length != 1:
            count(length, data.rank, at="axes_mapping", of="data", given=data.shape)
        axes = axes_mapping.known
        if known and axes is not None:
            self.require_mapped(data.shape, target, axes)

    @staticmethod
    def require_mapped(data: PartialShape, target: PartialShape, axes: tuple[int, ...]) -> None:
        """Raises `Violation` unless the axes ascend and each dimension of `data` fits its axis."""
        ascending(axes, at="axes_mapping")
        within(axes, len(target), at="axes_mapping", of="target_shape", least=0)
        for index, axis in enumerate(axes):
            if data.rank:
                ours = data[index]
                fits = ours.contains(1) or ours.compatible(target[axis])
                if fits and ours.is_dynamic and target[axis].is_static:
                    ours.one_or(target[axis].low)
            else:
                ours, fits = ONE, target[axis].contains(1)
            if not fits:
                raise Violation(
                    f"dimension {index} of `data` {data} is mapped to axis {axis} of the target "
                    f"shape {target}, whose size is {target[axis]}; expected {ours}",
                    at="axes_mapping",
                    relation="equal",
                    expected=ours,
                    actual=target[axis],
                    rule=OPERATION_CONSTRAINT,
                )

    def check(
        self, data: Tensor, target_shape: Tensor, axes_mapping: Tensor | None
    ) -> Iterator[Fault]:
        yield from negative_sizes(target_shape, "target_shape")
        if axes_mapping is not None and self.mode_for(axes_mapping) == "explicit":
            yield from repeated(axes_mapping.known, at="axes_mapping")

    def laid_out(
        self, sizes: tuple[int, ...], rank: int, axes_mapping: Sequence[int] | None
    ) -> list[int]:
        """Returns the sizes of `data`, with 1s inserted for axes that only the result has."""
        mode = self.mode_for(axes_mapping)
        if mode == "explicit":
            assert axes_mapping is not None
            dims = [1] * rank
            for axis, size in zip(axes_mapping, sizes, strict=False):
                dims[axis] = size
            return dims
        start = self.axis if mode == "pdpd" and self.axis != -1 else rank - len(sizes)
        return [1] * start + list(sizes) + [1] * (rank - start - len(sizes))

    def infer_value(
        self,
        data: Tensor,
        target_shape: Tensor,
        axes_mapping: Tensor | None,
        outputs: tuple[Tensor, ...],
    ) -> Value | None:
        sizes, result = data.shape.static, outputs[0].shape.static
        axes = None if axes_mapping is None else axes_mapping.known
        if (
            data.value is None
            or sizes is None
            or result is None
            or (axes_mapping is not None and axes is None)
        ):
            return None
        laid_out = self.laid_out(sizes, len(result), axes)
        choices = [
            [0] * size if ours == 1 else range(size)
            for ours, size in zip(laid_out, result, strict=True)
        ]
        return data.value.take(picked(laid_out, choices))

    def evaluate(self, data: Array, target_shape: Array, axes_mapping: Array | None) -> Array:
        target = [int(size) for size in target_shape]
        axes = None if axes_mapping is None else axes_mapping.tolist()
        data = data.reshape(self.laid_out(data.shape, max(len(target), data.ndim), axes))
        if self.mode_for(axes) in ("bidirectional", "pdpd"):
            target = list(np.broadcast_shapes(data.shape, tuple(target)))
        return np.ascontiguousarray(np.broadcast_to(data, target)).reshape(target)


class Broadcast_1(Broadcast):
    """`data` broadcast to `target_shape`."""

    since = 1
    mode: str = attribute(Choice("numpy", "explicit", "none", "pdpd"), default="explicit")
    axis: int = attribute(INT, default=0, name="mode.auto_broadcast_axis")

    def mode_for(self, axes_mapping: object) -> str:
        if self.mode in ("explicit", "none"):
            return "numpy" if axes_mapping is None else "explicit"
        if self.mode != "numpy":
            self.require_mapping_input(True, axes_mapping)
        return self.mode


class Broadcast_3(Broadcast):
    """`data` broadcast to `target_shape`. In mode `bidirectional`, both shapes are broadcast."""

    since = 3
    mode: str = attribute(
        Choice("numpy", "explicit", "none", "bidirectional", "pdpd"), default="numpy"
    )
    axis: int = attribute(INT, default=0, name="mode.mode.axis")

    def mode_for(self, axes_mapping: object) -> str:
        explicit = self.mode in ("explicit", "none")
        self.require_mapping_input(explicit, axes_mapping)
        return "explicit" if explicit else self.mode


class Tile(Operation):
    """`data` repeated `repeats` times along each axis."""

    since = 1
    differs = facts(NO_LOWER_BOUNDS)
    data = operand(ANY)
    repeats = operand(INTEGER, rank=1, value=True)

    def infer(self, data: Tensor, repeats: Tensor) -> Tensor:
        times = wanted_dimensions(repeats, Dimension(0))
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        if times is None:
            count = of_length(repeats).rank
            if count is None:
                return Tensor(data.element_type, DYNAMIC_SHAPE)
            return Tensor(data.element_type, PartialShape.of_rank(max(data.rank, count)))
        rank = max(data.rank, len(times))
        sizes = [ONE] * (rank - data.rank) + list(data.shape)
        times = [ONE] * (rank - len(times)) + times
        dims = [size * time for size, time in zip(sizes, times, strict=True)]
        return Tensor(data.element_type, dims)

    def check(self, data: Tensor, repeats: Tensor) -> Iterator[Fault]:
        yield from negative_sizes(repeats, "repeats")

    def infer_value(
        self, data: Tensor, repeats: Tensor, outputs: tuple[Tensor, ...]
    ) -> Value | None:
        sizes, times = data.shape.static, repeats.known
        if data.value is None or sizes is None or times is None:
            return None
        rank = max(len(sizes), len(times))
        sizes, times = (1,) * (rank - len(sizes)) + sizes, (1,) * (rank - len(times)) + times
        choices = [
            list(range(size)) * max(time, 0) for size, time in zip(sizes, times, strict=True)
        ]
        return data.value.take(picked(sizes, choices))

    def evaluate(self, data: Array, repeats: Array) -> Array:
        return np.tile(data, [max(int(time), 0) for time in repeats])
