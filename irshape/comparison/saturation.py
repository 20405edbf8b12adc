"""Simulates 8-bit integer products on processors without VNNI, which cut sums to 16 bits.

The CPU plugin multiplies two outputs of FakeQuantize layers as 8-bit integers. Without VNNI it uses
an instruction (vpmaddubsw) that adds two neighbouring products of an unsigned and a signed byte. If
the sum does not fit in 16 bits, the result is the nearest number that does.

Source: oneDNN's documentation, "Nuances of int8 computations"; measured with the CPU plugin 2026.4
under `ONEDNN_MAX_CPU_ISA=AVX2` and `=AVX512_CORE`: the integers of the first operand begin at 0,
those of the second at -128, and pairs begin at the first element of the common axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..execution.session import ExecutionError, Session
from ..model.graph import Layer
from ..model.wiring import Wiring, wire
from ..numpy_types import Array
from ..ops.registry import declaration_of

LEVELS = 256
OFF_GRID = 1e-2
"""How far an output of a FakeQuantize may lie from the nearest level, in steps."""

_LEAST, _MOST = -(1 << 15), (1 << 15) - 1


class Grid(NamedTuple):
    """The possible outputs of a FakeQuantize: `low + level * step`."""

    low: float
    step: float

    def levels(self, values: Array) -> Array | None:
        """Returns values as quantized integers from 0; None if some values are not on the grid."""
        exact = (values.astype(np.float64) - self.low) / self.step
        levels = np.rint(exact)
        if not values.size or not bool(np.all(np.abs(exact - levels) <= OFF_GRID)):
            return None
        if levels.min() < 0 or levels.max() >= LEVELS:
            return None
        return levels.astype(np.int32)


def saturated(
    session: Session, layer: Layer, inputs: tuple[Array, ...], mine: Array
) -> tuple[Array, str] | None:
    """Computes a layer again, but limits each sum of two products of quantized integers to 16 bits.
    Returns the output, and a text that counts the changed elements; None if the layer does not
    multiply such integers, or no element changes. mine: irshape's usual output of the layer."""
    kind = layer.folded_type
    if kind not in ("matmul", "scaleddotproductattention") or len(inputs) < 2:
        return None
    first, second = inputs[0], inputs[1]
    if min(first.ndim, second.ndim) < 2 or mine.dtype != np.float32:
        return None
    grids = [grid_of_input(session, layer, port) for port in (0, 1)]
    if grids[0] is None or grids[1] is None:
        return None
    levels = grids[0].levels(first), grids[1].levels(second)
    if levels[0] is None or levels[1] is None:
        return None
    transposed = _transposed(layer)
    rows = levels[0].swapaxes(-1, -2) if transposed[0] else levels[0]
    columns = levels[1] if transposed[1] else levels[1].swapaxes(-1, -2)
    if rows.shape[-1] != columns.shape[-1]:
        return None
    cut, count = _what_is_cut(rows, columns - LEVELS // 2)
    if not count:
        return None
    lost = cut * (grids[0].step * grids[1].step)
    said = f"{count} of {cut.size} elements of the product"
    if kind == "matmul":
        return (mine + lost).astype(mine.dtype), said
    value = _attention(session, layer, inputs, lost)
    return None if value is None else (value, said)


def _transposed(layer: Layer) -> tuple[bool, bool]:
    """Returns for each operand whether it is transposed. Attention transposes its keys."""
    declared = declaration_of(layer)
    if declared is None or layer.folded_type != "matmul":
        return False, True
    product = declared.read(layer.items)[0]
    return product.transpose_a, product.transpose_b  # type: ignore[attr-defined]


def _what_is_cut(rows: Array, columns: Array) -> tuple[Array, int]:
    """Returns how much each element of a matrix product changes if sums are cut to 16 bits, and how
    many change. rows, columns: unsigned and signed integers, to be summed along the last axis."""
    if rows.shape[-1] % 2:
        pad = [(0, 0)] * (max(rows.ndim, columns.ndim) - 1) + [(0, 1)]
        rows = np.pad(rows, pad[-rows.ndim :])
        columns = np.pad(columns, pad[-columns.ndim :])
    batch = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    lost = np.zeros((*batch, rows.shape[-2], columns.shape[-2]), np.int32)
    for at in range(0, rows.shape[-1], 2):
        row, column = rows[..., at : at + 2], columns[..., at : at + 2]
        if 2 * int(row.max()) * int(np.abs(column).max()) <= _MOST:
            continue
        exact = row @ column.swapaxes(-1, -2)
        lost += np.clip(exact, _LEAST, _MOST) - exact
    return lost, int(np.count_nonzero(lost))


def _attention(
    session: Session, layer: Layer, inputs: tuple[Array, ...], lost: Array
) -> Array | None:
    """Computes attention with its products of queries and keys changed by `lost`.

    To do so, it appends `lost` to the queries and a unit matrix to the keys.
    """
    query, key = inputs[:2]
    width, count = query.shape[-1], key.shape[-2]
    unit = np.broadcast_to(np.eye(count, dtype=np.float32), (*key.shape[:-2], count, count))
    wide = np.broadcast_to(query, (*lost.shape[:-1], width))
    # without an input for the scale, it follows from the width
    factor = 1.0 if len(inputs) > 4 else float(np.sqrt((width + count) / width))
    queries = np.concatenate([wide, lost], axis=-1) * factor
    keys = np.concatenate([key, unit], axis=-1)
    try:
        return session.evaluate(layer, (queries.astype(np.float32), keys, *inputs[2:]))[0]
    except (ExecutionError, IndexError):
        return None


def grid_of_input(session: Session, layer: Layer, port: int) -> Grid | None:
    """Returns the grid of an input that comes from a FakeQuantize of 256 levels, directly or
    through layers that only move elements; None for any other input."""
    layers, wiring = session.model.net.layers, wire(session.model.net)
    position = next((at for at, known in enumerate(layers) if known is layer), None)
    while position is not None:
        sources = wiring.sources[position]
        source = sources[port] if port < len(sources) else None
        if source is None:
            return None
        position, port = source[0], 0
        layer = layers[position]
        if layer.folded_type == "fakequantize":
            return _grid_of(session, wiring, position)
        declared = declaration_of(layer)
        moves = declared is not None and declared.decompresses == "exactly"
        if not moves or layer.folded_type == "convert":
            return None
    return None


def _grid_of(session: Session, wiring: Wiring, position: int) -> Grid | None:
    """Returns the grid of a FakeQuantize with 256 levels and scalar constant limits; else None."""
    layers = session.model.net.layers
    sources = wiring.sources[position]
    if layers[position].attribute("levels") != str(LEVELS) or len(sources) != 5:
        return None
    limits = []
    for source in sources[3:]:
        if source is None or not layers[source[0]].is_constant:
            return None
        try:
            constant = session.constant(layers[source[0]])
        except ExecutionError:
            return None
        if constant.size != 1:
            return None
        limits.append(float(constant.reshape(())))
    step = (limits[1] - limits[0]) / (LEVELS - 1)
    return Grid(limits[0], step) if step > 0 and np.isfinite(step) else None
