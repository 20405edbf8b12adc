"""Checks before a run that every layer accepts its shapes, and that the tensors fit in memory."""

from __future__ import annotations

from collections.abc import Mapping

from ..inference.result import BodyResult, Inference
from ..model.graph import Model
from ..numpy_types import Array
from .errors import ExecutionError
from .memory import peak_memory, too_much
from .refusals import shapes
from .sizes import Fitter

Shapes = tuple[tuple[int, ...], ...]
"""The shapes of the inputs of one run."""

_MOST_SETS = 16
"""`Admission` forgets the accepted sets of sizes when it has this many."""
_SETS_OF_A_SERIES = 4
"""After this many checks, sizes up to twice the largest checked sizes need no check."""


class Admission:
    """Checks before a run whether every layer accepts the shapes that follow from the sizes of the
    inputs."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._fitter = Fitter(model)
        self.admitted: set[Shapes] = set()
        """The input shapes that were accepted so far."""
        self.peak = 0
        """The most bytes that tensors in memory at one time take, for all sizes checked so far."""
        self._largest: Shapes | None = None

    def forget(self) -> None:
        """Forgets which sizes have been checked."""
        self.admitted.clear()
        self._largest = None

    def check(self, fed: Mapping[str, Array], state: Mapping[str, Array], max_memory: int) -> None:
        """Checks that every layer accepts these sizes, within the memory limit.

        A decoder has new sizes for each token. So after a few checks, sizes up to twice the largest
        checked sizes are accepted without a check if memory is plentiful.
        Raises `ExecutionError` that names the layer and its dimensions.
        """
        key = tuple([array.shape for array in fed.values()])
        near = self._near(key)
        is_next = len(self.admitted) >= _SETS_OF_A_SERIES and near and self.peak * 8 <= max_memory
        if is_next or key in self.admitted:
            return
        if len(self.admitted) >= _MOST_SETS:
            self.admitted.clear()
            self._fitter = Fitter(self._model)
        result = self._inferred(fed, state)
        peak, layer = peak_memory(result)
        if layer is not None and peak > max_memory:
            reason = f"the tensors in memory here take {too_much(peak, max_memory)}"
            raise ExecutionError(reason, layer)
        self.peak = max(self.peak, peak)
        self._largest = (
            key
            if self._largest is None or not near
            else tuple(tuple(map(max, a, b)) for a, b in zip(key, self._largest, strict=True))
        )
        self.admitted.add(key)

    def _near(self, key: Shapes) -> bool:
        """Returns whether every size is at most twice the largest checked size of its axis."""
        return self._largest is not None and all(
            len(shape) == len(known)
            and all(size <= 2 * most for size, most in zip(shape, known, strict=True))
            for shape, known in zip(key, self._largest, strict=True)
        )

    def _inferred(self, fed: Mapping[str, Array], state: Mapping[str, Array]) -> BodyResult:
        """Infers the model with the shapes of the arrays in `fed`. Raises `ExecutionError` if a
        layer refuses its inputs."""
        sizes = {id: array.shape for id, array in fed.items()}
        result = self._fitter.infer(sizes)
        refusal = self._fitter.refusal(sizes, result)
        if refusal is None:
            return result
        from ..inference.conflicts import size_conflicts
        from ..inference.fitting_sizes import fitting_size

        reasons = [refusal.message, shapes(self._model.net, fed, state)]
        constant = fitting_size(Inference(self._model, result), refusal.layer)
        if constant is not None:
            reasons.append(constant)
        else:
            conflicts = size_conflicts(self._model, sizes)
            reasons += [*(text for _, text in conflicts.of_inputs), *conflicts.of(refusal.layer)]
        raise ExecutionError("; ".join(reasons), refusal.layer)
