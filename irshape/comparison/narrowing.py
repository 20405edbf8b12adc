"""Explains why a device's result differs from the specification, e.g. i64 computed as i32.

irshape tests each explanation: it computes the layer in the same way as the device.

Source: measured with the CPU plugin 2026.4: i64, u64 and u32 run as i32, f64 as f32, boolean as u8,
sums of 8-bit integers wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..element_types import ElementType
from ..execution.ranges import unrounded
from ..execution.session import ExecutionError, Session
from ..model.graph import Layer
from ..model.wiring import wire
from ..numbers.origins import has_nan
from ..numbers.statistics import F16_MAX, is_real
from ..numbers.tolerance import Tolerance
from ..numpy_types import Array, dtype_of
from ..ops.registry import declaration_of
from .explanations import DECOMPRESSED, LEFT_OUT, ON_LEVELS, ROUNDED_LIMITS, Kind, Remark
from .saturation import grid_of_input, saturated

HABITS = {"i64": "i32", "u64": "i32", "u32": "i32", "f64": "f32", "boolean": "u8"}
"""Maps each element type that devices do not support to the type in which they compute instead."""

SATURATED = (
    "the device multiplies 8-bit integers without VNNI instructions, and cuts each sum of two "
    "products to 16 bits"
)


class Difference(NamedTuple):
    """An output that has the same shape but other values in irshape than on a device."""

    session: Session
    layer: Layer
    port: int
    inputs: tuple[Array, ...]
    mine: Array
    theirs: Array
    tolerance: Tolerance
    alone: bool
    """Whether irshape computed the layer from the device's values of its inputs."""
    weights: Callable[[], Mapping[Layer, tuple[Array, ...]]]
    """Returns the weights as `decompressed_in_f32` computes them."""

    def alike(self, mine: Array, theirs: Array) -> bool:
        return mine.shape == theirs.shape and self.tolerance.alike(mine, theirs)

    def computed(self, inputs: tuple[Array, ...]) -> Array | None:
        """Returns irshape's value of the output for other inputs; None if the layer refuses
        them."""
        try:
            return self.session.evaluate(self.layer, inputs)[self.port]
        except (ExecutionError, IndexError):
            return None


def explanation(difference: Difference) -> Remark | None:
    """Returns the explanation that reproduces the device's result; None if there is none."""
    return next(filter(None, (explain(difference) for explain in EXPLANATIONS)), None)


def _habits(arrays: Sequence[Array]) -> Iterator[tuple[str, str, str]]:
    """Yields the conversions that a device applies to some of the arrays, since it does not support
    their types: the NumPy types before and after, and a sentence about the conversion."""
    for wide, narrow in HABITS.items():
        names = [dtype_of(ElementType.of(name)).name for name in (wide, narrow)]
        if any(array.dtype.name == names[0] for array in arrays):
            yield names[0], names[1], f"the device computes {wide} as {narrow}"


def _narrowed_inputs(of: Difference) -> Remark | None:
    for wide, narrow, reason in _habits(of.inputs):
        narrowed = tuple(
            _clipped(array, narrow) if array.dtype.name == wide else array for array in of.inputs
        )
        computed = of.computed(narrowed)
        if computed is not None and of.alike(_clipped(computed, of.theirs.dtype.name), of.theirs):
            return Remark(Kind.NARROWING, reason)
    return None


def _narrowed_output(of: Difference) -> Remark | None:
    for _, narrow, reason in _habits([of.mine] if of.mine.dtype.kind in "iu" else []):
        if of.alike(_clipped(of.mine, narrow).astype(of.mine.dtype), of.theirs):
            text = f"{reason}: it clips numbers to the range of {narrow}"
            return Remark(Kind.NARROWING, text)
    return None


def _nan_left_open(of: Difference) -> Remark | None:
    declared = declaration_of(of.layer)
    if declared is None or not declared.leaves_nan_open or not any(map(has_nan, of.inputs)):
        return None
    known = ~np.isnan(of.mine) if has_nan(of.mine) else np.ones(of.mine.shape, bool)
    for array in of.inputs:
        if array.shape == of.mine.shape and has_nan(array):
            known = known & ~np.isnan(array)
    if not of.alike(of.mine[known], of.theirs[known]):
        return None
    return Remark(
        Kind.LEFT_OPEN,
        f"the input contains NaN, for which the specification of {of.layer.type} defines no "
        "result; all other elements agree",
    )


def _nothing_reduced(of: Difference) -> Remark | None:
    """Explains a ReduceMax or ReduceMin of zero elements, for which the specification defines no
    value."""
    if of.layer.folded_type not in ("reducemax", "reducemin") or not of.inputs:
        return None
    if of.inputs[0].size or not of.mine.size or of.mine.shape != of.theirs.shape:
        return None
    return Remark(
        Kind.LEFT_OPEN,
        f"the specification of {of.layer.type} does not define its result for zero elements",
    )


def _wrapped_sum(of: Difference) -> Remark | None:
    declared = declaration_of(of.layer)
    if declared is None or declared.sums_up is None or not of.inputs:
        return None
    data = of.inputs[0]
    if data.dtype.itemsize != 1 or data.dtype.kind not in "iu":
        return None
    axes = tuple(int(axis) % data.ndim for axis in of.inputs[1].ravel())
    total = np.sum(data, axis=axes, dtype=data.dtype, keepdims=True)
    if of.theirs.ndim != data.ndim:
        total = np.squeeze(total, axis=axes)
    count = 1
    if declared.sums_up == "mean":
        count = int(np.prod([data.shape[axis] for axis in axes]))
    if not count:
        return None
    if of.alike((total.astype(np.int64) // count).astype(of.theirs.dtype), of.theirs):
        return Remark(Kind.WRAPPING, f"the device's sum of {data.dtype.name} wraps around")
    return None


def _beyond_f16(of: Difference) -> Remark | None:
    """Explains numbers beyond the range of f16. The device turns them into the largest f16 or
    infinity."""
    if of.tolerance.precision != "f16" or not is_real(of.mine):
        return None
    mine, theirs = of.mine.astype(np.float64), of.theirs.astype(np.float64)
    beyond = np.abs(mine) > F16_MAX
    arrived = beyond & (np.abs(theirs) >= F16_MAX) & (np.sign(theirs) == np.sign(mine))
    if not beyond.any() or not bool((arrived == beyond).all()):
        return None
    if not of.alike(of.mine[~beyond], of.theirs[~beyond]):
        return None
    return Remark(
        Kind.PRECISION,
        f"the device computes in f16: numbers beyond {F16_MAX:g} become this number or "
        "infinity; all other elements agree",
    )


def _decompressed(of: Difference) -> Remark | None:
    """Explains a weight that the device decompresses in f32 throughout. If `alone`, also accepts
    errors of at most two roundings to f16 or bf16."""
    outputs = of.weights().get(of.layer)
    if outputs is None:
        return None
    if of.port < len(outputs) and of.alike(outputs[of.port], of.theirs):
        return DECOMPRESSED
    unit = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(of.inputs[0].dtype.name)
    if unit is None or not of.alone:
        return None
    exact = of.mine.astype(np.float64)
    close = np.abs(exact - of.theirs) <= 2 * unit * np.abs(exact) + 2.0**-24
    return DECOMPRESSED if bool(np.all(close)) else None


def _level_at_a_tie(of: Difference) -> Remark | None:
    """Explains a FakeQuantize that is one quantization level off where its input is near the middle
    between two levels, or whose values differ by rounding errors of the output limits.

    Near the middle, rounding errors decide which of the two levels the device picks. "Near" means
    at most four roundings of the largest number involved, in the device's precision, and at most a
    quarter of a level.
    """
    if of.layer.folded_type != "fakequantize" or len(of.inputs) != 5 or not is_real(of.mine):
        return None
    steps = int(of.layer.attribute("levels") or 2) - 1
    data, low, high, out_low, out_high = (array.astype(np.float64) for array in of.inputs)
    with np.errstate(all="ignore"):
        step = (high - low) / steps
        level = (data - low) / step
        largest = np.maximum(np.abs(data), np.maximum(np.abs(low), np.abs(high))) / np.abs(step)
        near = np.minimum(4 * _ROUNDING[of.tolerance.precision] * largest, 0.25)
        distance = np.abs(level - np.floor(level) - 0.5)
        apart = np.abs(of.mine.astype(np.float64) - of.theirs.astype(np.float64))
        out_step = np.abs((out_high - out_low) / steps)
        moved = apart / out_step
        # a level is computed from limits that may be far larger
        roundings = 4 * _ROUNDING["f32"] * np.maximum(np.abs(out_low), np.abs(out_high))
        rounded = apart <= np.minimum(roundings, _LEVEL_ROUNDING * out_step)
    if not distance.shape == moved.shape == of.mine.shape:
        return None
    off = moved > 0.5
    if not bool((off <= ((distance <= near) & (moved < 1.5))).all()):
        return None
    if not of.alike(np.where(rounded, of.theirs, of.mine)[~off], of.theirs[~off]):
        return None
    if not off.any():
        return ROUNDED_LIMITS if rounded.any() else None
    count = int(off.sum())
    return Remark(
        Kind.TIES,
        f"{count} of {off.size} elements are one quantization level off, where the input lies "
        f"between two levels, at most {float(distance[off].max()):.2g} of a level from the middle; "
        "all other elements agree",
    )


def _saturated_sums(of: Difference) -> Remark | None:
    """Explains sums of products of 8-bit integers that a device without VNNI cuts to 16 bits."""
    if of.port or of.tolerance.precision != "f32":
        return None
    cut = saturated(of.session, of.layer, of.inputs, of.mine)
    if cut is None or not of.alike(cut[0], of.theirs):
        return None
    text = f"{SATURATED}: {cut[1]} change here; irshape agrees if it does the same"
    return Remark(Kind.SATURATION, text)


def _standardized_levels(of: Difference) -> Remark | None:
    """Explains a normalization (MVN) that the device computes from the quantized integers of a
    FakeQuantize. These integers are far larger than the numbers that they represent, so epsilon has
    almost no effect.
    Source: MVNTransformation of OpenVINO's low-precision transformations 2026.4."""
    if of.layer.folded_type not in ("groupnormalization", "mvn"):
        return None
    grid = grid_of_input(of.session, of.layer, 0)
    if grid is None:
        return None
    levels = (of.inputs[0] / np.float32(grid.step)).astype(of.inputs[0].dtype)
    computed = of.computed((levels, *of.inputs[1:]))
    return ON_LEVELS if computed is not None and of.alike(computed, of.theirs) else None


def _left_out(of: Difference) -> Remark | None:
    """Explains a FakeQuantize that the device leaves out: its output is its input."""
    limits = of.inputs[1:]
    if of.layer.folded_type != "fakequantize" or not leaves_out(of.layer, limits):
        return None
    return LEFT_OUT if of.alike(of.inputs[0], of.theirs) else None


EXPLANATIONS: tuple[Callable[[Difference], Remark | None], ...] = (
    _narrowed_inputs,
    _narrowed_output,
    _nan_left_open,
    _nothing_reduced,
    _wrapped_sum,
    _beyond_f16,
    _level_at_a_tie,
    _saturated_sums,
    _left_out,
    _standardized_levels,
    _decompressed,
)
"""The possible explanations. The first that reproduces the device's result is reported."""


def leaves_out(layer: Layer, limits: Sequence[Array]) -> bool:
    """Returns whether the device leaves out a FakeQuantize with these limits.

    limits: low and high of the input, then of the output.
    Source: FQStrippingTransformation of OpenVINO's low-precision transformations 2026.4, which the
    CPU plugin runs for 65,536 levels.
    """
    if layer.attribute("levels") != "65536" or len(limits) != 4:
        return False
    low, high, out_low, out_high = (limit.astype(np.float64) for limit in limits)
    return all(
        bool(np.all(np.abs(given - other) < np.maximum(1e-6, 1e-2 * np.abs(given))))
        for given, other in ((low, out_low), (high, out_high))
    )


def next_to_a_step(
    layer: Layer,
    limits: Sequence[Array],
    given: tuple[Array, Array],
    results: tuple[Array, Array],
) -> Remark | None:
    """Explains a layer that is at most one step off although its inputs are nearly equal.

    The layer is a Round, Floor, Ceiling, FakeQuantize or Convert to integers.
    given, results: irshape's and the device's values of the input and of the output. limits: the
    other inputs, e.g. the limits of a FakeQuantize.
    """
    mine, theirs = (result.astype(np.float64) for result in results)
    if not is_real(given[0]) or given[0].shape != given[1].shape or mine.shape != given[0].shape:
        return None
    both_nan = np.isnan(mine) & np.isnan(theirs)
    apart = np.abs(mine - theirs)
    if layer.folded_type == "fakequantize":
        if len(limits) != 4:
            return None
        with np.errstate(all="ignore"):  # a level is a real number, with rounding errors
            level = apart / level_size(layer, limits)
        off = ~(level <= _LEVEL_ROUNDING) & ~both_nan
        at_most_one = bool((np.abs(level[off] - 1) <= _LEVEL_ROUNDING).all())
    else:
        declared = declaration_of(layer)
        if declared is None or not declared.stepwise:
            return None
        if layer.folded_type == "convert" and results[0].dtype.kind not in "iu":
            return None
        off = ~(apart == 0) & ~both_nan
        at_most_one = bool((apart[off] <= 1).all())
    if not off.any() or not at_most_one:
        return None
    distance = np.abs(given[0].astype(np.float64) - given[1].astype(np.float64))[off].max()
    return Remark(
        Kind.STEPS,
        f"{int(off.sum())} of {off.size} elements are one step off, where the input lies next to a "
        f"step: irshape's and the device's inputs differ by at most {float(distance):.2g} there; "
        "all other elements agree",
    )


_LEVEL_ROUNDING = 0.01
"""How far the difference of two FakeQuantize outputs may be from a whole number of levels."""


def level_size(layer: Layer, limits: Sequence[Array]) -> Array:
    """Returns the distance of neighbouring output values of a FakeQuantize with these limits."""
    low, high = (limit.astype(np.float64) for limit in limits[2:])
    steps = max(int(layer.attribute("levels") or 2) - 1, 1)
    with np.errstate(all="ignore"):
        return np.abs((high - low) / steps)


_ROUNDING = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
"""The largest relative error of one rounding in each precision."""


def decompressed_in_f32(session: Session) -> dict[Layer, tuple[Array, ...]]:
    """Returns f32 weights, with the whole decompression computed in f32, as by the CPU plugin
    (2026.4). Leaves out weights for which the IR rounds no intermediate value to f16 or bf16."""
    layers, wiring = session.model.net.layers, wire(session.model.net)
    values: dict[int, Array] = {}
    rounded: set[int] = set()
    """Positions of the layers whose values the IR would round to f16 or bf16."""
    weights: dict[Layer, tuple[Array, ...]] = {}
    for position in wiring.order:
        layer = layers[position]
        sources = [source[0] for source in wiring.sources[position] if source is not None]
        declared = declaration_of(layer)
        if (
            declared is None
            or declared.decompresses is None
            or len(layer.outputs) != 1
            or not sources
            or any(at not in values and not layers[at].is_constant for at in sources)
        ):
            continue
        try:
            inputs = tuple(
                values[at] if at in values else session.constant(layers[at]) for at in sources
            )
            values[position] = _in_f32(session, layer, inputs)
        except (ExecutionError, IndexError):
            continue
        narrow = layer.outputs[0].precision in ("FP16", "BF16")
        rounds = narrow and declared.decompresses == "rounding"
        if rounds or any(at in rounded for at in sources):
            rounded.add(position)
            if not narrow and values[position].dtype == np.float32:
                weights[layer] = (values[position],)
    return weights


def _in_f32(session: Session, layer: Layer, inputs: tuple[Array, ...]) -> Array:
    """Computes one layer of a weight decompression in f32 instead of f16 or bf16. Raises
    `ExecutionError`."""
    if layer.folded_type != "convert":
        return session.evaluate(layer, tuple(map(unrounded, inputs)))[0]
    to_real = layer.outputs[0].precision in ("FP16", "BF16", "FP32")
    if not to_real:  # the indices of a codebook
        return session.evaluate(layer, inputs)[0]
    if inputs[0].dtype.metadata is None:
        return inputs[0].astype(np.float32)
    return session.evaluate(layer, inputs)[0].astype(np.float32)


def _clipped(array: Array, name: str) -> Array:
    """Converts an array to a type with fewer bits. Clips integers to the range of the type."""
    kind = np.dtype(name)
    if kind.kind in "iu" and array.dtype.kind in "iu":
        limits = np.iinfo(kind)
        return np.asarray(np.clip(array.astype(object), limits.min, limits.max)).astype(kind)
    with np.errstate(all="ignore"):
        return array.astype(kind)
