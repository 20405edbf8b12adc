"""Decides whether a model accepts input sizes, and chooses sizes for dynamic dimensions.

Infers the model with the sizes, but runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ..faults import Fault
from ..inference.body_engine import BodyEngine
from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..shapes import PartialShape

Sizes = dict[str, tuple[int, ...]]
"""The sizes of each input, by layer id."""


class Refusal(NamedTuple):
    """The first layer that refuses its inputs for certain sizes of the model's inputs, and why."""

    position: int
    layer: Layer
    message: str


class Fitter:
    """Decides whether input sizes fit a model. All its inferences share attributes, edges and
    constants."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.engine = BodyEngine(model)

    @cached_property
    def _any_sizes(self) -> BodyResult:
        """The types and shapes inferred from the inputs as the model declares them."""
        return self.engine.infer_body(self.model.net, {})

    def infer(self, sizes: Mapping[str, tuple[int, ...]]) -> BodyResult:
        return self.engine.infer_body(
            self.model.net, {id: PartialShape(shape) for id, shape in sizes.items()}
        )

    def refusal(
        self, sizes: Mapping[str, tuple[int, ...]], result: BodyResult | None = None
    ) -> Refusal | None:
        """Returns the first layer of the net that refuses the sizes; None if all accept them.

        Ignores refusals that do not depend on sizes, and refusals in bodies: the run reports them.
        A layer also refuses sizes if they change the rank of an output, e.g. if the dynamic axis
        that a Squeeze removes gets another size than 1.
        """
        inferred = result or self.infer(sizes)
        refused, changed = _refused(inferred), _of_other_rank(inferred)
        if not refused and not changed:
            return None
        always = _refused(self._any_sizes)
        for position in inferred.wiring.order:
            layer = inferred.body.layers[position]
            if position in refused and position not in always:
                return Refusal(position, layer, refused[position])
            if position in changed:
                for own, any_sizes in zip(
                    inferred.outputs[position], self._any_sizes.outputs[position], strict=True
                ):
                    if any_sizes.rank not in (None, own.rank):
                        return Refusal(
                            position,
                            layer,
                            f"has shape {own.shape}, but {any_sizes.shape} without given sizes",
                        )
        return None

    def fitting(self, given: Mapping[str, PartialShape]) -> Sizes:
        """Chooses sizes for the dynamic dimensions of all inputs. Equal models get equal sizes.

        given: the shapes of the inputs by layer id, of static rank.
        Tries size 2 for all dimensions, then sizes that follow from the conditions of layers.
        Returns the first sizes that no layer refuses. If there are none, returns sizes that only
        layers in bodies refuse, since these bodies may not run. Otherwise raises a `ValueError`
        that names a refusing layer.
        """
        best: tuple[int, Sizes, Refusal] | None = None
        outside: Sizes | None = None
        always = self._any_sizes.refusing()
        for sizes in self._candidates(given):
            result = self.infer(sizes)
            refusal = self.refusal(sizes, result)
            if refusal is None:
                outside = outside or sizes
                if result.refusing() <= always:
                    return sizes
            elif best is None or refusal.position > best[0]:
                best = refusal.position, sizes, refusal
        if outside is not None:
            return outside
        assert best is not None
        names = {layer.id: layer.name for layer in self.model.parameters}
        tried = ", ".join(f"{names[id]}={list(shape)}" for id, shape in best[1].items())
        raise ValueError(
            f"no fitting sizes were found; the best attempt, {tried}, fails: "
            f"{best[2].layer.label}: {best[2].message}. "
            "Specify the shapes (--shape NAME=SHAPE), or the inputs themselves (--input)"
        )

    def _candidates(self, given: Mapping[str, PartialShape]) -> Iterator[Sizes]:
        from ..inference.input_sizes import candidates, shape_of, sizes_for
        from ..inference.symbolic import infer_symbolic

        yield _sized(given)
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
            yield _sized({**given, **shapes})


def _refused(result: BodyResult) -> dict[int, str]:
    """Returns the positions of the layers of a body that refuse their inputs, with the reasons."""
    positions = {layer: position for position, layer in enumerate(result.body.layers)}
    messages: dict[int, str] = {}
    for layer, subject in result.observations:
        position = positions.get(layer)
        if isinstance(subject, Fault) and subject.prevents_computing and position is not None:
            messages.setdefault(position, subject.message)
    return messages


def _of_other_rank(result: BodyResult) -> set[int]:
    """Returns the positions of the layers whose outputs have another rank than their ports
    declare."""
    return {
        position
        for position, (layer, tensors) in enumerate(
            zip(result.body.layers, result.outputs, strict=True)
        )
        for port, tensor in zip(layer.outputs, tensors, strict=False)
        if port.dims is not None and tensor.rank not in (None, len(port.dims))
    }


def _sized(given: Mapping[str, PartialShape]) -> Sizes:
    """Returns for each dimension of each input the allowed size that is nearest to 2."""
    return {
        id: tuple(min(max(2, dim.low), dim.high) for dim in shape) for id, shape in given.items()
    }
