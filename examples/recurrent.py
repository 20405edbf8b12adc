"""A sequence network with every kind of recurrence: TensorIterator, GRU, LSTM and Loop.

The TensorIterator steps an LSTMCell over the sequence, the Loop refines a state over the same steps
and stops early once the state is large enough; how often either body runs is known at run time
only.
"""

import numpy as np
import openvino as ov
from common import dimension, floats, ints, normal, result, write
from openvino import opset13 as op

FEATURES, HIDDEN = 8, 16


def initial_state(batch: ov.Node, *sizes: int) -> ov.Node:
    """Zeros with the batch of the input."""
    return op.broadcast(floats(0.0), op.concat([batch, ints(sizes)], 0))


def lstm_by_iterator(
    rng: np.random.Generator, x: ov.Node, batch: ov.Node
) -> tuple[ov.Output, ov.Output]:
    """An LSTM over axis 1 of [batch, sequence, 8]: all hidden states, and the last cell state."""
    step = op.parameter(ov.PartialShape([-1, 1, FEATURES]), ov.Type.f32, name="step")
    hidden = op.parameter(ov.PartialShape([-1, HIDDEN]), ov.Type.f32, name="hidden")
    cell = op.parameter(ov.PartialShape([-1, HIDDEN]), ov.Type.f32, name="cell")
    lstm = op.lstm_cell(
        op.squeeze(step, ints([1])),
        hidden,
        cell,
        floats(normal(rng, 4 * HIDDEN, FEATURES)),
        floats(normal(rng, 4 * HIDDEN, HIDDEN)),
        floats(normal(rng, 4 * HIDDEN, scale=0.1)),
        HIDDEN,
        name="lstm_cell",
    )
    hidden_out = op.result(lstm.output(0), name="hidden_out")
    cell_out = op.result(lstm.output(1), name="cell_out")
    step_out = op.result(op.unsqueeze(lstm.output(0), ints([1])), name="step_out")

    iterator = op.tensor_iterator()
    iterator.friendly_name = "lstm_iterator"
    iterator.set_body(ov.Model([hidden_out, cell_out, step_out], [step, hidden, cell], "lstm_body"))
    iterator.set_sliced_input(step, x.output(0), 0, 1, 1, -1, 1)
    iterator.set_merged_input(hidden, initial_state(batch, HIDDEN).output(0), hidden_out.output(0))
    iterator.set_merged_input(cell, initial_state(batch, HIDDEN).output(0), cell_out.output(0))
    steps = iterator.get_concatenated_slices(step_out.output(0), 0, 1, 1, -1, 1)
    last = iterator.get_iter_value(cell_out.output(0), -1)
    return steps, last


def gru_both_ways(
    rng: np.random.Generator, x: ov.Output, batch: ov.Node, lengths: ov.Node
) -> ov.Node:
    """A bidirectional GRU: [batch, sequence, 16] to [batch, sequence, 2 * 16]."""
    gru = op.gru_sequence(
        x,
        initial_state(batch, 2, HIDDEN),
        lengths,
        floats(normal(rng, 2, 3 * HIDDEN, HIDDEN, scale=0.25)),
        floats(normal(rng, 2, 3 * HIDDEN, HIDDEN, scale=0.25)),
        floats(normal(rng, 2, 4 * HIDDEN, scale=0.1)),
        HIDDEN,
        "bidirectional",
        linear_before_reset=True,
        name="gru",
    )
    both = op.transpose(gru.output(0), ints([0, 2, 1, 3]))
    return op.reshape(both, ints([0, 0, 2 * HIDDEN]), True, name="gru/merged")


def lstm_backwards(
    rng: np.random.Generator, x: ov.Node, batch: ov.Node, lengths: ov.Node
) -> ov.Node:
    """An LSTM from the last step to the first. Returns the final hidden state, [batch, 16]."""
    lstm = op.lstm_sequence(
        x,
        initial_state(batch, 1, HIDDEN),
        initial_state(batch, 1, HIDDEN),
        lengths,
        floats(normal(rng, 1, 4 * HIDDEN, 2 * HIDDEN, scale=0.2)),
        floats(normal(rng, 1, 4 * HIDDEN, HIDDEN, scale=0.2)),
        floats(normal(rng, 1, 4 * HIDDEN, scale=0.1)),
        HIDDEN,
        "reverse",
        name="lstm",
    )
    return op.squeeze(lstm.output(1), ints([1]), name="lstm/last")


def refine(
    rng: np.random.Generator, x: ov.Node, start: ov.Node, trips: ov.Node
) -> tuple[ov.Output, ov.Output]:
    """A Loop that adds to a state until its mean square passes a limit: the state, all squares."""
    iteration = op.parameter([], ov.Type.i64, name="iteration")
    step = op.parameter(ov.PartialShape([-1, 1, FEATURES]), ov.Type.f32, name="step")
    state = op.parameter(ov.PartialShape([-1, HIDDEN]), ov.Type.f32, name="state")
    weights = op.parameter([HIDDEN, FEATURES], ov.Type.f32, name="weights")
    change = op.tanh(op.matmul(op.squeeze(step, ints([1])), weights, False, True))
    pace = op.multiply(op.convert(op.add(iteration, ints(1)), "f32"), floats(0.5))
    grown = op.add(state, op.multiply(change, pace), name="grown")
    square = op.reduce_mean(op.multiply(grown, grown), ints([0, 1]), False, name="square")
    state_out = op.result(grown, name="state_out")
    square_out = op.result(op.unsqueeze(square, ints(0)), name="square_out")
    go_on = op.result(op.less(square, floats(0.6)), name="go_on")

    loop = op.loop(op.squeeze(trips, ints(0)).output(0), op.constant(True).output(0))
    loop.friendly_name = "refine"
    loop.set_function(
        ov.Model([go_on, state_out, square_out], [iteration, step, state, weights], "refine_body")
    )
    loop.set_special_body_ports([0, 0])
    loop.set_sliced_input(step, x.output(0), 0, 1, 1, -1, 1)
    loop.set_merged_input(state, start.output(0), state_out.output(0))
    loop.set_invariant_input(weights, floats(normal(rng, HIDDEN, FEATURES)).output(0))
    last = loop.get_iter_value(state_out.output(0), -1)
    squares = loop.get_concatenated_slices(square_out.output(0), 0, 1, 1, -1, 0)
    return last, squares


def build() -> ov.Model:
    rng = np.random.default_rng(4)
    x = op.parameter(ov.PartialShape(f"?,?,{FEATURES}"), ov.Type.f32, name="sequence")
    batch, trips = dimension(x, 0), dimension(x, 1)
    lengths = op.broadcast(op.convert(trips, "i32"), batch, name="lengths")
    steps, cell = lstm_by_iterator(rng, x, batch)
    both = gru_both_ways(rng, steps, batch, lengths)
    last = lstm_backwards(rng, both, batch, lengths)
    state, squares = refine(rng, x, last, trips)
    results = [
        result(both, "steps"),
        result(cell, "cell"),
        result(state, "state"),
        result(squares, "squares"),
    ]
    return ov.Model(results, [x], "recurrent")


def main() -> None:
    write(build)


if __name__ == "__main__":
    main()
