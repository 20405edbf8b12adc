"""The memory of inference: declarations and results of layers, by all that decides them.

A declaration depends on the operation and its attributes. A result also depends on the inputs.
Nothing else is in a key, so an entry is valid for every model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..faults import Fault
from ..ops.declaration import AttributeFault, Operation
from ..ops.tensors import Tensor
from ..rule_ids import INTERNAL_ERROR
from .result import LayerResult

Read = tuple[Operation, tuple[AttributeFault, ...]]
"""An operation with its attributes and their faults."""

_LONGEST: Final = 64
"""How many elements the values of an entry have at most."""


class Memory:
    """Remembers declarations and results of layers that depend on nothing but the key.

    Internal errors are not remembered, because a lack of memory may have caused them. When it is
    full, it is cleared.
    """

    def __init__(self, most: int = 1 << 13) -> None:
        """most: how many declarations it holds, and how many results."""
        self.read: dict[tuple[type[Operation], tuple[str, ...]], Read] = {}
        """Operations by their class and the texts of their attributes."""
        self.results: dict[tuple[object, ...], LayerResult] = {}
        """The keys are the operation, whether values were requested, and the inputs."""
        self._most = most

    def keep_read(self, operation: type[Operation], items: tuple[str, ...], read: Read) -> None:
        """Remembers a declaration."""
        if len(self.read) >= self._most:
            self.read.clear()
        self.read[operation, items] = read

    def keep(self, key: tuple[object, ...], result: LayerResult, inputs: Sequence[Tensor]) -> None:
        """Remembers a result, unless it has long values."""
        outputs = result.outputs
        if isinstance(outputs, Fault):
            if outputs.rule == INTERNAL_ERROR:
                return
            outputs = ()
        values = [tensor.value for tensor in (*inputs, *outputs) if tensor.value is not None]
        if any(len(value) > _LONGEST for value in values):
            return
        if len(self.results) >= self._most:
            self.results.clear()
        self.results[key] = result


MEMORY: Final = Memory()
"""The memory that all models without named sizes share."""
