"""The memory of inference: what layers are and what they give, by all that decides it.

A layer is its operation and its attributes; what it gives depends on these and its inputs, and for
a constant on its bytes. Nothing else enters a key, so an entry holds for every model.
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
"""An operation with its attributes, and what is wrong with those."""

_ENTRY: Final = 16
"""What an entry takes besides values, in elements."""


class Memory:
    """What has been read and inferred of layers.

    It may hold what depends on its key alone: no fault of irshape's own, which may be for lack of
    memory. It begins anew when it is full.
    """

    def __init__(self, most: int = 1 << 17) -> None:
        """most: how much is held, in elements of values."""
        self.read: dict[tuple[type[Operation], tuple[str, ...]], Read] = {}
        """Operations by their class and the texts of their attributes."""
        self.results: dict[tuple[object, ...], LayerResult] = {}
        """By operation, whether values were asked for, and inputs; or by the bytes of a Const."""
        self._most = most
        self._size = 0

    def keep_read(self, operation: type[Operation], items: tuple[str, ...], read: Read) -> None:
        """Remembers what attributes say."""
        if self._has_room(_ENTRY + sum(map(len, items)) // 8):
            self.read[operation, items] = read

    def keep(self, key: tuple[object, ...], result: LayerResult, inputs: Sequence[Tensor]) -> None:
        """Remembers what a layer gives."""
        outputs = result.outputs
        if isinstance(outputs, Fault):
            if outputs.rule == INTERNAL_ERROR:
                return
            outputs = ()
        values = [tensor.value for tensor in (*inputs, *outputs) if tensor.value is not None]
        if self._has_room(_ENTRY + sum(map(len, values))):
            self.results[key] = result

    def _has_room(self, size: int) -> bool:
        """Makes room for something; False for what is too large to be kept."""
        if size > self._most // 64:
            return False
        if self._size + size > self._most:
            self.read.clear()
            self.results.clear()
            self._size = 0
        self._size += size
        return True


MEMORY: Final = Memory()
"""What is remembered from one model to the next, of models without named sizes."""
