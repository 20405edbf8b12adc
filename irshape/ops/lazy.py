"""NumPy and its element types, imported when an operation is first evaluated, not for checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..element_types import ElementType

__all__ = ["Array", "dtype_of", "element_type_of", "np"]

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, numpy.dtype[Any]]
    # NumPy's overloads cannot type code that computes in the type of its input. The executor and
    # its tests check the types of the results.
    np: Any
else:
    Array = Any

    class _Lazy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Lazy()


def dtype_of(element_type: ElementType) -> Any:
    """Returns the NumPy type of arrays with this element type."""
    from .. import numpy_types

    return numpy_types.dtype_of(element_type)


def element_type_of(array: Array) -> ElementType:
    """Returns the element type of a NumPy array."""
    from .. import numpy_types

    return numpy_types.element_type_of(array)
