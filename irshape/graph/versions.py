"""Finds the version of an operation in an opset."""

from __future__ import annotations

from ..ops import registry
from ..ops.declaration import Operation
from .errors import GraphError


def version_of(type: str, opset: str | int) -> type[Operation]:
    """Returns the declaration of a type in an opset, given as 13 or `opset13`. Raises
    `GraphError`."""
    try:
        return registry.find(type, f"opset{opset}" if isinstance(opset, int) else opset)
    except registry.UnknownOperation as unknown:
        close = f"; did you mean {unknown.close}?" if unknown.close else ""
        raise GraphError(f"{unknown}{close}", operation=type) from None
