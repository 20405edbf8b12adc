"""Recurrent cells: one step of an LSTM, a GRU or a plain recurrent network.

`recurrent_sequences` applies their steps along time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from ...element_types import ElementType
from ...faults import Fault, Violation, fault
from ...rule_ids import ATTRIBUTE_VALUE, OPERATION_CONSTRAINT
from ...shapes import DYNAMIC, Dimension, PartialShape
from ..conditions import doubted, equal, of_type
from ..declaration import ANY, Operand, Operation, at_least, attribute, operand
from ..differences import Site, facts, refused
from ..elementwise import common_type
from ..kinds import BOOLEAN, FLOAT, FLOATS, NATURAL, STRINGS, Choice
from ..lazy import Array, np
from ..tensors import Tensor

ACTIVATIONS = ("sigmoid", "tanh", "relu", "hardsigmoid")


class Recurrent(Operation):
    """The base class of all cells and sequences.

    The states and weights of a sequence have one axis more than those of a cell: directions.
    """

    gates: ClassVar[int] = 1
    """The number of gates in `W` and `R`."""
    directional: ClassVar[int] = 0
    """The number of leading axes for directions: 1 for a sequence, 0 for a cell."""

    hidden_size: int = attribute(NATURAL, default=0, required=True)
    activations: tuple[str, ...] = attribute(STRINGS, default=("tanh",))
    activations_alpha: tuple[float, ...] = attribute(FLOATS, default=())
    activations_beta: tuple[float, ...] = attribute(FLOATS, default=())
    clip: float = attribute(FLOAT, default=0.0)

    @property
    def bias_gates(self) -> int:
        """The number of gates in `B`."""
        return self.gates

    def named(self, inputs: tuple[Tensor | None, ...]) -> dict[str, Tensor]:
        return {
            declared.name: tensor
            for declared, tensor in zip(self.operands, inputs, strict=False)
            if tensor is not None
        }

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        """Returns the multiply-adds of all steps: inputs times `W`, and states times `R`."""
        named = self.named(tuple(inputs))
        steps = named["X"].shape
        if steps.rank is None:
            return DYNAMIC
        weights = named["W"].shape.size + named["R"].shape.size
        return PartialShape(steps[: 1 + self.directional]).size * weights

    def states(self, named: dict[str, Tensor]) -> list[str]:
        """Returns the names of the operands that are initial states."""
        return [name for name in ("initial_hidden_state", "initial_cell_state") if name in named]

    def hidden(self, named: dict[str, Tensor], hidden: Dimension) -> Dimension:
        """Returns the hidden size, from the states (`hidden`) and the weights `W`, `R` and `B`.

        Raises `Violation` if the sizes contradict each other.
        """
        axis = self.directional
        for name, gates in (("W", self.gates), ("R", self.gates), ("B", self.bias_gates)):
            tensor = named.get(name)
            if (
                tensor is None
                or tensor.rank is None
                or not (hidden.is_static or (tensor.shape[0].is_static and name != "B"))
            ):
                continue
            rows = tensor.shape[axis]
            size = rows.divided(gates)
            merged = None if size is None else hidden.merge(size)
            if merged is None:
                wanted = f"a multiple of {gates}" if hidden.is_unbounded else hidden * gates
                raise Violation(
                    at=name, relation="equal", expected=wanted, actual=rows, position=axis
                )
            hidden = merged
        return hidden

    def unfit_activations(self) -> Fault | None:
        """Returns a fault if `activations` has too few or unknown functions, else None."""
        count = len(self.attributes["activations"].default)
        used = self.activations[:count]
        if len(used) == count and all(name.lower() in ACTIVATIONS for name in used):
            return None
        wanted, seen = f"{count} of {', '.join(ACTIVATIONS)}", ",".join(self.activations) or "empty"
        return fault(at="activations", expected=wanted, actual=seen, rule=ATTRIBUTE_VALUE)

    def check(self, *inputs: Tensor | None) -> Iterator[Fault]:
        named = self.named(inputs)
        data, weights = named["X"].shape, named["W"].shape
        if data.rank is not None and weights.rank is not None and not data[-1].merge(weights[-1]):
            yield fault(
                f"input_size is {data[-1]} in `X` {data}, but {weights[-1]} in `W` {weights}; "
                "OpenVINO reports this only when the layer runs",
                at="W",
                relation="equal",
                expected=data[-1],
                actual=weights[-1],
            )
        sizes = [
            size for name in self.states(named) for size in (named[name].shape.dims or ())[-1:]
        ]
        known = next((size for size in sizes if size.is_static), None)
        if known is not None and known != self.hidden_size != 0:
            yield fault(
                f"`hidden_size` is {self.hidden_size}, but the states have size {known}; "
                "OpenVINO uses the shapes",
                at="hidden_size",
                expected=known,
                actual=self.hidden_size,
                rule=ATTRIBUTE_VALUE,
            )
        if self.clip < 0:
            wanted = "a bound above 0, or 0 for no bound"
            yield fault(at="clip", expected=wanted, actual=self.clip, rule=ATTRIBUTE_VALUE)

    def clipped(self, gate: Array) -> Array:
        return np.clip(gate, -self.clip, self.clip) if self.clip > 0 else gate

    def activate(self, index: int, gate: Array) -> Array:
        """Returns the result of the activation function at this position of `activations`."""
        name = self.activations[index].lower()
        if name == "sigmoid":
            result = np.negative(gate)
            np.exp(result, out=result)
            result += 1
            return np.reciprocal(result, out=result)
        if name == "tanh":
            return np.tanh(gate)
        if name == "relu":
            return np.maximum(gate, 0)
        alpha = self.activations_alpha[index] if index < len(self.activations_alpha) else 0.2
        beta = self.activations_beta[index] if index < len(self.activations_beta) else 0.5
        return np.clip(gate * gate.dtype.type(alpha) + gate.dtype.type(beta), 0, 1)

    def step(
        self, projected: Array, states: list[Array], recurrence: Array, bias: Array
    ) -> list[Array]:
        """Returns the states after one step. `projected` is the input times `W`."""
        raise NotImplementedError


def result_type(named: dict[str, Tensor]) -> ElementType:
    """Returns the element type that the inputs share."""
    return common_type(*(named[name] for name in named if name not in ("sequence_lengths", "P")))


def computing(*arrays: Array) -> list[Array]:
    """Returns the arrays in the type of the computation: f64 stays f64, others become f32."""
    return [
        array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)
        for array in arrays
    ]


class Cell(Recurrent):
    """The base class of recurrent operations that compute a single step."""

    X = operand(ANY, shape=("batch", "input_size"))
    initial_hidden_state = operand(ANY, shape=("batch", "hidden_size"), like="X")
    initial_cell_state: Operand | None = operand(ANY, shape=("batch", "hidden_size"), like="X")
    W = operand(ANY, rank=2, like="X")
    R = operand(ANY, shape=("?", "hidden_size"), like="X")
    B = operand(ANY, rank=1, like="X")

    def infer(self, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        unfit = self.unfit_activations()
        if unfit is not None:
            raise Violation.of(unfit)
        named = self.named(inputs)
        states = self.states(named)
        sizes = self.dimensions(*inputs)
        batch, hidden = (sizes.get(axis, DYNAMIC) for axis in ("batch", "hidden_size"))
        shape = PartialShape((batch, self.hidden(named, hidden)))
        return tuple(Tensor(result_type(named), shape) for _ in states)

    def evaluate(self, *inputs: Array) -> tuple[Array, ...]:
        data, *states, weights, recurrence, bias = computing(*inputs)
        return tuple(
            state.astype(inputs[0].dtype)
            for state in self.step(data @ weights.T, states, recurrence, bias)
        )


class PlainStep(Recurrent):
    """The step of a plain recurrent network: H = f(X W + H R + B)."""

    def step(
        self, projected: Array, states: list[Array], recurrence: Array, bias: Array
    ) -> list[Array]:
        return [self.activate(0, self.clipped(projected + states[0] @ recurrence.T + bias))]


class GatedStep(Recurrent):
    """The step of a gated recurrent unit (GRU): H = (1 - z) h + z H.

    The gates are the update gate z, the reset gate r and the candidate h, in this order.
    """

    gates = 3
    linear_before_reset: bool

    @property
    def bias_gates(self) -> int:
        return 4 if self.linear_before_reset else 3

    def step(
        self, projected: Array, states: list[Array], recurrence: Array, bias: Array
    ) -> list[Array]:
        hidden = states[0]
        size = hidden.shape[-1]
        gated = projected[:, : 2 * size] + hidden @ recurrence[: 2 * size].T + bias[: 2 * size]
        gates = self.activate(0, self.clipped(gated))
        update, reset = gates[:, :size], gates[:, size:]
        recurrent = (
            reset * (hidden @ recurrence[2 * size :].T + bias[3 * size :])
            if self.linear_before_reset
            else reset * hidden @ recurrence[2 * size :].T
        )
        proposed = projected[:, 2 * size :] + recurrent + bias[2 * size : 3 * size]
        candidate = self.activate(1, self.clipped(proposed))
        return [(1 - update) * candidate + update * hidden]


class LongShortTermStep(Recurrent):
    """The step of a long short-term memory (LSTM): C = f C + i c, H = o h(C).

    The order of the gates is forget gate f, input gate i, candidate c, output gate o.
    """

    gates = 4

    def step(
        self, projected: Array, states: list[Array], recurrence: Array, bias: Array
    ) -> list[Array]:
        hidden, cell = states
        size = hidden.shape[-1]
        gates = hidden @ recurrence.T
        gates += projected
        gates += bias
        gates = self.clipped(gates)
        entering = self.activate(0, gates[:, : 2 * size])
        new = entering[:, :size] * cell
        candidate = self.activate(1, gates[:, 2 * size : 3 * size])
        candidate *= entering[:, size:]
        new += candidate
        leaving = self.activate(0, gates[:, 3 * size :])
        leaving *= self.activate(2, new)
        return [leaving, new]


class RNNCell(Cell, PlainStep):
    """One step of a plain recurrent network."""

    since = 1
    also_under = ("experimental", "extension")
    initial_cell_state = None


class GRUCell(Cell, GatedStep):
    """One step of a gated recurrent unit (GRU)."""

    since = 3
    also_under = ("experimental", "extension")
    activations: tuple[str, ...] = attribute(STRINGS, default=("sigmoid", "tanh"))
    linear_before_reset: bool = attribute(BOOLEAN, default=False)
    initial_cell_state = None
    W = operand(ANY, rank=2)

    def check(self, *inputs: Tensor | None) -> Iterator[Fault]:
        yield from super().check(*inputs)
        named = self.named(inputs)
        expected, seen = result_type(named), named["W"].element_type
        if not seen.is_dynamic:
            yield from doubted(of_type, seen, expected, at="W", accepted=True)


def _cell_input(site: Site) -> bool:
    """Returns whether `X` and `W` of a cell have different input sizes."""
    data, weights = site.shape(0), site.shape(3)
    if data is None or weights is None or not data.rank or not weights.rank:
        return False
    return not data[-1].compatible(weights[-1])


class LSTMCell_4(Cell, LongShortTermStep):
    """One step of an LSTM: the new hidden state and the new cell state."""

    since = 4
    differs = facts(
        refused("2023.1", "an LSTMCell whose input has another size than its weights", _cell_input),
    )
    activations: tuple[str, ...] = attribute(STRINGS, default=("sigmoid", "tanh", "tanh"))

    def hidden(self, named: dict[str, Tensor], hidden: Dimension) -> Dimension:
        size = super().hidden(named, hidden)
        declared = Dimension(max(self.hidden_size, 0))
        if size.symbolic:
            return (size.merge(declared) if self.hidden_size > 0 else None) or size
        return size if size.is_static else declared


class LSTMCell_1(LSTMCell_4):
    """One step of an LSTM with peepholes `P` (for the gates f, i and o).

    With `input_forget` the gates are coupled: i = 1 - f. The order of the gates is f, i, c, o, as
    in the specification. OpenVINO writes `weights_format` and ignores it.
    """

    since = 1
    input_forget: bool = attribute(BOOLEAN, default=False)
    weights_format: str = attribute(Choice("fico", "icof", "ifco", "ifoc", "iofc"), default="ifco")
    B = operand(ANY, rank=1, like="X", optional=True)
    P = operand(ANY, rank=at_least(1), optional=True)

    def infer(self, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        outputs = super().infer(*inputs)
        named = self.named(inputs)
        size, peepholes = outputs[0].shape[1], named.get("P")
        if "B" not in named or peepholes is None:
            equal(self.hidden_size, size, at="hidden_size", rule=OPERATION_CONSTRAINT)
        if peepholes is not None and peepholes.rank:
            equal(peepholes.shape[0], size * 3, at="P", axis=0)
        return outputs

    def check(self, *inputs: Tensor | None) -> Iterator[Fault]:
        yield from super().check(*inputs)
        peepholes = self.named(inputs).get("P")
        if peepholes is not None and peepholes.rank not in (None, 1):
            yield fault(at="P", relation="rank", expected=1, actual=peepholes.rank)

    def evaluate(self, *inputs: Array | None) -> tuple[Array, ...]:
        data, hidden, cell, weights, recurrence = computing(
            *(array for array in inputs[:5] if array is not None)
        )
        given, peephole = (None if array is None else computing(array)[0] for array in inputs[5:7])
        size = hidden.shape[-1]
        bias = np.zeros(4 * size, data.dtype) if given is None else given
        forget_peephole, enter_peephole, leave_peephole = (
            np.zeros((3, size), data.dtype) if peephole is None else peephole.reshape(3, size)
        )
        rows = data @ weights.T + hidden @ recurrence.T + bias
        gates = {name: rows[:, i * size : (i + 1) * size] for i, name in enumerate("fico")}
        forget = self.activate(0, self.clipped(gates["f"] + forget_peephole * cell))
        enter = (
            1 - forget
            if self.input_forget
            else self.activate(0, self.clipped(gates["i"] + enter_peephole * cell))
        )
        cell = forget * cell + enter * self.activate(1, self.clipped(gates["c"]))
        leave = self.activate(0, self.clipped(gates["o"] + leave_peephole * cell))
        assert inputs[0] is not None
        dtype = inputs[0].dtype
        return (leave * self.activate(2, cell)).astype(dtype), cell.astype(dtype)
