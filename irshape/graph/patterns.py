"""Patterns of layers. A pattern is written like the layers that it matches.

    p = Pattern()
    x = p.any("x")
    swish = p.add("Multiply", x, p.add("Sigmoid", x))

`graph.match(swish)` finds the layers that match the pattern. The inputs of Add, Multiply and the
other commutative operations match in either order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..ops import registry
from ..ops.lazy import Array, np
from ..shapes import ShapeLike
from ..spelling import counted
from .building import unknown_attribute, version_of
from .nodes import GraphLayer, Output, by_rank
from .structure import Structure
from .types import element_type_of, shape_of

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


@dataclass(eq=False)
class Wanted:
    """The conditions on an output, as the methods of `Pattern` return them."""

    types: tuple[str, ...] = ()
    """The types of layers that match, in the spelling of the specification, e.g. `ReLU`."""
    inputs: tuple[Wanted, ...] | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    where: Where | None = None
    optional: bool = False
    options: tuple[Wanted, ...] = ()
    """Alternative patterns. One of them has to match."""
    sibling: Wanted | None = None
    """The pattern of the first output of the same layer; None if this is the first output."""
    index: int = 0

    def __getitem__(self, index: int) -> Wanted:
        """Returns the pattern of another output of this pattern's layer, e.g. of a Split."""
        return replace(self, optional=False, options=(), sibling=self.first, index=index)

    @property
    def first(self) -> Wanted:
        """The pattern of the first output of this pattern's layer."""
        return self.sibling or self


class Pattern:
    """Builds patterns. Each method returns the pattern of one output."""

    def any(
        self,
        name: str | None = None,
        *,
        element_type: Any = None,
        shape: ShapeLike | None = None,
        rank: int | None = None,
        users: int | None = None,
        where: Where | None = None,
    ) -> Wanted:
        """Returns a pattern that matches any output that meets the conditions.

        name: the name of the output in the match.
        element_type, shape, rank: of the output. `[?,3]` also matches the shape `[1,3]`.
        users: the number of inputs that the output feeds.
        where: a function that returns whether an output may match.
        """
        condition = _all(element_type, shape, rank, users, where)
        return Wanted(name=name, where=condition)

    def constant(
        self,
        value: Any = None,
        name: str | None = None,
        *,
        where: Callable[[Array], bool] | None = None,
    ) -> Wanted:
        """Returns a pattern that matches a Const.

        value: a number, or an array that broadcasts to the constant; elements may differ by 1e-6.
        where: a function of the constant's array that returns whether the constant may match.
        """

        def fits(output: Output) -> bool:
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

        return Wanted(("Const",), name=name, where=fits)

    def add(
        self,
        type: str | tuple[str, ...],
        *inputs: Wanted,
        name: str | None = None,
        element_type: Any = None,
        shape: ShapeLike | None = None,
        rank: int | None = None,
        users: int | None = None,
        where: Where | None = None,
        **attributes: Any,
    ) -> Wanted:
        """Returns a pattern that matches the first output of a layer. The arguments describe the
        layer as for `Graph.add`.

        type: one or several types of operations.
        inputs: patterns for the inputs of the layer. Without any, the inputs do not matter.
        attributes: the wanted values, or functions that return whether the layer's value fits. A
        negative `axis` counts from the end. The other arguments are as for `any`. Raises
        `GraphError` for a type or an attribute that does not exist.
        """
        condition = _all(element_type, shape, rank, users, where)
        return Wanted(_declared(type, attributes), inputs or None, attributes, name, condition)

    def either(self, *options: Wanted, name: str | None = None) -> Wanted:
        """Returns a pattern that matches if one of several patterns matches. Tries the patterns in
        order. The match contains only names from the first pattern that matches."""
        return Wanted(name=name, options=options)

    def optional(
        self, type: str | tuple[str, ...], input: Wanted, *more: Wanted, **conditions: Any
    ) -> Wanted:
        """Returns a pattern for a layer that may be missing. If it is missing, the pattern `input`
        has to match in its place. The other arguments are as for `add`."""
        return replace(self.add(type, input, *more, **conditions), optional=True)


def _declared(type: str | tuple[str, ...], attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the types of a pattern in the spelling of the specification, e.g. `ReLU`. Raises
    `GraphError` for an unknown type, and for an attribute that none of the types has."""
    types = (type,) if isinstance(type, str) else tuple(type)
    versions = [
        version for each in types for version in registry.versions(each) or [version_of(each, 1)]
    ]
    for name in attributes:
        if not any(name in version.signature.python_names for version in versions):
            raise unknown_attribute(versions[-1], name)
    return tuple(dict.fromkeys(version.type_name() for version in versions))


def _all(
    element_type: Any,
    shape: ShapeLike | None,
    rank: int | None,
    users: int | None,
    where: Where | None,
) -> Where | None:
    if (element_type, shape, rank, users, where) == (None, None, None, None, None):
        return None
    wide = None if shape is None else shape_of(shape)
    kind = None if element_type is None else element_type_of(element_type)

    def fits(output: Output) -> bool:
        return (
            (kind is None or output.element_type is kind)
            and (wide is None or wide.encloses(output.shape))
            and (rank is None or output.shape.rank == rank)
            and (users is None or len(output.users) == users)
            and (where is None or where(output))
        )

    return fits


@dataclass(eq=False, repr=False)
class Match:
    """A match of a pattern. `match["x"]` is the output that the part named `x` matches."""

    output: Output
    """The output that the whole pattern matches."""
    captured: dict[str, Output]
    layers: tuple[GraphLayer, ...]
    """The layers that the pattern describes, beginning with the layer of `output`."""

    def __getitem__(self, name: str) -> Output:
        return self.captured[name]

    def __contains__(self, name: object) -> bool:
        return name in self.captured

    @property
    def layer(self) -> GraphLayer:
        """The layer of `output`."""
        return self.output.layer

    @property
    def inside(self) -> bool:
        """Whether no layer outside the match uses a tensor inside it. All layers may use `output`
        and constants."""
        return all(
            user.layer in self.layers
            for layer in self.layers
            for output in layer.outputs
            if output is not self.output and not layer.raw.is_constant
            for user in output.users
        )

    def __repr__(self) -> str:
        return f"<Match of {self.output!r}>"


_Bound = dict[Wanted, Output]
"""A partial match: the output that each pattern has matched so far."""


_Miss = Callable[[tuple[Output, Wanted, _Bound]], None]
"""A function that gets an output that does not match, its pattern, and the partial match."""


def _ignored(miss: object) -> None:
    """A `_Miss` that does nothing."""


def _captured(bound: _Bound) -> dict[str, Output]:
    """Returns the outputs that have matched named parts of the pattern, by these names."""
    return {wanted.name: output for wanted, output in bound.items() if wanted.name}


def _named_layers(bound: _Bound) -> tuple[GraphLayer, ...]:
    """Returns the layers that have matched those parts of the pattern that name a type."""
    return tuple({output.layer: 0 for wanted, output in bound.items() if wanted.types})


def matches(graph: Structure, pattern: Wanted) -> Iterator[Match]:
    """Yields all matches of a pattern in a graph and its bodies, in topological order."""
    types = () if pattern.optional else pattern.types
    candidates = [
        layer
        for layer in graph.content.layers
        if not types or layer.bodies or layer.operation.type_name() in types
    ]
    for layer in sorted(candidates, key=by_rank):
        if layer not in graph.content.layers:
            continue
        for output in layer._outputs:
            bound = next(_match(output, pattern, {}, _ignored), None)
            if bound is not None:
                yield Match(output, _captured(bound), _named_layers(bound))
        for body in layer.bodies.values():
            yield from matches(body, pattern)


def why_not(graph: Structure, pattern: Wanted) -> str:
    """Returns why a pattern does not match. The text describes the first difference in the match
    that comes closest to the pattern."""
    nearest: tuple[int, Output, Wanted, Output] | None = None
    count = 0
    for layer in graph.walk():
        for output in layer.outputs:
            misses: list[tuple[Output, Wanted, _Bound]] = []
            if next(_match(output, pattern, {}, misses.append), None) is not None:
                count += 1
                continue
            for seen, wanted, bound in misses:
                fitting = len(_named_layers(bound))
                if nearest is None or fitting > nearest[0]:
                    nearest = fitting, seen, wanted, output
    if count:
        return f"the pattern is found {counted(count, 'time')}"
    if nearest is None or not nearest[0]:
        return "no layer matches the last layer of the pattern"
    fitting, seen, wanted, end = nearest
    return (
        f"the closest match ends at {end.layer.label}: {counted(fitting, 'layer')} of the pattern "
        f"{'fits' if fitting == 1 else 'fit'}, but {_misfit(seen, wanted)}"
    )


def _misfit(output: Output, wanted: Wanted) -> str:
    """Returns why an output does not match its part of the pattern."""
    layer = output.layer
    if wanted.types and layer.operation.type_name() not in wanted.types:
        return f"{layer.label} is not of type {' or '.join(wanted.types)}"
    if wanted.types and output.index != wanted.index:
        return f"the pattern wants output {wanted.index} of the layer, not {output!r}"
    for name, value in wanted.attributes.items():
        if not _attribute_fits(layer, name, value):
            actual = layer.attributes.get(name)
            other = "" if callable(value) else f", not {value!r}"
            return f"{name} of {layer.label} is {actual!r}{other}"
    if wanted.where is not None and not wanted.where(output):
        return f"{output!r} does not meet the conditions of the pattern"
    if wanted.inputs is not None and len(wanted.inputs) != len(layer.inputs):
        return f"{layer.label} has {counted(len(layer.inputs), 'input')}, not {len(wanted.inputs)}"
    part = "a part" if wanted.name is None else f"the part '{wanted.name}'"
    return f"{part} of the pattern already matches another output than {output!r}"


def _match(output: Output, wanted: Wanted, bound: _Bound, miss: _Miss) -> Iterator[_Bound]:
    """Yields each extension of the partial match `bound` that matches `output` with `wanted`."""
    if wanted in bound:
        if bound[wanted] is output:
            yield bound
        else:
            miss((output, wanted, bound))
        return
    if wanted.options:
        for option in wanted.options:
            for result in _match(output, option, bound, miss):
                yield {**result, wanted: output}
    elif _fits(output, wanted, bound):
        yield from _match_inputs(output, wanted, {**bound, wanted: output}, miss)
    elif not wanted.optional:
        miss((output, wanted, bound))
    if wanted.optional and wanted.inputs:
        yield from _match(output, wanted.inputs[0], bound, miss)


def _fits(output: Output, wanted: Wanted, bound: _Bound) -> bool:
    layer = output.layer
    if wanted.types and (
        layer.operation.type_name() not in wanted.types or output.index != wanted.index
    ):
        return False
    homes = {each.layer for other, each in bound.items() if other.first is wanted.first}
    if wanted.types and not homes <= {layer}:
        return False
    if not homes and wanted.name and _captured(bound).get(wanted.name, output) is not output:
        return False
    for name, value in wanted.attributes.items():
        if not _attribute_fits(layer, name, value):
            return False
    return wanted.where is None or wanted.where(output)


def _attribute_fits(layer: GraphLayer, name: str, wanted: Any) -> bool:
    """Whether an attribute of a layer has the value that the pattern wants."""
    names = layer.operation.signature.python_names
    if name not in names:
        return False
    actual = getattr(layer.operation, names[name])
    if callable(wanted):
        return bool(wanted(actual))
    rank = layer.inputs[0].source.shape.rank if layer.inputs else None
    if name == "axis" and isinstance(wanted, int) and wanted < 0 and rank:
        return bool(actual % rank == wanted % rank)
    if isinstance(actual, tuple) and isinstance(wanted, (list, tuple)):
        return len(actual) == len(wanted) and all(map(_same, actual, wanted))
    return _same(actual, wanted)


def _same(actual: Any, wanted: Any) -> bool:
    if isinstance(actual, float) and isinstance(wanted, (int, float)):
        return math.isclose(actual, wanted, rel_tol=1e-6)  # an IR has the digits of an f32
    return bool(actual == wanted) or str(actual).lower() == str(wanted).lower()


def _match_inputs(output: Output, wanted: Wanted, bound: _Bound, miss: _Miss) -> Iterator[_Bound]:
    layer, inputs = output.layer, wanted.inputs
    if inputs is None:
        yield bound
        return
    sources = [end._source for end in layer._inputs]
    if len(inputs) != len(sources):
        miss((output, wanted, bound))
        return
    orders = [sources]
    if len(sources) == 2 and layer.operation.type_name() in _COMMUTATIVE:
        orders.append(sources[::-1])
    for order in orders:
        yield from _match_all(order, inputs, bound, miss)


def _match_all(
    sources: list[Output], wanted: tuple[Wanted, ...], bound: _Bound, miss: _Miss
) -> Iterator[_Bound]:
    if not wanted:
        yield bound
        return
    for result in _match(sources[0], wanted[0], bound, miss):
        yield from _match_all(sources[1:], wanted[1:], result, miss)
