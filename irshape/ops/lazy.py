"""NumPy for the operations, imported when one is first evaluated: checking a model does without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Array", "np"]

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]
else:
    Array = Any

    class _Lazy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Lazy()
