"""Proposes shapes of inputs that make dimensions of a model bounded or static.

A shape is only proposed if no layer refuses it in inference. If the shape has ranges, no layer may
refuse the bounds of the ranges, or sizes drawn at random from them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ..model.graph import Layer
from ..shapes import UNBOUNDED, Dimension, PartialShape
from ..symbols.bounds import Range
from ..symbols.expressions import Expression, Symbol
from .body_engine import BodyEngine
from .input_sizes import Sizes, candidates, grid, shape_of
from .named_sizes import tensor_name
from .result import BodyResult

if TYPE_CHECKING:
    from .result import Inference

BATCHES = 8
LENGTHS = 128
"""The proposed upper bounds: `BATCHES` for axis 0 of an input, `LENGTHS` for all other axes."""
SAMPLES = 4
"""How many sizes within the ranges are tried at random."""
MOST_LAYERS = 200_000
"""The maximum number of layers to infer for all proposals together."""

Ranges = dict[Symbol, Range]


class Binding(NamedTuple):
    """Proposed shapes of inputs, and the inference with these shapes."""

    shapes: dict[str, str]
    """The shape of each input, by name."""
    result: BodyResult


class Proposals:
    """Proposes sizes and ranges of inputs that all layers of a model accept."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.sizes = inference.sizes
        self.symbols = list(inference.sizes.symbols)
        self._engine = BodyEngine(inference.model)
        self._taken: dict[tuple[tuple[str, PartialShape], ...], bool] = {}
        layers = sum(len(part.body.layers) for part in inference.result.walk())
        self._attempts = max(MOST_LAYERS // max(layers, 1), 2)
        self._chance = random.Random(0)

    @cached_property
    def _as_declared(self) -> BodyResult:
        """The result of inference with the input shapes that the file declares."""
        return self._inferred({})

    @cached_property
    def _refused(self) -> set[Layer]:
        """The layers that refuse the shapes which the file declares. Proposals ignore them."""
        return self._as_declared.refusing()

    @cached_property
    def fitting(self) -> Sizes | None:
        """Sizes of the symbols that every layer accepts; None if the search finds none."""
        for sizes in candidates(self.sizes):
            if self._holds(sizes):
                return sizes
        return None

    def refusal(self) -> tuple[Layer, dict[str, str]] | None:
        """Returns a layer that refuses input shapes with sizes from `grid`, and these shapes."""
        for sizes in grid(self.sizes):
            shapes = self._sized(sizes)
            refusing = self._refusing(shapes)
            if refusing is not None:
                return refusing, {tensor_name(each): str(shape) for each, shape in shapes.items()}
        return None

    def binding(
        self,
        symbols: Collection[Symbol] | None = None,
        *,
        fixed: Collection[Symbol] = (),
        filled: bool = False,
    ) -> Binding | None:
        """Returns shapes of the inputs in which symbols are bounded (a range) or fixed (one size).

        Returns None if no input has such a symbol, or if layers refuse all shapes tried.
        symbols: the symbols to bound; by default all.
        fixed: the symbols to fix. filled: exclude size 0.
        """
        known, fitting = self.sizes.facts.ranges, self.fitting
        if fitting is None:
            return None
        ranges: Ranges = {}
        for symbol in self.symbols:
            low, high = known[symbol]
            size = fitting[symbol.name]
            if symbol in fixed:
                ranges[symbol] = size, size
            elif high < math.inf:
                ranges[symbol] = low, high
            elif symbols is None or symbol in symbols:
                most = BATCHES if symbol.axis == 0 else LENGTHS
                ranges[symbol] = low, max(most, 2 * int(low), size)
        if not self._allows(ranges, filled=filled):
            wanted = ranges
            ranges = {symbol: (float(fitting[symbol.name]),) * 2 for symbol in wanted}
            for symbol, (low, high) in wanted.items():
                size = fitting[symbol.name]
                bounds = ((low, high), (1, high), (size, high), (low, size), (1, size))
                for wider in (each for each in bounds if low <= each[0] <= size <= each[1] <= high):
                    if self._allows({**ranges, symbol: wider}, filled=filled):
                        ranges[symbol] = wider
                        break
            if not self._allows(ranges, filled=filled):
                return None
        nonempty = {
            s: (1.0, high) if (s.axis, low, known[s][1]) == (0, 0, math.inf) else (low, high)
            for s, (low, high) in ranges.items()
        }
        if nonempty != ranges and self._allows(nonempty, filled=filled):
            ranges = nonempty
        shapes = self._shapes(ranges, filled=filled)
        names = {tensor_name(layer): str(shape) for layer, shape in shapes.items()}
        return Binding(names, self._inferred(shapes)) if shapes else None

    def _allows(self, ranges: Ranges, *, filled: bool) -> bool:
        """Whether every layer accepts these ranges, their bounds, and random sizes within them."""
        shapes = self._shapes(ranges, filled=filled)
        if shapes and self._inferred(shapes).refusing() - self._refused:
            return False
        assert self.fitting is not None
        least = {symbol: max(int(low), int(filled)) for symbol, (low, _) in ranges.items()}
        rest = {s.name: self.fitting[s.name] for s in self.symbols if s not in ranges}
        chosen = [least, {symbol: int(high) for symbol, (_, high) in ranges.items()}]
        for _ in range(SAMPLES):
            chosen.append(
                {s: self._chance.randint(least[s], max(int(ranges[s][1]), least[s])) for s in least}
            )
        return all(
            self._holds({**rest, **{symbol.name: size for symbol, size in sizes.items()}})
            for sizes in chosen
        )

    def _holds(self, sizes: Sizes) -> bool:
        """Whether every layer accepts these sizes of the symbols."""
        if any(self.sizes.broken(sizes)):
            return False
        shapes = self._sized(sizes)
        return self._within(shapes) and self._takes(shapes)

    def _sized(self, sizes: Sizes) -> dict[Layer, PartialShape]:
        """Returns the shapes of the inputs for sizes of the symbols."""
        return {layer: shape_of(known, shape, sizes) for layer, known, shape in self._inputs()}

    def _within(self, shapes: Mapping[Layer, PartialShape]) -> bool:
        """Whether these sizes lie within the ranges of the inputs' dimensions, e.g. 3 in 1..8."""
        return all(
            dim.contains(size.low)
            for layer, _, shape in self._inputs()
            for dim, size in zip(shape, shapes[layer], strict=True)
        )

    def _takes(self, shapes: Mapping[Layer, PartialShape]) -> bool:
        """Whether all layers accept these shapes of the inputs."""
        key = tuple((layer.id, shape) for layer, shape in shapes.items())
        taken = self._taken.get(key)
        if taken is None:
            if not self._attempts:
                return False
            self._attempts -= 1
            taken = self._taken[key] = not self._inferred(shapes).refusing() - self._refused
        return taken

    def _inputs(self) -> Iterator[tuple[Layer, tuple[Expression | None, ...], PartialShape]]:
        """Yields each input of known rank, with its dimensions as expressions, and its shape."""
        for layer in self.inference.model.parameters:
            if not self.inference.outputs(layer):
                continue  # a Parameter without a port
            known = self.inference.expressions(layer)[0]
            shape = self.inference.outputs(layer)[0].shape
            if known is not None and shape.dims is not None:
                yield layer, known, shape

    def _shapes(self, ranges: Ranges, *, filled: bool) -> dict[Layer, PartialShape]:
        """Returns the inputs whose shapes these ranges change, with their new shapes."""
        facts = self.sizes.facts
        before = facts.ranges
        facts.ranges = before | ranges
        facts.forget()
        try:
            shapes: dict[Layer, PartialShape] = {}
            for layer, known, shape in self._inputs():
                dims = [
                    dim
                    if size is None or size.symbols.isdisjoint(ranges)
                    else _interval(size, dim, filled=filled)
                    for size, dim in zip(known, shape, strict=True)
                ]
                if PartialShape(dims) != self._declared(layer):
                    shapes[layer] = PartialShape(dims)
        finally:
            facts.ranges = before
            facts.forget()
        return shapes

    def _declared(self, layer: Layer) -> PartialShape:
        """Returns the shape that the file declares for an input."""
        position = self._as_declared.body.layers.index(layer)
        return self._as_declared.outputs[position][0].shape

    def chosen(self) -> Iterator[tuple[Layer, int, int, Layer | None]]:
        """Yields the input, axis and proposed size of each dynamic dimension of an input, and the
        layer that requires this size (None if another size fits)."""
        fitting = self.fitting
        if fitting is None:
            return
        requiring = {symbol: self._requiring(symbol.name, fitting) for symbol in self.symbols}
        shapes = self._sized(fitting)
        for layer, row, _ in self._inputs():
            for axis, (dim, size) in enumerate(zip(self._declared(layer), row, strict=True)):
                given = shapes[layer][axis].low
                if dim.is_static or size is None:
                    continue
                if size.symbols:  # the sizes of other inputs decide about a sum
                    yield layer, axis, given, requiring.get(size.atom)  # type: ignore[arg-type]
                    continue
                dims = [*shapes[layer]]
                dims[axis] = Dimension(given + 1)
                refusing = self._refusing({**shapes, layer: PartialShape(dims)})
                if refusing is not None:  # else the user gave the size
                    yield layer, axis, given, refusing

    def _requiring(self, name: str, fitting: Sizes) -> Layer | None:
        """Returns a layer that requires the size of a symbol: it refuses half, double or triple the
        size. Returns None if one of these fits, or if the size is 1, which may broadcast."""
        size, refusing = fitting[name], None
        for other in (2 * size, 3 * size, size // 2) if size > 1 else ():
            shapes = self._sized({**fitting, name: other})
            if self._within(shapes):
                refusing = self._refusing(shapes)
                if refusing is None:
                    return None
        return refusing

    def _refusing(self, shapes: Mapping[Layer, PartialShape]) -> Layer | None:
        """Returns the first layer that refuses these shapes."""
        refusing = self._inferred(shapes).refusing() - self._refused
        return min(refusing, key=lambda layer: layer.offset, default=None)

    def _inferred(self, shapes: Mapping[Layer, PartialShape]) -> BodyResult:
        by_id = {layer.id: shape for layer, shape in shapes.items()}
        return self._engine.infer_body(self.inference.model.net, by_id)


def _interval(size: Expression, dim: Dimension, *, filled: bool) -> Dimension:
    """Returns the range of an expression, as far as it lies in `dim`. filled: exclude size 0."""
    facts = size.facts
    low, high = facts.range(size)
    most = UNBOUNDED if high == math.inf else int(high)
    least = max(int(low), dim.low) if low > -math.inf else dim.low
    if least == 0 and (filled or facts.at_least(size, facts.number(1))) and high > 0:
        least = 1
    return Dimension(least, max(min(most, dim.high), least))
