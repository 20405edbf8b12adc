"""Decides by inference which input sizes a model accepts within its memory limit."""

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
"""The shape of each input of a run."""

_MOST_SETS = 16
"""How many sets of sizes are remembered at a time."""
_SETS_OF_A_SERIES = 4
"""After this many sets, one that is not much larger is accepted without inference."""


class Admission:
    """Checks before a run whether every layer accepts the shapes that follow from the input
    sizes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._fitter = Fitter(model)
        self.admitted: set[Shapes] = set()
        """The sets of sizes checked so far."""
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
        from ..inference.fitting_sizes import fitting_size

        reasons = [refusal.message, shapes(self._model.net, fed, state)]
        constant = fitting_size(Inference(self._model, result), refusal.layer)
        if constant is not None:
            reasons.append(constant)
        else:
            conflicts = size_conflicts(self._model, sizes)
            reasons += [*(text for _, text in conflicts.of_inputs), *conflicts.of(refusal.layer)]
        raise ExecutionError("; ".join(reasons), refusal.layer)
