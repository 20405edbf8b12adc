"""The memory of inference: the declarations and the results of layers, by everything that decides
them.

A declaration depends on the operation and its attributes. A result also depends on the inputs or,
for a constant, on the bytes. Nothing else is in a key, so an entry is valid for every model.
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

_ENTRY: Final = 16
"""The size of an entry besides its values, in elements."""


class Memory:
    """Remembers declarations and results of layers that depend on nothing but the key.

    Internal errors are not remembered, because a lack of memory may have caused them. When it is
    full, it is cleared.
    """

    def __init__(self, most: int = 1 << 17) -> None:
        """most: the capacity, in elements of values."""
        self.read: dict[tuple[type[Operation], tuple[str, ...]], Read] = {}
        """Operations by their class and the texts of their attributes."""
        self.results: dict[tuple[object, ...], LayerResult] = {}
        """The keys are the operation, whether values were requested, and the inputs; or the bytes
        of a Const."""
        self._most = most
        self._size = 0

    def keep_read(self, operation: type[Operation], items: tuple[str, ...], read: Read) -> None:
        """Remembers a declaration."""
        if self._has_room(_ENTRY + sum(map(len, items)) // 8):
            self.read[operation, items] = read

    def keep(self, key: tuple[object, ...], result: LayerResult, inputs: Sequence[Tensor]) -> None:
        """Remembers a result."""
        outputs = result.outputs
        if isinstance(outputs, Fault):
            if outputs.rule == INTERNAL_ERROR:
                return
            outputs = ()
        values = [tensor.value for tensor in (*inputs, *outputs) if tensor.value is not None]
        if self._has_room(_ENTRY + sum(map(len, values))):
            self.results[key] = result

    def _has_room(self, size: int) -> bool:
        """Makes room for an entry; False if it is too large."""
        if size > self._most // 64:
            return False
        if self._size + size > self._most:
            self.read.clear()
            self.results.clear()
            self._size = 0
        self._size += size
        return True


MEMORY: Final = Memory()
"""The memory that all models without named sizes share."""
