"""Writes declared ports and inferred values as text, and compares ports with inferred types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model.ports import Port
    from ..ops.tensors import Tensor

MAX_VALUE = 8
"""Values with more elements than this are not written as text."""


def port_text(port: Port) -> str | None:
    """Returns the declaration of a port as text, for example `f32 [2,?]`.

    A port without a <dim> may be a scalar or have a dynamic rank.
    """
    name = str(port.element_type) if port.element_type is not None else port.precision or ""
    if port.dims is None:
        dims = "malformed dimensions"
    elif port.dims:
        sizes = ["?" if size < 0 else str(size) for size in port.dims]
        dims = f"[{','.join(sizes)}]"
    else:
        dims = "no dimensions"
    return f"{name} {dims}".strip() if name or port.dims != () else None


def agrees(port: Port, tensor: Tensor) -> bool:
    """Returns whether the declaration of a port is compatible with the inferred tensor."""
    from ..inference.ports import declared

    said = declared(port, tensor)
    types = (
        said.element_type.is_dynamic
        or tensor.element_type.is_dynamic
        or said.element_type is tensor.element_type
    )
    return types and port.dims is not None and said.shape.compatible(tensor.shape)


def as_declared(port: Port, tensor: Tensor) -> bool:
    """Returns whether a port declares the inferred type and shape as exactly as a port can."""
    if port.precision is not None and port.element_type is not tensor.element_type:
        return False
    return port.dims == tensor.shape.declared


def value_text(tensor: Tensor | None) -> str | None:
    """Returns the value of a small tensor as text; None if shape inference does not know it."""
    if (
        tensor is None
        or tensor.value is None
        or len(tensor.value) > MAX_VALUE
        or not tensor.element_type.name
    ):
        return None
    exact = tensor.value.exact
    if exact is None:
        return None
    return str(exact[0]) if tensor.rank == 0 else f"[{', '.join(map(str, exact))}]"
