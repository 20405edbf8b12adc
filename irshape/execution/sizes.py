"""Sizes of inputs: whether a model takes them, and which it takes where dimensions are dynamic.

Both are found by inference, before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import NamedTuple

from ..faults import Fault
from ..inference.body_engine import BodyEngine
from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..rule_ids import DUPLICATE_VALUES
from ..shapes import PartialShape

Sizes = dict[str, tuple[int, ...]]
"""The sizes of each input, by layer id."""

FIRST = 2
"""The size that a dynamic dimension gets where everything goes."""
CHANNELS = 3
SERIES = (2, 3, 4, 8, 16, 32, 64, 96, 128, 224, 256, 384, 512, 1024, 1)
"""Tried for all dimensions but the batch together."""
ALONE = (
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
    16,
    20,
    24,
    32,
    48,
    64,
    80,
    96,
    128,
    192,
    224,
    256,
    400,
    512,
    768,
    1024,
    1,
)
"""Tried for one dimension, or one kind of dimensions, while the others stay."""
PAIRED = (2, 3, 4, 5, 6, 8, 12, 16, 1)
ROUNDS = 4
MAX_TRIALS = 600


class Refusal(NamedTuple):
    """The first layer that does not take what certain sizes of the inputs lead to."""

    position: int
    layer: Layer
    message: str

    def __str__(self) -> str:
        return f"{self.layer.type} '{self.layer.name}' (id {self.layer.id}): {self.message}"


class Fitter:
    """Tells whether sizes fit a model; what one set of sizes needs is reused for the next."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.engine = BodyEngine(model)
        self._without_sizes: BodyResult | None = None

    def infer(self, sizes: Mapping[str, tuple[int, ...]]) -> BodyResult:
        return self.engine.infer_body(
            self.model.net, {id: PartialShape(shape) for id, shape in sizes.items()}
        )

    def refusal(
        self, sizes: Mapping[str, tuple[int, ...]], result: BodyResult | None = None
    ) -> Refusal | None:
        """The first layer of the net that refuses the sizes; None where all take them.

        What is refused whatever the sizes is left to the run, as are layers in bodies. A layer
        refuses sizes as well with which its output gets another rank than is inferred for the
        model: a Squeeze of an axis of dynamic size, where the size is not 1.
        """
        inferred = result or self.infer(sizes)
        refused, changed = _refused(inferred), _of_other_rank(inferred)
        if not refused and not changed:
            return None
        if self._without_sizes is None:
            self._without_sizes = self.engine.infer_body(self.model.net, {})
        always = _refused(self._without_sizes)
        for position in inferred.wiring.order:
            layer = inferred.body.layers[position]
            if position in refused and position not in always:
                return Refusal(position, layer, refused[position])
            if position in changed:
                for own, any_sizes in zip(
                    inferred.outputs[position], self._without_sizes.outputs[position], strict=True
                ):
                    if any_sizes.rank not in (None, own.rank):
                        return Refusal(
                            position,
                            layer,
                            f"gives {own.shape}, but {any_sizes.shape} is inferred for the model",
                        )
        return None

    def fitting(self, given: Mapping[str, PartialShape]) -> Sizes:
        """Chooses sizes for the dynamic dimensions of all inputs. The same model gets the same.

        given: the shapes of the inputs by layer id.
        Sizes are tried in this order, until no layer refuses: 2 everywhere; what inference with
        named sizes says; each size of `SERIES`
        for everything but the batch, with 3 for the channels of inputs of rank 4; then, from what
        got furthest, each size of `ALONE` for batches, channels, lengths and planes, and for each
        dimension by itself; where that gets no further, each two of these with each two sizes of
        `PAIRED`; and so on for some rounds.
        Raises `ValueError` with the layer that refuses where nothing fits.
        """
        best: Sizes | None = None
        reached = -1
        last: Refusal | None = None
        seen: set[tuple[tuple[int, ...], ...]] = set()

        def fits(sizes: Sizes) -> bool:
            nonlocal best, reached, last
            key = tuple(sizes.values())
            if key in seen or len(seen) >= MAX_TRIALS:
                return False
            seen.add(key)
            refusal = self.refusal(sizes)
            far = len(self.model.net.layers) if refusal is None else refusal.position
            if far > reached:
                best, reached, last = sizes, far, refusal
            return refusal is None

        for sizes in self._together(given):
            if fits(sizes):
                return sizes
        for _ in range(ROUNDS):
            before = reached
            for group in _groups(given):
                base = best or {}
                for size in ALONE:
                    if fits(_with(given, base, group, size)):
                        return best or {}
            if reached > before:
                continue
            base = best or {}
            for one, other in combinations(_groups(given), 2):
                for size, second in product(PAIRED, PAIRED):
                    if fits(_with(given, _with(given, base, one, size), other, second)):
                        return best or {}
                if reached > before:
                    break
        assert best is not None
        names = {layer.id: layer.name for layer in self.model.parameters}
        tried = ", ".join(f"{names[id]}={list(shape)}" for id, shape in best.items())
        raise ValueError(
            f"no fitting sizes were found; the best attempt, {tried}, fails: {last}. "
            "Specify the shapes (--shape NAME=SHAPE), or the inputs themselves (--input)"
        )

    def _together(self, given: Mapping[str, PartialShape]) -> Iterator[Sizes]:
        """Sizes for all dimensions at once; names tell which of them go together."""
        for number, sizes in enumerate(_together(given)):
            yield sizes
            if number == 0:
                named = self._by_name(given)
                if named is not None:
                    yield named

    def _by_name(self, given: Mapping[str, PartialShape]) -> Sizes | None:
        """Sizes by what inference with names says of them; None where it finds none."""
        from ..inference.bindings import sizes_for
        from ..inference.symbolic import infer_symbolic

        result, names = infer_symbolic(self.model, given, {})
        numbers = sizes_for(names)
        if numbers is None or result.expressions is None:
            return None
        sizes: Sizes = {}
        for position, layer in enumerate(result.body.layers):
            if layer.is_parameter and layer.id in given:
                known = result.expressions[position][0]
                if known is None or None in known:
                    return None
                sizes[layer.id] = tuple(
                    max(size.evaluate(numbers), 0) for size in known if size is not None
                )
        return sizes


def _refused(result: BodyResult) -> dict[int, str]:
    """The layers of a body that what reaches them does not fit, with the reason."""
    positions = {layer: position for position, layer in enumerate(result.body.layers)}
    messages: dict[int, str] = {}
    for layer, subject in result.observations:
        position = positions.get(layer)
        if isinstance(subject, Fault) and subject.rule != DUPLICATE_VALUES and position is not None:
            messages.setdefault(position, subject.message)
    return messages


def _of_other_rank(result: BodyResult) -> set[int]:
    """The layers of a body whose outputs have another rank than the ports declare."""
    return {
        position
        for position, (layer, tensors) in enumerate(
            zip(result.body.layers, result.outputs, strict=True)
        )
        for port, tensor in zip(layer.outputs, tensors, strict=False)
        if port.dims is not None and tensor.rank not in (None, len(port.dims))
    }


def _size(low: int, high: int, wanted: int) -> int:
    return min(max(wanted, low), high)


def _together(given: Mapping[str, PartialShape]) -> Iterator[Sizes]:
    for number, size in enumerate((FIRST, *SERIES)):
        yield {
            id: tuple(
                _size(
                    dim.low,
                    dim.high,
                    FIRST
                    if number == 0 or axis == 0
                    else CHANNELS
                    if axis == 1 and len(shape) == 4
                    else size,
                )
                for axis, dim in enumerate(shape)
            )
            for id, shape in given.items()
        }


def _groups(given: Mapping[str, PartialShape]) -> Iterator[set[tuple[str, int]]]:
    """Sets of dynamic dimensions that often have one size, then each dimension alone.

    The sets are planes, lengths, channels and batches.
    """
    dynamic = [
        (id, axis, len(shape))
        for id, shape in given.items()
        for axis, dim in enumerate(shape)
        if dim.is_dynamic
    ]
    kinds = (
        {(id, axis) for id, axis, rank in dynamic if rank >= 4 and axis >= 2},
        {(id, axis) for id, axis, rank in dynamic if rank < 4 and axis >= 1},
        {(id, axis) for id, axis, rank in dynamic if rank < 4 and axis == rank - 1},
        {(id, axis) for id, axis, rank in dynamic if rank >= 4 and axis == 1},
        {(id, axis) for id, axis, _ in dynamic if axis == 0},
    )
    yield from (kind for kind in kinds if kind)
    yield from ({(id, axis)} for id, axis, _ in dynamic)


def _with(
    given: Mapping[str, PartialShape], base: Sizes, group: set[tuple[str, int]], size: int
) -> Sizes:
    return {
        id: tuple(
            _size(given[id][axis].low, given[id][axis].high, size) if (id, axis) in group else old
            for axis, old in enumerate(shape)
        )
        for id, shape in base.items()
    }
