"""NumPy for the operations, imported at the first evaluation. Checks do not import it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Array", "np"]

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
