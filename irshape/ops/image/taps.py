"""Computes the weights of input elements in each element of a resized axis.

Coordinates are computed in f32, as in OpenVINO.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..lazy import Array, np


class Taps(NamedTuple):
    """The input elements that contribute to each element of a resized axis.

    Both arrays have a row for each element of the resized axis: positions on the original axis, and
    the weights of the elements there.
    """

    positions: Array
    weights: Array


def mixed(data: Array, axis: int, taps: Taps) -> Array:
    """Returns `data` with a resized axis: sums of elements, weighted as `taps` says."""
    positions, weights = taps
    form = [1] * data.ndim
    form[axis] = len(positions)
    total = np.zeros((*data.shape[:axis], len(positions), *data.shape[axis + 1 :]), data.dtype)
    for tap in np.flatnonzero(weights.any(axis=0)):
        weight = weights[:, tap].astype(data.dtype).reshape(form)
        total += np.take(data, positions[:, tap], axis=axis) * weight
    return total


def original(transformation: str, size: int, before: int, scale: Any) -> Array:
    """Returns the coordinates on the original axis for each element of the resized axis."""
    places = np.arange(size, dtype=np.float32)
    half = np.float32(0.5)
    if scale == 1 or size == before:
        return places
    if transformation == "align_corners":
        if size == 1:
            return np.zeros_like(places)
        return places * np.float32(before - 1) / np.float32(size - 1)
    if transformation == "asymmetric":
        return places / scale
    if transformation == "tf_half_pixel_for_nn":
        return (places + half) / scale
    if transformation == "pytorch_half_pixel" and size <= 1:
        return np.zeros_like(places)
    return (places + half) / scale - half


def away_from_zero(numbers: Array) -> Array:
    """Returns numbers rounded to integers, halves away from zero."""
    return np.trunc(numbers + np.copysign(np.float32(0.5), numbers))


def _prefer_floor(numbers: Array, _: bool) -> Array:
    half = numbers == np.trunc(numbers) + np.float32(0.5)
    return np.where(half, np.floor(numbers), away_from_zero(numbers))


NEAREST: Final[dict[str, Callable[[Array, bool], Array]]] = {
    "round_prefer_floor": _prefer_floor,
    "round_prefer_ceil": lambda numbers, _: away_from_zero(numbers),
    "floor": lambda numbers, _: np.floor(numbers),
    "ceil": lambda numbers, _: np.ceil(numbers),
    "simple": lambda numbers, smaller: np.ceil(numbers) if smaller else np.trunc(numbers),
}


def linear(coordinates: Array, before: int, stretch: float) -> Taps:
    """Returns the elements around each coordinate, with weights that form a triangle.

    The triangle extends `1 / stretch` to either side. Elements outside the image weigh nothing.
    """
    reach = int(np.ceil(1 / stretch + 0.5))
    nearest = away_from_zero(coordinates).astype(np.int64)
    positions = nearest[:, None] + np.arange(-reach, reach + 1)
    weights = np.maximum(0, 1 - np.abs(np.float32(stretch) * (coordinates[:, None] - positions)))
    weights = np.where((positions >= 0) & (positions < before), weights, 0)
    total = weights.sum(axis=1, keepdims=True)
    normalized = np.where(total > 0, weights / np.where(total > 0, total, 1), 0)
    return Taps(np.clip(positions, 0, before - 1), normalized)


def linear_onnx(coordinates: Array, before: int) -> Taps:
    """Returns the two neighbours of each coordinate, and their weights, clipped to the image."""
    inside = np.clip(coordinates, 0, before - 1)
    left = inside.astype(np.int64)
    right = np.minimum(left + 1, before - 1)
    share = inside - left
    return Taps(np.stack([left, right], axis=1), np.stack([1 - share, share], axis=1))


def cubic(coordinates: Array, before: int, a: float) -> Taps:
    """Returns four neighbours of each coordinate, clipped to the image, and their weights."""
    left = np.floor(coordinates)
    weights = cubic_weights((coordinates - left).astype(np.float64), a)
    positions = left.astype(np.int64)[:, None] + np.arange(-1, 3)
    return Taps(np.clip(positions, 0, before - 1), np.stack(weights, axis=1))


def cubic_weights(s: Array, a: float) -> tuple[Array, ...]:
    """Returns the weights of the two elements before and the two elements after a point."""
    return (
        a * (s - 1) * (s - 1) * s,
        ((a + 2) * s - (a + 3)) * s * s + 1,
        (((-a - 2) * s + (2 * a + 3)) * s - a) * s,
        -a * s * s * (s - 1),
    )


def pillow(size: int, before: int, mode: str, a: float) -> Taps:
    """Returns Pillow's filter weights. Filters widen if the axis shrinks, and end at the border."""
    scale = before / size
    stretch = max(scale, 1.0)
    support = (1.0 if mode == "bilinear_pillow" else 2.0) * stretch
    centers = (np.arange(size) + 0.5) * scale
    first = np.maximum(np.trunc(centers - support + 0.5), 0)
    last = np.minimum(np.trunc(centers + support + 0.5), before)
    positions = first[:, None] + np.arange(int(np.ceil(support)) * 2 + 1)
    x = np.abs((positions - centers[:, None] + 0.5) / stretch)
    if mode == "bilinear_pillow":
        near, far = 1 - x, np.zeros_like(x)
    else:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = (((x - 5) * x + 8) * x - 4) * a
    weights = np.where(x < 1, near, np.where((x < 2) & (mode == "bicubic_pillow"), far, 0))
    weights = np.where(positions < last[:, None], weights, 0)
    total = weights.sum(axis=1, keepdims=True)
    normalized = weights / np.where(total == 0, 1, total)
    return Taps(np.minimum(positions.astype(np.int64), before - 1), normalized)
