"""Recurrent cells: one step of an LSTM, a GRU or a plain recurrent network. The sequences of such steps build on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...types import DYNAMIC, DYNAMIC_TYPE, Dimension, PartialShape
from ..declaration import ANY, Operation, Violation, attribute, operand, require
from ..kinds import BOOLEAN, FLOAT, FLOATS, NATURAL, STRINGS, Choice
from ..lazy import Array, np
from ..tensors import Tensor

ACTIVATIONS = ("sigmoid", "tanh", "relu", "hardsigmoid")
Places = list[tuple[str, Tensor, int]]


def agreed(what: str, places: Places) -> Dimension:
    """The size on which the axes of several inputs agree. Raises `Violation`."""
    merged, known = DYNAMIC, ""
    for name, tensor, axis in places:
        if tensor.rank is None:
            continue
        both = merged.merge(tensor.shape[axis])
        require(
            both is not None,
            f"{what} is {merged} by {known}, but {tensor.shape[axis]} by `{name}` {tensor.shape}, axis {axis}",
            at=name,
            expected=merged,
            seen=tensor.shape[axis],
            rule="input-shapes",
        )
        assert both is not None
        if both != merged:
            known = f"`{name}` {tensor.shape}"
        merged = both
    return merged


class Recurrent(Operation):
    """What all cells and sequences share. Shapes of a cell; a sequence has the axis of directions before the sizes of a cell's state and weights."""

    gates: ClassVar[int] = 1
    functions: ClassVar[int] = 1
    """How many activation functions it uses."""
    directional: ClassVar[int] = 0
    """1 where there is an axis of directions."""

    hidden_size: int = attribute(NATURAL, default=0, required=True)
    activations: tuple[str, ...] = attribute(STRINGS, default=("tanh",))
    activations_alpha: tuple[float, ...] = attribute(FLOATS, default=())
    activations_beta: tuple[float, ...] = attribute(FLOATS, default=())
    clip: float = attribute(FLOAT, default=0.0)

    @property
    def bias_gates(self) -> int:
        """How many biases of the hidden size `B` holds."""
        return self.gates

    def named(self, inputs: tuple[Tensor | None, ...]) -> dict[str, Tensor]:
        return {declared.name: tensor for declared, tensor in zip(self.operands, inputs, strict=False) if tensor is not None}

    def states(self, named: dict[str, Tensor]) -> list[tuple[str, Tensor]]:
        return [(name, named[name]) for name in ("initial_hidden_state", "initial_cell_state") if name in named]

    def hidden(self, named: dict[str, Tensor]) -> Dimension:
        """The size of the state, from the states and the weights."""
        first = self.directional
        found = agreed("hidden_size", [(name, tensor, first + 1) for name, tensor in (*self.states(named), ("R", named["R"]))])
        for name, many in (("W", self.gates), ("R", self.gates), ("B", self.bias_gates)):
            tensor = named.get(name)
            if tensor is None or tensor.rank is None or (name == "B" and not found.is_static):
                continue
            rows = tensor.shape[first]
            size = rows.divided(many)
            both = None if size is None else found.merge(size)
            each = f"hidden_size {found}" if found.is_static else "a hidden_size"
            require(
                both is not None,
                f"axis {first} of `{name}` {tensor.shape} is {rows}; expected {found * many if found.is_static else f'a multiple of {many}'}, for {many} gates of {each}",
                at=name,
                expected=found * many,
                seen=rows,
                rule="input-shapes",
            )
            assert both is not None
            found = both if name != "B" else found
        return found

    def result(self, named: dict[str, Tensor]) -> tuple[Tensor, ...]:
        """The new states."""
        raise NotImplementedError

    def infer(self, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        return self.result(self.named(inputs))

    def unfit_activations(self) -> Violation | None:
        """What is wrong with `activations`, if anything."""
        used = [name.lower() for name in self.activations[: self.functions]]
        wrong = [name for name in used if name not in ACTIVATIONS]
        if len(used) == self.functions and not wrong:
            return None
        seen = ",".join(self.activations) or "(empty)"
        message = f"`activations` names {wrong[0]}; expected {', '.join(ACTIVATIONS)}" if wrong else f"`activations` is {seen}; {self.functions} functions are needed"
        return Violation(message, at="activations", expected=", ".join(ACTIVATIONS) if wrong else f"{self.functions} names", seen=seen, rule="attribute-value")

    def check(self, *inputs: Tensor | None) -> Iterator[Violation]:
        named, first = self.named(inputs), self.directional
        data, weights = named["X"], named["W"]
        if data.rank is not None and weights.rank is not None and not data.shape[-1].compatible(weights.shape[-1]):
            yield Violation(
                f"input_size is {data.shape[-1]} by `X` {data.shape}, but {weights.shape[-1]} by `W` {weights.shape}; OpenVINO sees it only when the layer runs",
                at="W",
                expected=data.shape[-1],
                seen=weights.shape[-1],
                rule="input-shapes",
            )
        sizes = [tensor.shape[first + 1] for _, tensor in self.states(named) if tensor.rank is not None]
        known = next((size for size in sizes if size.is_static), None)
        if known is not None and self.hidden_size != known.low:
            yield Violation(
                f"`hidden_size` is {self.hidden_size}, but the states have size {known}; OpenVINO goes by the shapes",
                at="hidden_size",
                expected=known,
                seen=self.hidden_size,
                rule="attribute-value",
            )
        if self.clip < 0:
            yield Violation(f"`clip` is {self.clip:g}; it is a bound on both sides, so a positive number, or 0 for none", at="clip", expected="> 0", seen=self.clip, rule="attribute-value")

    # evaluation

    def clipped(self, gate: Array) -> Array:
        return np.clip(gate, -self.clip, self.clip) if self.clip > 0 else gate

    def activate(self, index: int, gate: Array) -> Array:
        """The activation function of that position."""
        name = self.activations[index].lower()
        if name == "sigmoid":
            return 1 / (1 + np.exp(-gate))
        if name == "tanh":
            return np.tanh(gate)
        if name == "relu":
            return np.maximum(gate, 0)
        alpha = self.activations_alpha[index] if index < len(self.activations_alpha) else 0.2
        beta = self.activations_beta[index] if index < len(self.activations_beta) else 0.5
        return np.clip(gate * gate.dtype.type(alpha) + gate.dtype.type(beta), 0, 1)

    def step(self, projected: Array, states: list[Array], recurrence: Array, bias: Array) -> list[Array]:
        """The states after one step; `projected` is the input times the weights."""
        raise NotImplementedError


def computing(*arrays: Array) -> list[Array]:
    """The arrays in the type in which they are computed: f32 for the narrow ones."""
    return [array if array.dtype in (np.float32, np.float64) else array.astype(np.float32) for array in arrays]


class Cell(Recurrent):
    """One step: two-dimensional states."""

    def result(self, named: dict[str, Tensor]) -> tuple[Tensor, ...]:
        unfit = self.unfit_activations()
        if unfit is not None:
            raise unfit
        states = self.states(named)
        batch = agreed("batch_size", [("X", named["X"], 0), *((name, tensor, 0) for name, tensor in states)])
        shape = PartialShape((batch, self.hidden(named)))
        return tuple(Tensor(result_type(named), shape) for _ in states)

    def evaluate(self, X: Array, *inputs: Array) -> tuple[Array, ...]:  # noqa: N803
        *states, weights, recurrence, bias = computing(*inputs)
        made = self.step(computing(X)[0] @ weights.T, states, recurrence, bias)
        return tuple(state.astype(X.dtype) for state in made)


def result_type(named: dict[str, Tensor]) -> object:
    """The element type that the inputs share."""
    found = (tensor.element_type for name, tensor in named.items() if name not in ("sequence_lengths", "P"))
    return next((element_type for element_type in found if not element_type.is_dynamic), DYNAMIC_TYPE)
