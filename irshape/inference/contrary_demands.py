"""Whether layers of a model may demand the contrary of one dynamic dimension.

Each of them fits the interval that reaches it, and inference with named sizes, which finds out,
takes several times as long. What is found here is left to that to prove; nothing is found that
rests on more than sizes that are passed on, and sums and products with numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..demands import excludes, solved
from ..faults import Fault, Violation
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..ops.bodies import BodyView
from ..ops.declaration import Operation, check_inputs
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..shapes import Dimension, PartialShape
from .bodies import bind, infer_with_bodies
from .declarations import Declarations
from .result import BodyResult
from .tracing import TracedDemands, TracedDimension

Place = tuple[int, int]
"""An input of a layer, and an axis."""


class LayerDemands(NamedTuple):
    """What a layer demands of its inputs, and how its outputs follow from them."""

    numbers: tuple[tuple[Place, str, int], ...]
    """See `TracedDemands`."""
    equal: tuple[tuple[Place, Place, int], ...]
    outputs: tuple[tuple[tuple[Place, int, int] | None, ...], ...]
    """For each axis of each output the axis that it is a multiple of, plus a number: the place, the
    factor and the number. None where it is not known to be one."""


def may_contradict(model: Model, result: BodyResult) -> bool:
    """Whether layers may demand the contrary of a dynamic dimension.

    result: what is inferred of the model.
    """
    return _Traces(_Layers(model, result)).contradict()


class _Layers:
    """What the layers of a model demand, bodies included; worked out once for layers alike."""

    def __init__(self, model: Model, result: BodyResult) -> None:
        self.result = result
        self._declarations = Declarations(model)
        self._known: dict[tuple[object, ...], LayerDemands] = {}
        """What was worked out, by operation and inputs; by layer for one with bodies."""

    def of(self, part: BodyResult, position: int) -> LayerDemands:
        """What one layer demands."""
        layer, inputs = part.body.layers[position], part.inputs.get(position, ())
        declaration = self._declarations.of(layer)
        if isinstance(declaration, UnknownOperation) or not any(map(_is_dynamic, inputs)):
            return _NOTHING
        operation, _ = declaration
        key: tuple[object, ...] = (layer, part) if operation.has_bodies else (operation, *inputs)
        own = self._known.get(key)
        if own is None:
            if operation.has_bodies:
                inner = part.inner.get(position, {})
                own = _around_bodies(layer, operation, inputs, inner)
            else:
                own = _of_operation(operation, inputs)
            self._known[key] = own
        return own


def _is_dynamic(tensor: Tensor | None) -> bool:
    return tensor is not None and -1 in tensor.shape.declared


def _of_operation(operation: Operation, inputs: tuple[Tensor | None, ...]) -> LayerDemands:
    demands, places, fed = _traced(inputs)
    try:
        operands = check_inputs(operation, fed)
        outputs = operation.infer(*operands)
        tuple(operation.check(*operands))
    except Exception:
        return _NOTHING  # what refuses its inputs is reported already
    return _own(demands, places, outputs if isinstance(outputs, tuple) else (outputs,))


def _around_bodies(
    layer: Layer,
    operation: Operation,
    inputs: tuple[Tensor | None, ...],
    inner: dict[str, BodyResult],
) -> LayerDemands:
    """inner: what is inferred of the bodies."""
    demands, places, fed = _traced(inputs)
    known = {layer.bodies[tag]: result for tag, result in inner.items()} if layer.bodies else {}
    outputs = infer_with_bodies(
        layer, operation, fed, lambda body, *_: known[body], compare=False
    ).outputs
    return _own(demands, places, () if isinstance(outputs, Fault) else outputs)


_NOTHING = LayerDemands((), (), ())


def _traced(
    inputs: tuple[Tensor | None, ...],
) -> tuple[TracedDemands, list[Place], tuple[Tensor, ...]]:
    """Inputs whose dynamic dimensions write demands down; where each of these stands."""
    demands = TracedDemands()
    places: list[Place] = []

    def traced(index: int, tensor: Tensor) -> Tensor:
        dims: list[Dimension] = []
        for axis, dim in enumerate(tensor.shape):
            if dim.low == dim.high:
                dims.append(dim)
            else:
                dims.append(TracedDimension(demands, len(places), 1, 0, dim))
                places.append((index, axis))
        return Tensor(tensor.element_type, PartialShape(dims), tensor.value)

    fed = tuple(
        traced(index, tensor) if -1 in tensor.shape.declared else tensor
        for index, tensor in enumerate(inputs)
        if tensor is not None
    )
    return demands, places, fed


def _own(demands: TracedDemands, places: list[Place], outputs: tuple[Tensor, ...]) -> LayerDemands:
    following = []
    for tensor in outputs:
        axes: list[tuple[Place, int, int] | None] = []
        for dim in tensor.shape.dims or ():
            if isinstance(dim, TracedDimension):
                axes.append((places[dim.index], dim.scale, dim.offset))
            else:
                axes.append(None)
        following.append(tuple(axes))
    return LayerDemands(
        tuple([(places[index], relation, size) for index, relation, size in demands.numbers]),
        tuple([(places[here], places[there], more) for here, there, more in demands.equal]),
        tuple(following),
    )


Origin = tuple[int, int, int, int]
"""Where a dimension comes from: a body, counted, a layer, an output and an axis."""
Form = tuple[Origin, int, int]
"""A multiple of an origin, plus a number."""


class _Traces:
    """The demands of a model, traced back to where the dimensions come from."""

    def __init__(self, layers: _Layers) -> None:
        self._layers = layers
        self._parts = list(layers.result.walk())
        self._numbers = {part: index for index, part in enumerate(self._parts)}
        self._outer: dict[tuple[int, str], tuple[BodyResult, int, int, int | None]] = {}
        """What feeds a Parameter of a body: a layer around it, one of its inputs, and the axis
        along which that is sliced."""
        for part in self._parts:
            for position, inner in part.inner.items():
                self._note_bodies(part, position, inner)
        self._forms: dict[Origin, Form] = {}
        self._above: dict[Origin, tuple[Origin, int]] = {}

    def _note_bodies(self, part: BodyResult, position: int, inner: dict[str, BodyResult]) -> None:
        layer = part.body.layers[position]
        for tag, result in inner.items():
            try:
                view: BodyView[Tensor] = bind(layer, tag, lambda _: {})
            except Violation:  # which is reported already
                continue
            for binding in view.inputs:
                if binding.external is not None:
                    key = self._numbers[result], binding.internal
                    self._outer[key] = part, position, binding.external, binding.axis

    def contradict(self) -> bool:
        """Whether some demands do not hold together."""
        demands = {each for part in self._parts for each in part.demands.values()}
        sizes = {number for each in demands for relation, number in each if relation == "=="}
        numbers = self._traced(
            lambda relation, number: (
                relation == "==" or any(excludes(size, relation, number) for size in sizes)
            )
        )
        if self._clash(numbers):
            return True
        inputs = [demand for demand in numbers if self._is_input(demand[0])]
        if not any(
            excludes(size, relation, number) for size in sizes for _, relation, number in inputs
        ):
            return False  # what is worked out in different places is seldom equal
        for part, position in self._positions(lambda relation, _: relation == "="):
            for here, there, more in self._layers.of(part, position).equal:
                forms = self._form(part, position, *here), self._form(part, position, *there)
                if not self._join(*forms, more):
                    return True
        return bool(self._above) and self._clash(numbers)

    def _is_input(self, origin: Origin) -> bool:
        """Whether a dimension is one of an input, or of a variable."""
        number, position, *_ = origin
        return not self._parts[number].wiring.sources[position]

    def _positions(self, chosen: Callable[[str, int], bool]) -> Iterator[tuple[BodyResult, int]]:
        """The layers that make some of the chosen demands."""
        for part in self._parts:
            for position, demands in sorted(part.demands.items()):
                if any(chosen(*demand) for demand in demands):
                    yield part, position

    def _traced(self, chosen: Callable[[str, int], bool]) -> list[tuple[Origin, str, int]]:
        """The demands of the layers that make some of those chosen, traced back to where the
        dimensions come from.
        """
        numbers = []
        for part, position in self._positions(chosen):
            for (index, axis), relation, number in self._layers.of(part, position).numbers:
                form = self._form(part, position, index, axis)
                demand = None if form is None else solved(relation, number, *form[1:])
                if form is not None and demand is not None:
                    numbers.append((form[0], *demand))
        return numbers

    def _clash(self, numbers: list[tuple[Origin, str, int]]) -> bool:
        """Whether demands of one size contradict each other."""
        sizes: dict[Origin, int] = {}
        for origin, relation, number in numbers:
            if relation == "==":
                root, more = self._root(origin)
                if number - more < 0 or sizes.setdefault(root, number - more) != number - more:
                    return True
        for origin, relation, number in numbers:
            root, more = self._root(origin)
            if root in sizes and excludes(sizes[root] + more, relation, number):
                return True
        return False

    def _join(self, here: Form | None, there: Form | None, more: int) -> bool:
        """Takes down that a size is another one and a number; whether it can be."""
        if here is None or there is None or here[1] != there[1]:
            return True
        step, rest = divmod(there[2] + more - here[2], here[1])
        (root, ours), (other, theirs) = self._root(here[0]), self._root(there[0])
        if root == other:
            return not rest and ours == theirs + step
        if not rest:
            self._above[root] = other, theirs + step - ours
        return True

    def _root(self, origin: Origin) -> tuple[Origin, int]:
        """The size that stands for those that it must equal, and how much the given one is more."""
        path = []
        root, more = origin, 0
        while root in self._above:
            path.append((root, more))
            root, step = self._above[root]
            more += step
        for passed, before in path:
            self._above[passed] = root, more - before
        return root, more

    def _form(self, part: BodyResult, position: int, index: int, axis: int) -> Form | None:
        """What an axis of an input of a layer is; None where nothing feeds it."""
        source = _source(part, position, index)
        if source is None:
            return None
        start = origin = self._numbers[part], *source, axis
        scale, offset = 1, 0
        while True:
            known = self._forms.get(origin)
            if known is not None:
                origin, factor, more = known
                scale, offset = scale * factor, scale * more + offset
                break
            before = self._before(*origin)
            if before is None:
                break
            origin, factor, more = before
            scale, offset = scale * factor, scale * more + offset
        form = self._forms[start] = origin, scale, offset
        return form

    def _before(self, number: int, position: int, output: int, axis: int) -> Form | None:
        """What an axis of an output is in terms of the layer before."""
        part = self._parts[number]
        layer = part.body.layers[position]
        factor, more = 1, 0
        if layer.is_parameter:
            outer = self._outer.get((number, layer.id))
            if outer is None or outer[3] == axis:
                return None
            part, position, index, _ = outer
        else:
            outputs = self._layers.of(part, position).outputs
            axes = outputs[output] if output < len(outputs) else ()
            step = axes[axis] if axis < len(axes) else None
            if step is None:
                return None
            (index, axis), factor, more = step
        source = _source(part, position, index)
        return None if source is None else ((self._numbers[part], *source, axis), factor, more)


def _source(part: BodyResult, position: int, index: int) -> OutputRef | None:
    """The output that feeds an input."""
    row = part.wiring.sources[position]
    return row[index] if index < len(row) and None not in row else None
