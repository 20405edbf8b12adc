"""Every reduction, with axes that are positive, negative, scalar, empty, all, or run-time inputs.

Each operation reduces data of the interval shape [1..10,3,?,24] with keep_dims true and false; a
few more reduce integers, a scalar, and the result of another reduction.
"""

from collections.abc import Callable

import numpy as np
import openvino as ov
from common import floats, ints, result, write
from openvino import opset13 as op

NUMERIC: dict[str, Callable[..., ov.Node]] = {
    "mean": op.reduce_mean,
    "sum": op.reduce_sum,
    "prod": op.reduce_prod,
    "min": op.reduce_min,
    "max": op.reduce_max,
    "l1": op.reduce_l1,
    "l2": op.reduce_l2,
}
LOGICAL: dict[str, Callable[..., ov.Node]] = {
    "and": op.reduce_logical_and,
    "or": op.reduce_logical_or,
}
ALL = NUMERIC | LOGICAL
AXES = {"last": [-1], "spatial": [2, 3], "outer": [-2, 0], "unsorted": [3, 1, 0]}


def constant_axes(data: ov.Node, truth: ov.Node) -> list[ov.Node]:
    """Two reductions for each operation, one that keeps its axes and one that does not."""
    results = []
    for place, (name, reduce) in enumerate(ALL.items()):
        source = truth if name in LOGICAL else data
        for keep_dims in (True, False):
            which = list(AXES)[(place + keep_dims) % len(AXES)]
            suffix = "keep" if keep_dims else "drop"
            results.append(
                result(reduce(source, ints(AXES[which]), keep_dims), f"{name}_{which}_{suffix}")
            )
    return results


def run_time_axes(data: ov.Node, axis: ov.Node) -> list[ov.Node]:
    """Reductions with axes from an input: two axes that are kept, and one that is dropped.

    The logical reductions are missing: OpenVINO reads them with such axes, but its CPU plugin
    cannot run them.
    """
    pair = op.concat([axis, ints([2])], 0, name="axis_and_2")
    single = op.squeeze(axis, ints([0]), name="scalar_axis")
    results = []
    for name, reduce in NUMERIC.items():
        results.append(result(reduce(data, pair, True), f"{name}_run_time_keep"))
        results.append(result(reduce(data, single, False), f"{name}_run_time_drop"))
    return results


def special_axes(data: ov.Node, truth: ov.Node) -> list[ov.Node]:
    scalar = op.reduce_max(data, ints([0, 1, 2, 3]), False, name="all_dropped")
    return [
        result(op.reduce_mean(data, ints(1), False), "mean_scalar_axis"),
        result(
            op.reduce_mean(data, op.constant(np.array([-3, 0], dtype=np.int32)), True),
            "mean_i32_axes",
        ),
        result(
            op.reduce_mean(data, op.constant(np.array([3, 2], dtype=np.uint8)), False),
            "mean_u8_axes",
        ),
        result(op.reduce_mean(data, ints([]), True), "mean_no_axes"),
        result(op.reduce_mean(data, ints([0, 1, 2, 3]), True), "mean_all_kept"),
        result(scalar, "max_all_dropped"),
        result(op.reduce_sum(scalar, ints([]), True), "sum_of_a_scalar"),
        result(op.reduce_logical_and(truth, ints([1]), False), "and_of_three"),
        result(op.reduce_logical_or(truth, ints(-3), True), "or_of_three"),
        result(
            op.reduce_mean(op.reduce_sum(data, ints([1]), False), ints([1]), True), "mean_of_a_sum"
        ),
    ]


def integers(counts: ov.Node) -> list[ov.Node]:
    """Reductions of integers, negative and positive. ReduceMean also returns integers."""
    spread = op.add(
        op.multiply(counts, op.constant(np.array([7, -5, 3, -2], np.int32))),
        op.constant(np.int32(1)),
    )
    reductions = {name: NUMERIC[name] for name in ("mean", "sum", "prod", "min", "max", "l1")}
    return [
        result(reduce(spread, ints([-1]), False), f"{name}_of_integers")
        for name, reduce in reductions.items()
    ]


def build() -> ov.Model:
    raw = op.parameter(ov.PartialShape("1..10,3,?,24"), ov.Type.f32, name="data")
    axis = op.parameter([1], ov.Type.i64, name="axis")
    counts = op.parameter(ov.PartialShape("?,..6,4"), ov.Type.i32, name="counts")
    # Around 1, so that products over many elements neither vanish nor explode.
    data = op.add(op.multiply(raw, floats(0.0625)), floats(1.0), name="around_1")
    truth = op.greater(raw, floats(0.5), name="truth")
    results = (
        constant_axes(data, truth)
        + run_time_axes(data, axis)
        + special_axes(data, truth)
        + integers(counts)
    )
    return ov.Model(results, [raw, axis, counts], "reductions")


def main() -> None:
    write(build)


if __name__ == "__main__":
    main()
