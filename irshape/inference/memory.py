"""Caches the inference results of layers.

A result depends only on the operation, its attributes and the inputs, so that the cache serves all
models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..faults import Fault
from ..ops.tensors import Tensor
from ..rule_ids import INTERNAL_ERROR
from .result import LayerResult

_LONGEST: Final = 64
"""The maximum number of elements of a value in a cached result."""


class Memory:
    """A cache of inference results.

    Internal errors are not cached, because a lack of memory may have caused them. A full cache is
    cleared.
    """

    def __init__(self, most: int = 1 << 13) -> None:
        """most: the maximum number of results in the cache."""
        self.results: dict[tuple[object, ...], LayerResult] = {}
        """The results. A key has the operation, whether values were requested, and the inputs."""
        self._most = most

    def keep(self, key: tuple[object, ...], result: LayerResult, inputs: Sequence[Tensor]) -> None:
        """Caches the result of a layer, but no result with long values and no internal error."""
        outputs = result.outputs
        if isinstance(outputs, Fault):
            if outputs.rule == INTERNAL_ERROR:
                return
            outputs = ()
        for tensor in (*inputs, *outputs):
            if tensor.value is not None and len(tensor.value.lower) > _LONGEST:
                return
        if len(self.results) >= self._most:
            self.results.clear()
        self.results[key] = result


MEMORY: Final = Memory()
"""The cache that all models share if they are inferred without named sizes."""
