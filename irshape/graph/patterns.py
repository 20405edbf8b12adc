"""Patterns of layers, written with the operations themselves.

    p = Pattern()
    x = p.any("x")
    swish = p.add("Multiply", x, p.add("Sigmoid", x))

`graph.match(swish)` finds what looks like it; the inputs of Add, Multiply and the other
commutative operations match in either order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..types import PartialShape, ShapeLike
from .nodes import GraphLayer, Output
from .structure import Structure

if TYPE_CHECKING:
    import numpy as np

_COMMUTATIVE = frozenset(
    (
        "Add",
        "Multiply",
        "Maximum",
        "Minimum",
        "Equal",
        "NotEqual",
        "LogicalAnd",
        "LogicalOr",
        "LogicalXor",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "SquaredDifference",
    )
)

Where = Callable[[Output], bool]


class Wanted:
    """What an output has to look like. Made by the methods of `Pattern`."""

    def __init__(
        self,
        types: tuple[str, ...],
        inputs: tuple[Wanted, ...] | None,
        attributes: Mapping[str, Any],
        name: str | None,
        where: Where | None,
        *,
        optional: bool = False,
        index: int = 0,
    ) -> None:
        self.types = types
        self.inputs = inputs
        self.attributes = dict(attributes)
        self.name = name
        self.where = where
        self.optional = optional
        self.index = index

    def __getitem__(self, index: int) -> Wanted:
        """Another output of the same layer."""
        return Wanted(self.types, self.inputs, self.attributes, self.name, self.where, index=index)


class Pattern:
    """Builds patterns."""

    def any(
        self,
        name: str | None = None,
        *,
        element_type: str | None = None,
        shape: ShapeLike | None = None,
        rank: int | None = None,
        users: int | None = None,
        where: Where | None = None,
    ) -> Wanted:
        """Any output.

        name: under which the match has it. element_type, shape, rank, users: what it must have;
        a shape has to lie within the one given. where: a further condition.
        """
        return Wanted((), None, {}, name, _all(element_type, shape, rank, users, where))

    def constant(
        self,
        value: Any = None,
        name: str | None = None,
        *,
        where: Callable[[np.ndarray[Any, Any]], bool] | None = None,
    ) -> Wanted:
        """A Const.

        value: what all its elements are equal to, within 1e-6. where: a condition on its array.
        """

        def fits(output: Output) -> bool:
            import numpy as np

            array = output.layer.value
            if value is None and where is None:
                return True
            if array is None:
                return False
            if value is not None and not (
                np.broadcast_shapes(array.shape, np.shape(value)) == array.shape
                and np.allclose(array.astype(np.float64), value, 1e-6, 1e-6)
            ):
                return False
            return where is None or bool(where(array))

        return Wanted(("Const", "Constant"), None, {}, name, fits)

    def add(
        self,
        type: str | tuple[str, ...],
        *inputs: Wanted,
        name: str | None = None,
        element_type: str | None = None,
        shape: ShapeLike | None = None,
        rank: int | None = None,
        users: int | None = None,
        where: Where | None = None,
        **attributes: Any,
    ) -> Wanted:
        """A layer, as `Graph.add` would add it; its first output.

        type: of the operation, or several. inputs: of the layer; without any, all inputs match.
        attributes: those that have to be so. The rest as for `any`.
        """
        types = (type,) if isinstance(type, str) else type
        condition = _all(element_type, shape, rank, users, where)
        return Wanted(types, inputs or None, attributes, name, condition)

    def optional(self, type: str, input: Wanted, *more: Wanted, **attributes: Any) -> Wanted:
        """A layer that may be missing: then `input` matches in its place."""
        return Wanted((type,), (input, *more), attributes, None, None, optional=True)


def _all(
    element_type: str | None,
    shape: ShapeLike | None,
    rank: int | None,
    users: int | None,
    where: Where | None,
) -> Where | None:
    if (element_type, shape, rank, users, where) == (None, None, None, None, None):
        return None
    wide = None if shape is None else PartialShape.of(shape)

    def fits(output: Output) -> bool:
        return (
            (element_type is None or str(output.element_type) == element_type)
            and (wide is None or wide.encloses(output.shape))
            and (rank is None or output.shape.rank == rank)
            and (users is None or len(output.users) == users)
            and (where is None or where(output))
        )

    return fits


class Match:
    """Where a pattern was found.

    `match["x"]` is the output that was captured under a name.
    """

    def __init__(
        self, output: Output, captured: dict[str, Output], layers: dict[GraphLayer, None]
    ) -> None:
        self.output = output
        """The output that the pattern as a whole stands for."""
        self.captured = captured
        self.layers = tuple(layers)
        """The layers that the pattern names, the last one first."""

    def __getitem__(self, name: str) -> Output:
        return self.captured[name]

    def __contains__(self, name: object) -> bool:
        return name in self.captured

    @property
    def layer(self) -> GraphLayer:
        """The layer that the pattern as a whole stands for, which has `output`."""
        return self.output.layer

    @property
    def inside(self) -> bool:
        """Whether nothing outside the match takes what it computes, but for its output."""
        return all(
            user.layer in self.layers
            for layer in self.layers
            for output in layer.outputs
            if output is not self.output and not layer.raw.is_constant
            for user in output.users
        )

    def __repr__(self) -> str:
        return f"<Match of {self.output!r}>"


class _State:
    """What has been matched so far; alternatives are tried and taken back."""

    def __init__(self) -> None:
        self.bound: dict[Wanted, Output] = {}
        self.captured: dict[str, Output] = {}
        self.layers: dict[GraphLayer, None] = {}

    def copy(self) -> _State:
        twin = _State()
        twin.bound = dict(self.bound)
        twin.captured, twin.layers = dict(self.captured), dict(self.layers)
        return twin


def matches(graph: Structure, pattern: Wanted) -> Iterator[Match]:
    """All places in a graph where a pattern is found, producers first; bodies too."""
    for layer in graph.sorted():
        if layer not in graph:
            continue
        for output in layer.outputs:
            match = match_at(output, pattern)
            if match is not None:
                yield match
        for body in layer.bodies.values():
            yield from matches(body, pattern)


def match_at(output: Output, pattern: Wanted) -> Match | None:
    """The match of a pattern whose last layer gives this output."""
    for state in _match(output, pattern, _State()):
        return Match(output, state.captured, state.layers)
    return None


def _match(output: Output, wanted: Wanted, state: _State) -> Iterator[_State]:
    if wanted in state.bound:
        if state.bound[wanted] is output:
            yield state
        return
    if _fits(output, wanted, state):
        for result in _match_inputs(output, wanted, state):
            done = result.copy()
            done.bound[wanted] = output
            if wanted.name is not None:
                done.captured[wanted.name] = output
            yield done
    if wanted.optional and wanted.inputs:
        yield from _match(output, wanted.inputs[0], state)


def _fits(output: Output, wanted: Wanted, state: _State) -> bool:
    layer = output.layer
    if wanted.types and (
        layer.type not in wanted.types and type(layer.operation).type_name() not in wanted.types
    ):
        return False
    if wanted.types and output.index != wanted.index:
        return False
    if wanted.name in state.captured and state.captured[wanted.name or ""] is not output:
        return False
    for name, value in wanted.attributes.items():
        actual = getattr(layer.operation, name, None)
        if actual != value and str(actual).lower() != str(value).lower():
            return False
    return wanted.where is None or wanted.where(output)


def _match_inputs(output: Output, wanted: Wanted, state: _State) -> Iterator[_State]:
    layer = output.layer
    if not wanted.types:
        yield state
        return
    state = state.copy()
    state.layers[layer] = None
    inputs = wanted.inputs
    if inputs is None:
        yield state
        return
    sources = [end.source for end in layer.inputs]
    if len(inputs) != len(sources):
        return
    orders = [sources]
    if len(sources) == 2 and type(layer.operation).type_name() in _COMMUTATIVE:
        orders.append(sources[::-1])
    for order in orders:
        yield from _match_all(order, list(inputs), state)


def _match_all(sources: list[Output], wanted: list[Wanted], state: _State) -> Iterator[_State]:
    if not wanted:
        yield state
        return
    for result in _match(sources[0], wanted[0], state):
        yield from _match_all(sources[1:], wanted[1:], result)
