"""IR7xx: the values of constants.

These rules read the whole .bin in pieces. They run only if the user selects them.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..model.graph import Finding, Layer
from ..model.weights import Constant
from ..rule_ids import F16_OVERFLOW, F16_SUBNORMAL, INFINITE_WEIGHTS, NAN_WEIGHTS
from .base import Rule
from .context import Context

if TYPE_CHECKING:
    from ..model.weights import Weights

PIECE = 1 << 22
"""The number of bytes that are read at a time. It is a multiple of every element's size."""


class Odd(NamedTuple):
    """The number of unusual elements in a constant, and the position and value of the first one."""

    number: int
    place: int
    value: float


class NanWeights(Rule):
    """A constant contains NaN.

    ## What it does
    Reads every element of every floating-point constant (f64, f32, f16, bf16, f8e4m3, f8e5m2), and
    reports how many are NaN and where the first one is.

    ## Why it matters
    Everything that is computed from a NaN is NaN as well. Training has diverged, or a conversion
    has failed.

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

    id = NAN_WEIGHTS
    default = False

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, constant, pieces in _streams(context, _EXPONENTS):
            nans = _first(_not_finite(constant, pieces, nan=True))
            if nans.number:
                yield _problem(
                    cls,
                    layer,
                    nans,
                    constant,
                    "NaN",
                    "no NaN",
                    "correct the weights of the original model, and convert it again",
                )


class InfiniteWeights(Rule):
    """A constant contains an infinity.

    ## What it does
    Reads every element of every floating-point constant (f64, f32, f16, bf16, f8e5m2), and reports
    how many are infinite and where the first one is.

    ## Why it matters
    Infinite weights become NaN when they are multiplied by 0. In an attention mask -inf is
    intended; the usual alternative is the smallest number of the type.

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

    id = INFINITE_WEIGHTS
    default = False

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, constant, pieces in _streams(context, _EXPONENTS):
            infinities = _first(_not_finite(constant, pieces, nan=False))
            if infinities.number:
                yield _problem(
                    cls,
                    layer,
                    infinities,
                    constant,
                    "infinite",
                    "finite numbers",
                    "check whether the model is meant to contain an infinity",
                )


class HalfOverflow(Rule):
    """An f32 constant contains numbers that are infinite in f16.

    ## What it does
    Reads every element of every f32 constant, and reports how many are finite and have a magnitude
    of 65520 or more. The largest finite f16 number is 65504.

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
    Keep the layer at f32, or scale it: fold the factor into the layers before and after. In a mask,
    -65504 has the same effect as -3.4e38.
    """

    id = F16_OVERFLOW
    default = False

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, constant, pieces in _streams(context, ("f32",)):
            large = _first(_too_large(pieces))
            if large.number:
                yield _problem(
                    cls,
                    layer,
                    large,
                    constant,
                    "infinite in f16",
                    "numbers up to 65504",
                    "keep the layer at f32, or scale it",
                )


class HalfSubnormal(Rule):
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
    Keep the layer at f32, or scale it: fold the factor into the layers before and after.
    """

    id = F16_SUBNORMAL
    default = False

    @classmethod
    def check(cls, context: Context) -> Iterator[Finding]:
        for layer, constant, pieces in _streams(context, ("f32",)):
            lost = 0
            tiny = Odd(0, -1, 0.0)
            for start, piece in pieces:
                below, index, zeroed = _too_small(piece)
                lost += zeroed
                if below and tiny.number == 0:
                    tiny = Odd(0, start // 4 + index, struct.unpack_from("<f", piece, 4 * index)[0])
                tiny = tiny._replace(number=tiny.number + below)
            if tiny.number:
                what = "subnormal in f16" + (f" ({lost} of them become 0)" if lost else "")
                yield _problem(
                    cls,
                    layer,
                    tiny,
                    constant,
                    what,
                    "0, or numbers from 6.1e-5 up",
                    "keep the layer at f32, or scale it",
                )


def _problem(
    rule: type[Rule],
    layer: Layer,
    odd: Odd,
    constant: Constant,
    what: str,
    expected: str,
    hint: str,
) -> Finding:
    """Returns the finding about the unusual elements of a constant."""
    if constant.elements > 1:
        message = (
            f"{odd.number:,} of {constant.elements:,} elements are {what}: the first is element "
            f"{odd.place}, {odd.value:g}"
        )
    else:
        message = f"the element is {what}: {odd.value:g}"
    return rule.finding(
        message,
        layer.offset,
        layer,
        port=("output", layer.outputs[0].id) if layer.outputs else None,
        expected=expected,
        actual=f"{odd.value:g}",
        help=hint,
    )


Pieces = Iterator[tuple[int, bytes]]
"""Pieces of a constant, each with its byte offset."""


def _streams(context: Context, types: Collection[str]) -> Iterator[tuple[Layer, Constant, Pieces]]:
    """Yields the constants of some element types. Constants that share their bytes occur once."""
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
            yield layer, constant, _pieces(weights, constant.offset, needed)


def _pieces(weights: Weights, offset: int, size: int) -> Pieces:
    data = weights.data
    assert data is not None
    for start in range(0, size, PIECE):
        yield start, data[offset + start : offset + min(start + PIECE, size)]


def _first(places: Iterator[tuple[int, float]]) -> Odd:
    """Returns the number of the elements, and the first of them."""
    count, index, value = 0, -1, 0.0
    for at, number in places:
        if not count:
            index, value = at, number
        count += 1
    return Odd(count, index, value)


def _table(holds: list[int]) -> bytes:
    wanted = set(holds)
    return bytes(0xFF if byte in wanted else 0 for byte in range(256))


_LARGE = _table([byte for byte in range(256) if byte & 0x7F >= 0x47])
_WITHOUT_SIGN = bytes(byte & 0x7F for byte in range(256))
_SET = _table(list(range(1, 256)))
_BELOW_80 = _table(list(range(0x80)))
_BELOW_38 = _table([byte for byte in range(256) if byte & 0x7F < 0x38])
_IS_38 = _table([0x38, 0xB8])
_BELOW_33 = _table([byte for byte in range(256) if byte & 0x7F < 0x33])
_IS_33 = _table([0x33, 0xB3])


def _where(piece: bytes, byte: int, width: int, table: bytes) -> Iterator[int]:
    """Yields the elements whose byte at a certain position is marked in the table."""
    marked = piece[byte::width].translate(table)
    at = marked.find(0xFF)
    while at >= 0:
        yield at
        at = marked.find(0xFF, at + 1)


class _Layout(NamedTuple):
    """The bits of an element.

    Elements whose last byte is marked in `suspects` may be NaN or infinite.
    """

    width: int
    suspects: bytes
    exponent: int
    """The bits of the exponent within the element as an integer."""
    mantissa: int


_EXPONENTS: dict[str, _Layout] = {
    "f64": _Layout(8, _table([0x7F, 0xFF]), 0x7FF0 << 48, (1 << 52) - 1),
    "f32": _Layout(4, _table([0x7F, 0xFF]), 0x7F80 << 16, (1 << 23) - 1),
    "bf16": _Layout(2, _table([0x7F, 0xFF]), 0x7F80, 0x7F),
    "f16": _Layout(2, _table([byte for byte in range(256) if byte & 0x7F >= 0x7C]), 0x7C00, 0x3FF),
    "f8e5m2": _Layout(1, _table([byte for byte in range(256) if byte & 0x7F >= 0x7C]), 0x7C, 0x03),
    "f8e4m3": _Layout(1, _table([0x7F, 0xFF]), 0x7F, 0x00),
}


def _not_finite(constant: Constant, pieces: Pieces, *, nan: bool) -> Iterator[tuple[int, float]]:
    """Yields the elements that are NaN, or those that are infinite.

    f8e4m3 has no infinity; an element with all bits set is NaN.
    """
    layout = _EXPONENTS[constant.element_type.name]
    width = layout.width
    for start, piece in pieces:
        for index in _where(piece, width - 1, width, layout.suspects):
            bits = int.from_bytes(piece[index * width : (index + 1) * width], "little")
            if (
                bits & layout.exponent != layout.exponent
                or bool(bits & layout.mantissa or not layout.mantissa) is not nan
            ):
                continue
            infinity = "-inf" if bits >> (8 * width - 1) else "inf"
            yield start // width + index, float("nan" if nan else infinity)


def _too_large(pieces: Pieces) -> Iterator[tuple[int, float]]:
    """Yields the elements of an f32 constant that are finite, but infinite in f16."""
    for start, piece in pieces:
        for index in _where(piece, 3, 4, _LARGE):
            (number,) = struct.unpack_from("<f", piece, 4 * index)
            if 65520.0 <= abs(number) <= 3.5e38:
                yield start // 4 + index, number


def _too_small(piece: bytes) -> tuple[int, int, int]:
    """Counts the nonzero elements of an f32 constant that are subnormal or 0 in f16.

    Returns the number of these elements, the position of the first, and the number of elements that
    become 0. Without their sign, floats have the same order as their bits. So the function compares
    the bits of all elements at once, as long integers.
    """
    low, middle, high, top = (piece[k::4] for k in range(4))
    count = len(top)
    rest = (
        int.from_bytes(low, "little")
        | int.from_bytes(middle, "little")
        | int.from_bytes(high, "little")
    )
    nonzero = (
        (rest | int.from_bytes(top.translate(_WITHOUT_SIGN), "little"))
        .to_bytes(count, "little")
        .translate(_SET)
    )
    # 2^-14 is 0x38800000, 2^-25 is 0x33000000
    edge = int.from_bytes(top.translate(_IS_38), "little") & int.from_bytes(
        high.translate(_BELOW_80), "little"
    )
    below = int.from_bytes(top.translate(_BELOW_38), "little") | edge
    small = (below & int.from_bytes(nonzero, "little")).to_bytes(count, "little")
    lowest = int.from_bytes(top.translate(_IS_33), "little") & ~int.from_bytes(
        rest.to_bytes(count, "little").translate(_SET), "little"
    )
    zeroed = (
        (int.from_bytes(top.translate(_BELOW_33), "little") | lowest)
        & int.from_bytes(nonzero, "little")
    ).to_bytes(count, "little")
    return small.count(0xFF), small.find(0xFF), zeroed.count(0xFF)
