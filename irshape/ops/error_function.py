"""The Gauss error function and its inverse in NumPy.

In f32, erf(x/√2) is computed as tanh(x·p(x²)) with a polynomial p, within four roundings. NumPy
computes tanh in the time of three multiplications. In f64, a rational function approximates
erf(x)/x in x² on [0, 1] with a relative error of 7e-19, and another exp(x²)·erfc(x) on [1, 6] with
2e-18.
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
"""The coefficients of p. Beyond 5.5, x·p(x²) keeps rising, and its tanh is 1 in f32."""

_SMALL_P = (
    1.12837916709551257,
    0.143505558325589355,
    0.0454834663298530351,
    0.00187737035731974646,
    0.000196883147561961324,
    7.76544649043016587e-08,
)
_SMALL_Q = (
    1.0,
    0.460511823073602005,
    0.0938126135489661768,
    0.0106929888449800902,
    0.000692488991987478395,
    2.08098368570161416e-05,
)

_TAIL_P = (
    0.999999992246794592, 1.84544917862367229, 1.67947302567658866, 0.946405550753601622,
    0.353275390576446861, 0.0873846874527071189, 0.0133911882439691628, 0.00100917670076772464,
)  # fmt: skip
_TAIL_Q = (
    1.0, 2.97382826116503284, 4.03507932601302356, 3.27792801698197507, 1.75401599954792219,
    0.638031387039026486, 0.155779716054645604, 0.0237352621277921159, 0.00178871914635114736,
)  # fmt: skip


def erf(data: Array, out: Array | None = None) -> Array:
    """Returns the error function of an array of f32 or f64, in its type.

    out: an array for the result, which may be `data`.
    """
    if data.dtype == np.float32:
        return each(_erf_single, data, out)
    return _by_blocks(_erf_double, data, out)


def gelu(data: Array) -> Array:
    """Returns `x * Φ(x)`, where Φ is the distribution function of the normal distribution."""
    return each(_gelu_single if data.dtype == np.float32 else _gelu_double, data)


def _erf_of_root(data: Array, out: Array) -> None:
    """Writes erf(x/√2) to `out`, which must not be `data`."""
    _polynomial(np.square(data), _SINGLE_P, out)
    out *= data
    np.tanh(out, out=out)


def _erf_single(data: Array, out: Array) -> None:
    _erf_of_root(data * np.float32(math.sqrt(2)), out)


def _gelu_single(data: Array, out: Array) -> None:
    """Writes GELU to `out`, which must not be `data`."""
    _erf_of_root(data, out)
    out += 1
    out *= np.float32(0.5)  # before `data`, so that no large number overflows
    out *= data


def _gelu_double(data: Array, out: Array) -> None:
    result = _erf_double(data * math.sqrt(0.5))
    result += 1
    result *= 0.5
    np.multiply(result, data, out=out)


def _by_blocks(function: Callable[[Array], Array], data: Array, out: Array | None = None) -> Array:
    def of(block: Array, result: Array) -> None:
        result[...] = function(block)

    return each(of, data, out)


def _erf_double(data: Array) -> Array:
    size = np.abs(data)
    result = np.empty_like(data)
    small = size < 1
    inner = data[small]
    square = np.square(inner)
    result[small] = inner * _polynomial(square, _SMALL_P) / _polynomial(square, _SMALL_Q)
    large = ~small
    result[large] = np.copysign(1 - _erfc_tail(size[large]), data[large])
    return result


def _erfc_tail(data: Array) -> Array:
    """Returns 1 - erf of numbers from 1 up, without loss of digits up to 6."""
    near = np.minimum(data, 6.0)
    return np.exp(-np.square(data)) * _polynomial(near, _TAIL_P) / _polynomial(near, _TAIL_Q)


def _polynomial(data: Array, coefficients: tuple[float, ...], out: Array | None = None) -> Array:
    """Returns a polynomial by Horner's rule, in the array's type. The highest power comes last."""
    result = np.multiply(data, data.dtype.type(coefficients[-1]), out=out)
    for coefficient in coefficients[-2:0:-1]:
        result += data.dtype.type(coefficient)
        result *= data
    result += data.dtype.type(coefficients[0])
    return result


def erfinv(data: Array) -> Array:
    """Returns the inverse error function of an array of f32 or f64, in its type.

    It is infinite at -1 and 1, and NaN outside.
    """
    return _by_blocks(_erfinv, data)


def _erfinv(data: Array) -> Array:
    numbers = data.astype(np.float64)
    size = np.abs(numbers)
    rest = 1 - size
    # a closed form with three correct digits, then two steps of Halley's method, which triple them
    logarithm = np.log(rest * (1 + size))
    half = 2 / (np.pi * 0.147) + logarithm / 2
    result = np.sqrt(np.sqrt(np.square(half) - logarithm / 0.147) - half)
    for _ in range(2):
        small = result < 1
        excess = np.where(
            small,
            _erf_double(np.where(small, result, 0)) - size,
            rest - _erfc_tail(np.where(small, 1, result)),
        )
        step = excess * (np.sqrt(np.pi) / 2) * np.exp(np.square(result))
        result = result - step / (1 + result * step)
    result = np.where(size < 1, result, np.where(size == 1, np.inf, np.nan))
    return np.copysign(result, numbers)
