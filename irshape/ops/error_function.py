"""The Gauss error function and its inverse in NumPy.

In f32, erf(x/√2) is computed as tanh(x·p(x²)) with a polynomial p. The error is at most four
rounding errors. NumPy needs no more time for tanh than for three multiplications. In f64, which
networks rarely use, Python computes each number by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .blockwise import each
from .lazy import Array, np

_SINGLE_P = (
    0.7978846366152704,
    0.036334348111957564,
    -3.391120421647737e-05,
    -5.478174585980539e-05,
    3.873059886409262e-06,
    -1.252568378474487e-07,
    1.567261341084931e-09,
)
"""The coefficients of p. For x above 5.5, x·p(x²) keeps rising, and its tanh is 1 in f32."""


def erf(data: Array) -> Array:
    """Returns the error function of an array of f32 or f64, in its type."""
    return each(_erf_single if data.dtype == np.float32 else _by_number(math.erf), data)


def gelu(data: Array) -> Array:
    """Returns `x * Φ(x)`, where Φ is the standard normal distribution function."""
    return each(_gelu_single if data.dtype == np.float32 else _by_number(_gelu), data)


def erfinv(data: Array) -> Array:
    """Returns the inverse error function of an array of f32 or f64, in its type.

    The result is infinite at -1 and 1, and NaN outside this range.
    """
    return each(_by_number(_erfinv), data)


def _by_number(function: Callable[[float], float]) -> Callable[[Array, Array], None]:
    """Returns a function that writes `function` of each number in one array to another array."""

    def of(block: Array, result: Array) -> None:
        result[...] = np.frompyfunc(function, 1, 1)(block)

    return of


def _erf_of_root(data: Array, out: Array) -> None:
    """Writes erf(x/√2) to `out`, which must not be `data`."""
    square = np.square(data)
    np.multiply(square, square.dtype.type(_SINGLE_P[-1]), out=out)
    for coefficient in _SINGLE_P[-2:0:-1]:
        out += square.dtype.type(coefficient)
        out *= square
    out += square.dtype.type(_SINGLE_P[0])
    out *= data
    np.tanh(out, out=out)


def _erf_single(data: Array, out: Array) -> None:
    _erf_of_root(data * np.float32(math.sqrt(2)), out)


def _gelu_single(data: Array, out: Array) -> None:
    """Writes the GELU of `data` to `out`, which must not be `data`."""
    _erf_of_root(data, out)
    out += 1
    out *= np.float32(0.5)  # before `data`, so that no large number overflows
    out *= data


def _gelu(number: float) -> float:
    return number * (1 + math.erf(number * math.sqrt(0.5))) / 2


def _erfinv(number: float) -> float:
    from statistics import NormalDist

    size = abs(number)
    if not size < 1:
        return math.copysign(math.inf, number) if size == 1 else math.nan
    result = -NormalDist().inv_cdf((1 - size) / 2) / math.sqrt(2)
    # a step of Halley's method, as the distribution function is less exact near 1/2
    excess = math.erf(result) - size if result < 1 else 1 - size - math.erfc(result)
    step = excess * math.sqrt(math.pi) / 2 * math.exp(result * result)
    return math.copysign(result - step / (1 + result * step), number)
