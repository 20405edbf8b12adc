"""Sizes of inputs: whether a model takes them, and which it takes where dimensions are dynamic.

Both are found by inference, before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ..faults import Fault
from ..inference.body_engine import BodyEngine
from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..rule_ids import DUPLICATE_VALUES
from ..shapes import PartialShape

Sizes = dict[str, tuple[int, ...]]
"""The sizes of each input, by layer id."""


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

        given: the shapes of the inputs by layer id, of static rank.
        The first sizes that no layer refuses are taken: 2 everywhere, then what inference with
        named sizes says, then each of a series for everything but the batch.
        Raises `ValueError` with the layer that refuses where nothing fits.
        """
        best: tuple[int, Sizes, Refusal] | None = None
        for sizes in self._candidates(given):
            refusal = self.refusal(sizes)
            if refusal is None:
                return sizes
            if best is None or refusal.position > best[0]:
                best = refusal.position, sizes, refusal
        assert best is not None
        names = {layer.id: layer.name for layer in self.model.parameters}
        tried = ", ".join(f"{names[id]}={list(shape)}" for id, shape in best[1].items())
        raise ValueError(
            f"no fitting sizes were found; the best attempt, {tried}, fails: {best[2]}. "
            "Specify the shapes (--shape NAME=SHAPE), or the inputs themselves (--input)"
        )

    def _candidates(self, given: Mapping[str, PartialShape]) -> Iterator[Sizes]:
        from ..inference.input_sizes import SERIES, candidates, shape_of, sizes_for
        from ..inference.symbolic import infer_symbolic

        yield _sized(given, lambda shape, axis: 2)
        result, names = infer_symbolic(self.model, given, {})
        expressions = result.expressions or [()] * len(result.body.layers)
        inputs = {
            layer.id: known[0]
            for layer, known in zip(result.body.layers, expressions, strict=True)
            if layer.id in given and known and known[0] is not None
        }
        least = sizes_for(names)
        for sizes in (*([least] if least else ()), *candidates(names)):
            shapes = {id: shape_of(known, given[id], sizes) for id, known in inputs.items()}
            yield _sized({**given, **shapes}, lambda shape, axis: 2)
        for size in SERIES:
            yield _sized(
                given,
                lambda shape, axis, size=size: (  # type: ignore[misc]
                    2 if axis == 0 else 3 if (axis, len(shape)) == (1, 4) else size
                ),
            )


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


def _sized(given: Mapping[str, PartialShape], size: Callable[[PartialShape, int], int]) -> Sizes:
    """The size of each dimension nearest to the wanted one."""
    return {
        id: tuple(min(max(size(shape, axis), dim.low), dim.high) for axis, dim in enumerate(shape))
        for id, shape in given.items()
    }
