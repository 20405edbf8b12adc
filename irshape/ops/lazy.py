"""NumPy and its element types, imported only when an operation is evaluated, not for checks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..element_types import ElementType

__all__ = ["Array", "dtype_of", "element_type_of", "np", "numpy_types"]

if TYPE_CHECKING:
    import numpy

    from .. import numpy_types

    Array = numpy.ndarray[Any, numpy.dtype[Any]]
    # NumPy's overloads cannot type code that computes in the type of its input. The executor and
    # its tests check the types of the results.
    np: Any
else:
    Array = Any

    class _Lazy:
        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module(self._module, __package__), name)
            setattr(self, name, value)
            return value

    np = _Lazy("numpy")
    numpy_types = _Lazy("..numpy_types")


def dtype_of(element_type: ElementType) -> Any:
    """Returns the NumPy type of arrays with this element type."""
    return numpy_types.dtype_of(element_type)


def element_type_of(array: Array) -> ElementType:
    """Returns the element type of a NumPy array."""
    return numpy_types.element_type_of(array)
