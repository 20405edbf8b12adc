"""Decides by inference which input sizes a model accepts within its memory limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..inference.result import BodyResult
from ..model.graph import Layer, Model
from ..model.wiring import OutputRef
from ..numpy_types import Array
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from .errors import ExecutionError
from .memory import peak_memory, too_much
from .refusals import shapes
from .sizes import Fitter

Shapes = tuple[tuple[int, ...], ...]
"""The shape of each input of a run."""

_MOST_SETS = 16
"""How many sets of sizes are remembered at a time."""
_SETS_OF_A_SERIES = 4
"""After this many sets, one that is not much larger is accepted without inference."""


def shapes_of(fed: Mapping[str, Array]) -> Shapes:
    """Returns the shape of each input of a run."""
    return tuple([array.shape for array in fed.values()])


class Admission:
    """Checks before a run whether every layer accepts the shapes that follow from the input
    sizes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._fitter = Fitter(model)
        self.admitted: dict[Shapes, tuple[frozenset[Layer], frozenset[Layer]]] = {}
        """The sets of sizes checked so far.

        Each maps to the layers whose sizes it determines, and those whose operands it determines.
        """
        self.settled_sizes: frozenset[Layer] = frozenset()
        """The layers whose sizes are determined by the set checked last."""
        self.judged: frozenset[Layer] = frozenset()
        """The layers that inference judged with the set checked last, bodies included.

        For these it knew all the values that it depends on.
        """
        self.peak = 0
        """The largest total size in bytes of tensors alive at one time, over all sets checked so
        far."""
        self._largest: Shapes | None = None

    def forget(self) -> None:
        """Forgets all checked sets, so that each is checked again."""
        self.admitted.clear()
        self._largest = None

    def check(self, fed: Mapping[str, Array], state: Mapping[str, Array], max_memory: int) -> None:
        """Checks that every layer accepts these sizes, within the memory limit.

        A decoder comes with a new size for each token. So after some sets of sizes, one that is not
        much larger is not checked if memory is plentiful.
        Raises `ExecutionError` that names the layer and its dimensions.
        """
        key = shapes_of(fed)
        if key in self.admitted:
            self.settled_sizes, self.judged = self.admitted[key]
            return
        near = self._near(key)
        if len(self.admitted) >= _SETS_OF_A_SERIES and near and self.peak * 8 <= max_memory:
            return
        if len(self.admitted) >= _MOST_SETS:
            self.admitted.clear()
            self._fitter = Fitter(self._model)
        result = self._inferred(fed, state)
        peak, layer = peak_memory(result)
        if layer is not None and peak > max_memory:
            reason = f"the tensors in memory here take  {too_much(peak, max_memory)}"
            raise ExecutionError(reason, layer)
        self.peak = max(self.peak, peak)
        self._largest = (
            key
            if self._largest is None or not near
            else tuple(tuple(map(max, a, b)) for a, b in zip(key, self._largest, strict=True))
        )
        self.settled_sizes = frozenset(
            layer
            for layer, tensors in zip(result.body.layers, result.outputs, strict=True)
            if all(tensor.shape.is_static for tensor in tensors)
        )
        self.judged = frozenset(layer for body in result.walk() for layer in self._judged_in(body))
        self.admitted[key] = self.settled_sizes, self.judged

    def _near(self, key: Shapes) -> bool:
        """Returns whether no size is more than twice the largest so far."""
        return self._largest is not None and all(
            len(shape) == len(known)
            and all(size <= 2 * most for size, most in zip(shape, known, strict=True))
            for shape, known in zip(key, self._largest, strict=True)
        )

    def _inferred(self, fed: Mapping[str, Array], state: Mapping[str, Array]) -> BodyResult:
        """Infers the model with these sizes. Raises `ExecutionError` if a layer refuses its
        inputs."""
        sizes = {id: array.shape for id, array in fed.items()}
        result = self._fitter.infer(sizes)
        refusal = self._fitter.refusal(sizes, result)
        if refusal is None:
            return result
        from ..inference.conflicts import size_conflicts

        conflicts = size_conflicts(self._model, sizes)
        reasons = [
            refusal.message,
            shapes(self._model.net, fed, state),
            *(text for _, text in conflicts.of_inputs),
            *conflicts.of(refusal.layer),
        ]
        raise ExecutionError("; ".join(reasons), refusal.layer)

    def _judged_in(self, result: BodyResult) -> Iterator[Layer]:
        """Yields the layers for which inference knew all shapes, and all values that it depends on.

        Values of constants count as known.
        """
        layers, outputs = result.body.layers, result.outputs
        for layer, row, own in zip(layers, result.wiring.sources, outputs, strict=True):
            declaration = self._fitter.engine.declarations.of(layer)
            if isinstance(declaration, UnknownOperation) or not declaration[0].signature.valued:
                continue
            known = [own, *(outputs[source[0]] for source in row if source is not None)]
            if all(tensor.shape.is_static for tensors in known for tensor in tensors) and all(
                source is None or layers[source[0]].is_constant or _has_value(outputs, source)
                for index, _ in declaration[0].signature.valued
                for source in row[index : index + 1]
            ):
                yield layer


def _has_value(outputs: list[tuple[Tensor, ...]], source: OutputRef) -> bool:
    value = outputs[source[0]][source[1]].value
    return value is not None and value.exact is not None
