"""IR7xx: the values of constants.

These rules are off by default, since they read the whole .bin, piece by piece.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from ..model.graph import Finding, Layer
from ..model.weights import Constant
from .base import Rule
from .context import Context

if TYPE_CHECKING:
    from ..numpy_types import Array

PIECE = 1 << 22
"""The number of bytes to read at a time, a multiple of the size of every element type."""
FLOATS = ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2")
LEAST_NORMAL = 2.0**-14
ROUNDED_TO_ZERO = 2.0**-25
"""The smallest normal number of f16, and the largest number that becomes 0 in f16."""


class _ValuesRule(Rule):
    """A rule that reports unusual elements of constants, e.g. NaN, once for each constant."""

    default = False
    types: ClassVar[tuple[str, ...]]
    """The element types of the constants that the rule reads."""
    what: ClassVar[str]
    wanted: ClassVar[str]
    advice: ClassVar[str]

    @classmethod
    def unusual(cls, values: Array) -> Any:
        """Returns an array of booleans: for each element, whether the rule reports the element."""
        raise NotImplementedError

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        import numpy as np

        for layer, constant, pieces in _streams(context, cls.types):
            number, place, value, zeros = 0, 0, 0.0, 0
            for start, values in pieces:
                with np.errstate(invalid="ignore"):  # NaN, which is compared too
                    marked = cls.unusual(values)
                    zeros += int((abs(values[marked]) <= ROUNDED_TO_ZERO).sum())
                if not marked.any():
                    continue
                if not number:
                    first = int(marked.argmax())
                    place, value = start + first, float(values[first])
                number += int(marked.sum())
            if not number:
                continue
            what = cls.what + (f" ({zeros} of them become 0)" if zeros else "")
            if constant.elements > 1:
                message = (
                    f"{number:,} of {constant.elements:,} elements are {what}: the first is "
                    f"element {place}, {value:g}"
                )
            else:
                message = f"the element is {what}: {value:g}"
            yield cls.finding(
                message,
                layer,
                port=("output", layer.outputs[0].id) if layer.outputs else None,
                expected=cls.wanted,
                actual=f"{value:g}",
                help=cls.advice,
            )


class NanWeights(_ValuesRule):
    """A constant contains NaN.

    ## What it does
    Reads every element of every floating-point constant (f64, f32, f16, bf16, f8e4m3, f8e5m2), and
    reports how many are NaN and where the first one is.

    ## Why it matters
    Nearly everything that is computed from a NaN is NaN as well. Often, training has diverged, or a
    conversion has failed.

    ## What OpenVINO does
    Accepts it silently.

    ## Example
    ```xml
    <!-- where the four bytes are those of a NaN -->
    <data element_type="f32" shape="1" offset="0" size="4"/>
    ```

    ## How to fix it
    Check the original model, and export it again from a sound checkpoint.
    """

    types = FLOATS
    what = "NaN"
    wanted = "no NaN"
    advice = "correct the weights of the original model, and convert it again"

    @classmethod
    def unusual(cls, values: Array) -> Any:
        return values != values  # noqa: PLR0124


class InfiniteWeights(_ValuesRule):
    """A constant contains an infinity.

    ## What it does
    Reads every element of every floating-point constant (f64, f32, f16, bf16, f8e5m2), and reports
    how many are infinite and where the first one is.

    ## Why it matters
    Infinite weights become NaN when they are multiplied by 0. In an attention mask, -inf may be
    intended; the usual alternative is the lowest finite number of the type.

    ## What OpenVINO does
    Accepts it silently.

    ## Example
    ```xml
    <!-- where the four bytes are those of an infinity -->
    <data element_type="f32" shape="1" offset="0" size="4"/>
    ```

    ## How to fix it
    If the infinity is not intended, check the original model: often it was converted to a type that
    is too narrow.
    """

    types = FLOATS
    what = "infinite"
    wanted = "finite numbers"
    advice = "check whether the model is meant to contain an infinity"

    @classmethod
    def unusual(cls, values: Array) -> Any:
        return abs(values) == math.inf


class F16Overflow(_ValuesRule):
    """An f32 constant contains numbers that are infinite in f16.

    ## What it does
    Counts the finite elements of f32 constants that become infinite in f16: those of magnitude
    65520 or more. Smaller numbers round to at most 65504, the largest finite f16 number.

    ## Why it matters
    In f16, the default precision on GPUs, these weights are infinite. The values computed from them
    soon become NaN.

    ## What OpenVINO does
    Accepts it silently. Its compression to f16 clips these numbers, and skips a constant if most of
    its numbers are out of range.

    ## Example
    ```xml
    <!-- where the four bytes are those of 1e6 -->
    <data element_type="f32" shape="1" offset="0" size="4"/>
    ```

    ## How to fix it
    Keep the layer in f32, or scale its weights, and undo the scaling in the layers before or after
    it. In a mask, -65504 has the same effect as -3.4e38.
    """

    types = ("f32",)
    what = "infinite in f16"
    wanted = "numbers up to 65504"
    advice = "keep the layer in f32, or scale its weights"

    @classmethod
    def unusual(cls, values: Array) -> Any:
        return (abs(values) >= 65520) & (abs(values) < math.inf)


class F16Subnormal(_ValuesRule):
    """An f32 constant contains numbers that are subnormal in f16.

    ## What it does
    Reads every element of every f32 constant, and reports how many are nonzero and have a magnitude
    below 2^-14 (6.1e-5), where f16 loses digits. It also reports how many of them become 0.

    ## Why it matters
    In f16, these weights lose precision; at 2^-25 (3e-8) and below they become 0. If a layer has
    many of them, or if an epsilon becomes 0, the result changes.

    ## What OpenVINO does
    Accepts it silently. Its compression to f16 skips a constant if most of its numbers are out of
    range.

    ## Example
    ```xml
    <!-- where the four bytes are those of 1e-6 -->
    <data element_type="f32" shape="1" offset="0" size="4"/>
    ```

    ## How to fix it
    Keep the layer in f32, or scale its weights, and undo the scaling in the layers before or after
    it.
    """

    types = ("f32",)
    what = "subnormal in f16"
    wanted = "0, or numbers from 6.1e-5 up"
    advice = "keep the layer in f32, or scale its weights"

    @classmethod
    def unusual(cls, values: Array) -> Any:
        return (values != 0) & (abs(values) < LEAST_NORMAL)


def _streams(
    context: Context, types: Collection[str]
) -> Iterator[tuple[Layer, Constant, Iterator[tuple[int, Array]]]]:
    """Yields each constant of some element types: the layer, the constant, and an iterator over
    pairs of a position and the elements from there on.

    If several constants share their bytes, yields only the first one.
    """
    weights = context.model.weights
    if weights is None or weights.data is None:
        return
    seen = set()
    for layer, constant in context.constants:
        needed = constant.element_type.byte_size(constant.elements)
        key = (constant.element_type.name, constant.offset, needed)
        if (
            constant.element_type.name in types
            and key not in seen
            and needed
            and weights.holds(constant.offset, needed)
        ):
            seen.add(key)
            yield layer, constant, _pieces(constant, needed)


def _pieces(constant: Constant, size: int) -> Iterator[tuple[int, Array]]:
    import numpy as np

    from ..numpy_types import dtype_of

    dtype = dtype_of(constant.element_type)
    assert constant.weights is not None
    for start in range(0, size, PIECE):
        count = min(PIECE, size - start)
        yield (
            start // dtype.itemsize,
            np.frombuffer(constant.weights.view(constant.offset + start, count), dtype),
        )
