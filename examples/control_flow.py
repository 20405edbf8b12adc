"""An If whose branches disagree about a size, and a Loop that contains an If and another Loop.

An input gives the trip count of the outer Loop. The inner Loop has no trip count: it runs until
its condition is false.
"""

import numpy as np
import openvino as ov
from common import floats, ints, normal, result, write
from openvino import opset13 as op

WIDTH = 4


def wide_or_narrow(rng: np.random.Generator, x: ov.Node) -> list[ov.Output]:
    """An If: a projection to 6 columns if the sum is positive, otherwise 3 of the 4 columns."""
    then_x = op.parameter(ov.PartialShape([-1, WIDTH]), ov.Type.f32, name="then_x")
    projected = op.matmul(then_x, floats(normal(rng, WIDTH, 6)), False, False, name="project")
    then_results = [
        op.result(projected, name="then_values"),
        op.result(op.relu(then_x), name="then_rest"),
    ]

    else_x = op.parameter(ov.PartialShape([-1, WIDTH]), ov.Type.f32, name="else_x")
    parts = op.variadic_split(else_x, ints(1), ints([3, 1]), name="cut")
    padded = op.pad(parts.output(1), ints([0, 0]), ints([0, WIDTH - 1]), "constant", floats(-1.0))
    else_results = [
        op.result(op.tanh(parts.output(0)), name="else_values"),
        op.result(padded, name="else_rest"),
    ]

    branch = op.if_op(
        op.greater(op.reduce_sum(x, ints([0, 1]), False), floats(0.0), name="is_positive").output(0)
    )
    branch.friendly_name = "wide_or_narrow"
    branch.set_then_body(ov.Model(then_results, [then_x], "then_body"))
    branch.set_else_body(ov.Model(else_results, [else_x], "else_body"))
    branch.set_input(x.output(0), then_x, else_x)
    return [branch.set_output(*pair) for pair in zip(then_results, else_results, strict=True)]


def halve_until_small(value: ov.Node) -> ov.Output:
    """A Loop without a trip count: halves a tensor while its largest magnitude is above 1."""
    inner = op.parameter(ov.PartialShape([-1, WIDTH]), ov.Type.f32, name="inner_value")
    halved = op.multiply(inner, floats(0.5), name="halved")
    inner_out = op.result(halved, name="inner_out")
    large = op.greater(op.reduce_max(op.abs(halved), ints([0, 1]), False), floats(1.0))
    go_on = op.result(large, name="still_large")
    loop = op.loop(ints(-1).output(0), op.constant(True).output(0))
    loop.friendly_name = "halve_until_small"
    loop.set_function(ov.Model([inner_out, go_on], [inner], "halve_body"))
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(inner, value.output(0), inner_out.output(0))
    return loop.get_iter_value(inner_out.output(0), -1)


def add_or_multiply(number: ov.Node, value: ov.Node) -> ov.Output:
    """An If inside a body: even iterations add their number, odd ones multiply by it."""
    then_value = op.parameter(ov.PartialShape([-1, WIDTH]), ov.Type.f32, name="then_value")
    then_number = op.parameter([], ov.Type.f32, name="then_number")
    else_value = op.parameter(ov.PartialShape([-1, WIDTH]), ov.Type.f32, name="else_value")
    else_number = op.parameter([], ov.Type.f32, name="else_number")
    added = op.result(op.add(then_value, then_number), name="added")
    multiplied = op.result(op.multiply(else_value, else_number), name="multiplied")
    even = op.equal(op.floor_mod(number, ints(2)), ints(0), name="is_even")
    branch = op.if_op(even.output(0))
    branch.friendly_name = "add_or_multiply"
    branch.set_then_body(ov.Model([added], [then_value, then_number], "add_body"))
    branch.set_else_body(ov.Model([multiplied], [else_value, else_number], "multiply_body"))
    branch.set_input(value.output(0), then_value, else_value)
    branch.set_input(op.convert(op.add(number, ints(2)), "f32").output(0), then_number, else_number)
    return branch.set_output(added, multiplied)


def nested(x: ov.Node, trips: ov.Node) -> tuple[ov.Output, ov.Output]:
    number = op.parameter([], ov.Type.i64, name="number")
    value = op.parameter(ov.PartialShape([-1, WIDTH]), ov.Type.f32, name="value")
    small = halve_until_small(
        op.add(op.multiply(add_or_multiply(number, value), floats(2.0)), floats(0.1))
    )
    value_out = op.result(small, name="value_out")
    mean_out = op.result(
        op.unsqueeze(op.reduce_mean(small, ints([1]), False), ints(0)), name="mean_out"
    )
    go_on = op.result(op.constant(True), name="go_on")
    loop = op.loop(trips.output(0), op.constant(True).output(0))
    loop.friendly_name = "nested"
    loop.set_function(ov.Model([value_out, mean_out, go_on], [number, value], "nested_body"))
    loop.set_special_body_ports([0, 2])
    loop.set_merged_input(value, x.output(0), value_out.output(0))
    means = loop.get_concatenated_slices(mean_out.output(0), 0, 1, 1, -1, 0)
    return loop.get_iter_value(value_out.output(0), -1), means


def build() -> ov.Model:
    rng = np.random.default_rng(5)
    x = op.parameter(ov.PartialShape(f"1..16,{WIDTH}"), ov.Type.f32, name="x")
    extra = op.parameter([], ov.Type.i64, name="extra_trips")
    values, rest = wide_or_narrow(rng, x)
    last, means = nested(x, op.add(extra, ints(2), name="trips"))
    results = [
        result(values, "values"),
        result(rest, "rest"),
        result(last, "last"),
        result(means, "means"),
    ]
    return ov.Model(results, [x, extra], "control_flow")


def main() -> None:
    write(build)


if __name__ == "__main__":
    main()
