"""Recurrent cells applied along the time axis: forwards, backwards or both."""

from __future__ import annotations

from collections.abc import Iterator

from ...faults import Fault
from ...shapes import DYNAMIC, PartialShape
from ..conditions import equal
from ..declaration import ANY, Operand, attribute, operand
from ..kinds import BOOLEAN, STRINGS, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from .recurrent import GatedStep, LongShortTermStep, PlainStep, Recurrent, computing, result_type


class Recurrence(Recurrent):
    """The base class of cells applied along time. Outputs: all hidden states, then the last states.

    After the end of a sequence (`sequence_lengths`), outputs are 0 and states do not change.
    """

    X = operand(ANY, shape=("batch", "time", "input_size"))
    initial_hidden_state = operand(ANY, shape=("batch", "?", "hidden_size"), like="X")
    initial_cell_state: Operand | None = operand(ANY, shape=("batch", "?", "hidden_size"), like="X")
    sequence_lengths = operand(ANY, shape=("batch",))
    W = operand(ANY, rank=3, like="X")
    R = operand(ANY, shape=("?", "?", "hidden_size"), like="X")
    B = operand(ANY, rank=2, like="X")
    directional = 1
    direction: str = attribute(
        Choice("forward", "reverse", "bidirectional"), default="forward", required=True
    )

    @property
    def directions(self) -> int:
        return 2 if self.direction == "bidirectional" else 1

    def infer(self, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        named = self.named(inputs)
        states = self.states(named)
        sizes = self.dimensions(*inputs)
        batch = sizes.get("batch", DYNAMIC)
        hidden = self.hidden(named, sizes.get("hidden_size", DYNAMIC))
        # not declared: an attribute determines the number of directions
        for name, axis in [*((name, 1) for name in states), ("W", 0), ("R", 0), ("B", 0)]:
            tensor = named[name]
            if tensor.rank is not None:
                equal(tensor.shape[axis], self.directions, at=name, axis=axis)
        time = DYNAMIC if named["X"].rank is None else named["X"].shape[1]
        element_type = result_type(named)
        last = Tensor(element_type, PartialShape((batch, self.directions, hidden)))
        return (
            Tensor(element_type, PartialShape((batch, self.directions, time, hidden))),
            *(last for _ in states),
        )

    def check(self, *inputs: Tensor | None) -> Iterator[Fault]:
        unfit = self.unfit_activations()
        if unfit is not None and self.activations:
            yield unfit
        yield from super().check(*inputs)

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        data, *states, weights, recurrence, bias = computing(
            *(
                array
                for array, declared in zip(inputs, self.operands, strict=True)
                if declared.name != "sequence_lengths"
            )
        )
        lengths = inputs[len(states) + 1].astype(np.int64).clip(0, data.shape[1])
        backwards = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}[
            self.direction
        ]
        runs = [
            self.along_time(
                data,
                lengths,
                [state[:, i] for state in states],
                weights[i],
                recurrence[i],
                bias[i],
                backward=backward,
            )
            for i, backward in enumerate(backwards)
        ]
        return tuple(
            np.stack(parts, axis=1).astype(inputs[0].dtype) for parts in zip(*runs, strict=True)
        )

    def along_time(
        self,
        data: Array,
        lengths: Array,
        states: list[Array],
        weights: Array,
        recurrence: Array,
        bias: Array,
        *,
        backward: bool,
    ) -> list[Array]:
        """Returns all hidden states of one direction, then its last states."""
        batch, time = data.shape[:2]
        projected = data @ weights.T
        outputs = np.zeros((batch, time, states[0].shape[-1]), data.dtype)
        if bool((lengths == time).all()):
            for place in reversed(range(time)) if backward else range(time):
                states = self.step(projected[:, place], states, recurrence, bias)
                outputs[:, place] = states[0]
            return [outputs, *states]
        for moment in range(int(lengths.max(initial=0))):
            active = np.flatnonzero(moment < lengths)
            places = lengths[active] - 1 - moment if backward else np.full(len(active), moment)
            stepped = self.step(
                projected[active, places], [state[active] for state in states], recurrence, bias
            )
            states = [state.copy() for state in states] if moment == 0 else states
            for state, new in zip(states, stepped, strict=True):
                state[active] = new
            outputs[active, places] = stepped[0]
        return [outputs, *states]


class RNNSequence(Recurrence, PlainStep):
    """A plain recurrent network applied along time."""

    since = 5
    initial_cell_state = None


class GRUSequence(Recurrence, GatedStep):
    """A gated recurrent unit (GRU) applied along time."""

    since = 5
    activations: tuple[str, ...] = attribute(STRINGS, default=("sigmoid", "tanh"))
    linear_before_reset: bool = attribute(BOOLEAN, default=False)
    initial_cell_state = None


class LSTMSequence(Recurrence, LongShortTermStep):
    """A long short-term memory (LSTM) applied along time."""

    since = 5
    activations: tuple[str, ...] = attribute(STRINGS, default=("sigmoid", "tanh", "tanh"))
