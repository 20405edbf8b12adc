"""Layers that need contrary sizes of one dynamic dimension, so that no size of it fits them all.

Inference without named sizes does not see that: each layer fits the interval that reaches it.
Inference with them does, and takes several times as long. It is left to models whose layers may
contradict each other by demands on sizes that are passed on, and on sums and products with numbers.

For that, the model is inferred once more with dimensions that write down what is demanded of them.
An operation says what it demands where it infers: `merge`, `broadcast`, `agrees`, `at_least`,
`one_or`, `multiple_of`. So there is no list of demands beside the declarations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from ..demands import excludes, solved
from ..faults import Fault
from ..model.graph import Body, Layer, Model
from ..ops.declaration import Operation
from ..ops.tensors import Tensor
from ..shapes import Dimension, PartialShape
from .body_engine import BodyEngine
from .layer import LayerEngine
from .result import BodyResult, LayerResult

MAX_LAYERS = 5000
"""Larger nets are not inferred once more."""


def contrary_sizes(model: Model, result: BodyResult) -> Iterator[tuple[Layer, Fault]]:
    """The layers that need what others exclude, whatever the sizes of the inputs.

    result: what is inferred of the model.
    """
    if (
        model.kind == "net"
        and len(model.net.layers) <= MAX_LAYERS
        and _differ(result)
        and _TracingEngine(model).traces.contradict()
    ):
        from .symbolic import contrary_layers

        yield from contrary_layers(model)


def _differ(result: BodyResult) -> bool:
    """Whether demands of layers could contradict each other, of whatever dimensions they are.

    Two numbers could, or one that two kinds of layers demand of sizes that are apart by another.
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


class _Traces:
    """The dynamic dimensions that follow from no others, and what layers demand of them."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, str, int], None] = {}
        """A size, and what is demanded of it: see `Demand`."""
        self.equal: dict[tuple[int, int, int], None] = {}
        """The first size has to be the second and a number."""
        self._sizes: dict[tuple[Layer, int, int], int] = {}
        self._inputs: set[int] = set()
        self._above: dict[int, tuple[int, int]] = {}

    def traced(self, layer: Layer, port: int, tensor: Tensor) -> Tensor:
        """An output whose dynamic dimensions write demands down."""
        if -1 not in tensor.shape.declared:
            return tensor
        dims: list[Dimension] = []
        for axis, dim in enumerate(tensor.shape):
            if dim.low == dim.high or isinstance(dim, _TracedDimension):
                dims.append(dim)
                continue
            size = self._sizes.setdefault((layer, port, axis), len(self._sizes))
            if not layer.port_heads.inputs:
                self._inputs.add(size)
            dims.append(_TracedDimension(self, size, 1, 0, dim))
        return Tensor(tensor.element_type, PartialShape(dims), tensor.value)

    def contradict(self) -> bool:
        """Whether some demands do not hold together."""
        if self._clash():
            return True
        sizes = {number for _, relation, number in self.numbers if relation == "=="}
        demands = {each[1:] for each in self.numbers if each[0] in self._inputs}
        if not any(excludes(size, *demand) for size in sizes for demand in demands):
            return False  # what is worked out in different places is seldom equal
        return not all(map(self._join, self.equal)) or (bool(self._above) and self._clash())

    def _clash(self) -> bool:
        """Whether demands of one size contradict each other."""
        sizes: dict[int, int] = {}
        for size, relation, number in self.numbers:
            if relation == "==":
                root, more = self._root(size)
                if number < more or sizes.setdefault(root, number - more) != number - more:
                    return True
        for size, relation, number in self.numbers:
            root, more = self._root(size)
            if root in sizes and excludes(sizes[root] + more, relation, number):
                return True
        return False

    def _join(self, equation: tuple[int, int, int]) -> bool:
        """Takes down that a size is another one and a number; whether it can be."""
        here, there, step = equation
        (root, ours), (other, theirs) = self._root(here), self._root(there)
        if root == other:
            return ours == theirs + step
        self._above[root] = other, theirs + step - ours
        return True

    def _root(self, size: int) -> tuple[int, int]:
        """The size that stands for those that it must equal, and how much the given one is more."""
        more = 0
        while size in self._above:
            size, step = self._above[size]
            more += step
        return size, more


class _TracedDimension(Dimension):
    """A dynamic dimension, `scale * size + offset`, that writes down what is demanded of it."""

    __slots__ = ("form", "traces")

    leads: ClassVar[bool] = True

    def __init__(
        self, traces: _Traces, size: int, scale: int, offset: int, interval: Dimension
    ) -> None:
        self.low, self.high = interval.low, interval.high
        self.traces = traces
        self.form = size, scale, offset

    def _demand(self, relation: str, number: int) -> None:
        size, scale, offset = self.form
        demand = solved(relation, number, scale, offset)
        if demand is not None:
            self.traces.numbers[size, *demand] = None

    def agrees(self, other: Dimension) -> bool:
        if isinstance(other, _TracedDimension):
            (size, scale, offset), (second, factor, more) = self.form, other.form
            if scale == factor and self.form != other.form and (more - offset) % scale == 0:
                self.traces.equal[size, second, (more - offset) // scale] = None
        elif other.is_static:
            self._demand("==", other.low)
        return self.compatible(other)

    def merge(self, other: Dimension) -> Dimension | None:
        if self is other:
            return self
        interval = Dimension.merge(self, other)
        if interval is None:
            return None
        self.agrees(other)
        return self._moved(1, 0, interval)

    def broadcast(self, other: Dimension) -> Dimension | None:
        if other.is_static and other.low != 1 and self.contains(1):
            self.one_or(other.low)
        elif isinstance(other, _TracedDimension) and self.form == other.form:
            return self
        return Dimension.broadcast(self, other)

    def at_least(self, other: Dimension | int) -> Dimension:
        least = other if isinstance(other, int) else other.low
        if least > self.low:
            self._demand(">=", least)
        return self

    def one_or(self, size: int) -> None:
        self._demand("1|", size)

    def multiple_of(self, divisor: int) -> Dimension:
        if divisor > 1:
            self._demand("%", divisor)
        return self

    def divided(self, divisor: int) -> Dimension | None:
        self.multiple_of(divisor)
        return Dimension(self.low, self.high).divided(divisor)

    def __add__(self, other: Dimension | int) -> Dimension:
        return self._moved(1, _number(other), Dimension.__add__(self, other))

    __radd__ = __add__

    def __sub__(self, other: Dimension | int) -> Dimension:
        number = _number(other)
        moved = None if number is None or self.low < number else -number
        return self._moved(1, moved, Dimension.__sub__(self, other))

    def __mul__(self, other: Dimension | int) -> Dimension:
        return self._moved(_number(other), 0, Dimension.__mul__(self, other))

    __rmul__ = __mul__

    def _moved(self, factor: int | None, more: int | None, interval: Dimension) -> Dimension:
        if not factor or more is None or interval.is_static:
            return interval
        size, scale, offset = self.form
        return _TracedDimension(self.traces, size, scale * factor, offset * factor + more, interval)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, _TracedDimension)
            and self.form == other.form
            and self.low == other.low
            and self.high == other.high
        )

    def __hash__(self) -> int:
        return hash((self.low, self.high))


def _number(size: Dimension | int) -> int | None:
    if isinstance(size, int):
        return size
    return size.low if size.is_static else None


class _TracingLayers(LayerEngine):
    """Infers layers whose outputs write demands down."""

    def __init__(self, model: Model, traces: _Traces) -> None:
        super().__init__(model)
        self._traces = traces

    def infer(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], with_values: bool
    ) -> LayerResult:
        result = super().infer(layer, operation, inputs, with_values)
        if isinstance(result.outputs, Fault):
            return result
        outputs = enumerate(result.outputs)
        return result._replace(
            outputs=tuple([self._traces.traced(layer, port, tensor) for port, tensor in outputs])
        )


class _TracingEngine(BodyEngine):
    """Infers a model once, and traces what its layers demand."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.traces = _Traces()
        self.layers = _TracingLayers(model, self.traces)
        self.infer_body(model.net, {})

    def infer_body(
        self,
        body: Body,
        parameters: Mapping[str, PartialShape | Tensor],
        *,
        compare: bool = False,
        result_values: bool = False,
    ) -> BodyResult:
        fed = {
            layer.id: self.traces.traced(layer, 0, tensor)
            for layer in body.layers
            if layer.is_parameter and isinstance(tensor := parameters.get(layer.id), Tensor)
        }
        return super().infer_body(
            body, {**parameters, **fed}, compare=compare, result_values=result_values
        )
