"""NumPy for the operations, imported when one is first evaluated. A check does without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Array", "np"]

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, numpy.dtype[Any]]
    # NumPy's overloads do not follow code that computes in whatever type it is given.
    # The executor and its tests check the types of the results.
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
