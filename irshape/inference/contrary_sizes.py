"""Finds layers that need contradicting sizes of one dynamic dimension, so that no size fits all.

Each of them fits the dynamic shape that reaches it. Inference with named sizes finds the
contradiction, but takes several times as long. It only runs for models whose layers may demand
contradicting sizes: see `_may_contradict` and `_Origins`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..demands import excludes
from ..faults import Fault
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..ops.declaration import Operation, check_inputs
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..shapes import UNBOUNDED, Dimension, PartialShape
from .declarations import Declarations
from .result import BodyResult

if TYPE_CHECKING:
    from ..symbols.expressions import Coefficient, Expression
    from ..symbols.facts import Facts

MAX_LAYERS = 5000


def contrary_sizes(model: Model, result: BodyResult) -> Iterator[tuple[Layer, Fault]]:
    """Yields the layers of a net that contradict others whatever the sizes of the inputs.

    result: the inference of the model without named sizes.
    """
    if model.kind != "net" or len(model.net.layers) > MAX_LAYERS or not _may_contradict(result):
        return
    inside = any(part.demands for part in result.walk() if part is not result)
    inside = inside or not result.inner.keys().isdisjoint(result.demands)
    if not inside and not _Origins(model, result).contradict():
        return
    from .symbolic import contrary_layers

    yield from contrary_layers(model)


def _may_contradict(result: BodyResult) -> bool:
    """Whether demands of layers could contradict each other, ignoring which dimensions they
    concern.

    Two numbers could, and so could one number that two kinds of layers demand of sizes that differ
    by another number.
    """
    alike = {
        (demands, part.inputs.get(position), part.outputs[position])
        for part in result.walk()
        for position, demands in part.demands.items()
    }
    kinds = [demands for demands, *_ in alike]
    sizes = [number for demands in kinds for relation, number in demands if relation == "=="]
    return len(sizes) > 1 or any(
        excludes(size, *demand) for size in sizes for demands in kinds for demand in demands
    )


Place = tuple[int, int, int]
"""A layer, one of its outputs and an axis."""


class _Conditions(NamedTuple):
    """The conditions of a layer on its inputs, whose axes are the symbols."""

    facts: Facts
    axes: dict[str, tuple[int, int]]
    """The input and the axis of each symbol."""
    outputs: tuple[Tensor, ...]


class _Origins:
    """The conditions of the layers of a net, in terms of the dimensions where sizes originate."""

    def __init__(self, model: Model, result: BodyResult) -> None:
        from ..symbols.facts import Facts

        self._result = result
        self._declarations = Declarations(model)
        self._facts = Facts()
        self._conditions: dict[tuple[object, ...], _Conditions | None] = {}
        self._expressions: dict[Place, Expression] = {}

    def contradict(self) -> bool:
        """Whether some conditions of layers contradict each other."""
        demands = sorted(self._result.demands.items())
        sizes = {number for _, own in demands for relation, number in own if relation == "=="}
        for position, own in demands:
            if any(each[0] == "==" or any(excludes(size, *each) for size in sizes) for each in own):
                self._state(position)
        if self._facts.constraints and not self._facts.conflicts:
            for position, own in demands:
                if any(relation == "=" for relation, _ in own):
                    self._state(position)
        return bool(self._facts.conflicts)

    def _state(self, position: int) -> None:
        """Records the conditions of a layer."""
        conditions = self._of(position)
        if conditions is None:
            return
        facts = self._facts
        facts.source = self._result.body.layers[position]
        for each in conditions.facts.constraints.values():
            left = self._carried(each.left, conditions, position)
            right = self._carried(each.right, conditions, position)
            if each.assumed or left is None or right is None:
                continue
            if each.relation == "==":
                facts.equal(left, right)
            else:
                facts.require_at_least(left, right)
        for require, known in (
            (facts.require_multiple, conditions.facts.multiples),
            (facts.require_one_or, conditions.facts.one_or),
        ):
            for expression, number in known:
                whole = self._carried(expression, conditions, position)
                if whole is not None:
                    require(whole, number)

    def _of(self, position: int) -> _Conditions | None:
        """Returns the conditions of one layer; None if nothing is known of them."""
        layer = self._result.body.layers[position]
        inputs = self._result.inputs.get(position, ())
        declaration = self._declarations.of(layer)
        if isinstance(declaration, UnknownOperation) or declaration[0].bodies or not inputs:
            return None
        key = declaration[0], *inputs
        if key not in self._conditions:
            self._conditions[key] = _conditions(declaration[0], inputs)
        return self._conditions[key]

    def _carried(
        self, expression: Expression, conditions: _Conditions, position: int
    ) -> Expression | None:
        """Returns a sum of axes of a layer's inputs in terms of their origins; None for anything
        else."""
        total = self._facts.number(expression.offset)
        for monomial, coefficient in expression.terms.items():
            if not monomial:
                continue
            axis = conditions.axes.get(monomial[0].text) if len(monomial) == 1 else None
            source = None if axis is None else _source(self._result, position, axis[0])
            if axis is None or source is None:
                return None
            total = total + self._origin((*source, axis[1])) * coefficient
        return self._facts.resolved(total)

    def _origin(self, place: Place) -> Expression:
        """Returns a dimension of an output as an earlier one times a number plus another number,
        or as a symbol."""
        passed = []
        while place not in self._expressions:
            before = self._before(place)
            if before is None:
                position, output, axis = place
                dim = self._result.outputs[position][output].shape[axis]
                high = math.inf if dim.high == UNBOUNDED else dim.high
                name = f"x{len(self._facts.symbols)}"
                self._expressions[place] = self._facts.symbol(name, dim.low, high)
            else:
                passed.append((place, *before[1:]))
                place = before[0]
        expression = self._expressions[place]
        for each, factor, more in reversed(passed):
            expression = self._expressions[each] = expression * factor + more
        return expression

    def _before(self, place: Place) -> tuple[Place, Coefficient, Coefficient] | None:
        """Returns the dimension of which another is a multiple, the factor, and the number
        added."""
        from ..symbols.dimensions import SymbolicDimension

        position, output, axis = place
        conditions = self._of(position)
        if conditions is None or output >= len(conditions.outputs):
            return None
        dim = (conditions.outputs[output].shape.dims or ())[axis]
        if not isinstance(dim, SymbolicDimension):
            return None
        terms = dict(dim.expression.terms)
        more = terms.pop((), 0)
        ((monomial, factor),) = terms.items() if len(terms) == 1 else (((), 0),)
        if len(monomial) != 1 or monomial[0].text not in conditions.axes:
            return None
        index, axis = conditions.axes[monomial[0].text]
        source = _source(self._result, position, index)
        return None if source is None else ((*source, axis), factor, more)


def _conditions(operation: Operation, inputs: tuple[Tensor | None, ...]) -> _Conditions | None:
    """Returns the conditions of an operation on its inputs; None if it refuses them."""
    from ..symbols.dimensions import dimension
    from ..symbols.facts import Facts

    facts, axes = Facts(), {}

    def named(index: int, axis: int, dim: Dimension) -> Dimension:
        if dim.is_static:
            return dim
        name = f"x{index}_{axis}"
        axes[name] = index, axis
        high = math.inf if dim.high == UNBOUNDED else dim.high
        return dimension(facts.symbol(name, dim.low, high), dim)

    fed = [
        tensor
        if tensor is None or tensor.shape.dims is None
        else Tensor(
            tensor.element_type,
            PartialShape([named(index, axis, dim) for axis, dim in enumerate(tensor.shape)]),
            tensor.value,
        )
        for index, tensor in enumerate(inputs)
    ]
    try:
        operands = check_inputs(operation, tuple(each for each in fed if each is not None))
        outputs = operation.infer(*operands)
        tuple(operation.check(*operands))
    except Exception:
        return None  # what refuses its inputs is reported already
    return _Conditions(facts, axes, outputs if isinstance(outputs, tuple) else (outputs,))


def _source(result: BodyResult, position: int, index: int) -> OutputRef | None:
    """Returns the output that feeds an input; None if the layer was inferred from something
    else."""
    row = result.wiring.sources[position]
    source = row[index] if index < len(row) and None not in row else None
    if source is None:
        return None
    outputs, inputs = result.outputs[source[0]], result.inputs.get(position, ())
    known = source[1] < len(outputs) and index < len(inputs)
    return source if known and inputs[index] == outputs[source[1]] else None
