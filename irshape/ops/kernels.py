"""Kernels: the functions that compute operations. A back end can provide its own.

    kernels = Kernels()

    @kernels.register(ReduceMean)
    def mean(operation, data, axes):
        return fast_mean(data, tuple(axes), keepdims=operation.keep_dims)

    Session(model, kernels=kernels).run(inputs)

For an operation without a kernel, the `evaluate` of its declaration computes the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from .declaration import Operation

Kernel = Callable[..., Any]
"""`kernel(operation, *arrays, **context)`.

A kernel has the arguments and results of the operation's `evaluate`. It receives an array for each
operand; None for an absent operand. It returns an array, or a tuple of arrays for several outputs.
"""

K = TypeVar("K", bound=Kernel)


class Kernels:
    """The kernels of a back end, by operation version."""

    def __init__(self) -> None:
        self._kernels: dict[type[Operation], Kernel] = {}

    def register(self, *versions: type[Operation]) -> Callable[[K], K]:
        """Returns a decorator that makes a function the kernel of these versions.

        Subclasses of these versions keep their own `evaluate`, because it may compute something
        else. Raises `ValueError` for a version that already has a kernel.
        """

        def decorate(kernel: K) -> K:
            for version in versions:
                if version in self._kernels:
                    name = f"{version.type_name()} of {version.version_name()}"
                    raise ValueError(f"{name} has a kernel already")
            self._kernels.update(dict.fromkeys(versions, kernel))
            return kernel

        return decorate

    def __contains__(self, operation: object) -> bool:
        """Returns whether there is a kernel for the version of this operation."""
        return type(operation) in self._kernels

    def of(self, operation: Operation) -> Kernel | None:
        """Returns an operation's kernel or, if it has none, its `evaluate`, which can be None."""
        kernel = self._kernels.get(type(operation))
        return operation.evaluate if kernel is None else partial(kernel, operation)
