"""ScaledDotProductAttention, evaluated for a part of the queries at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ...element_types import DYNAMIC_TYPE, ElementType
from ...faults import Violation, require
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, ONE, Dimension, PartialShape
from ..blockwise import in_blocks, part_along
from ..conditions import equal, rank
from ..conversion import plain
from ..declaration import ANY, Operation, at_least, attribute, operand
from ..differences import Site, dimensions, facts, ignored, not_run, refused
from ..elementwise import FLOATING, common_type, computed
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Tensor

MAX_SCORES: Final = 1 << 19
"""The largest number of scores to compute at a time. Each pair of a query and a key has a score.
Exception: at least 16 queries are computed at a time."""


def _narrow_mask(site: Site) -> bool:
    """Returns whether a mask has size 1 along an axis of several queries or keys."""
    query, key, mask = (dimensions(site.shape(index)) for index in (0, 1, 3))
    return not site.attribute("causal") and any(
        len(mask) > 1 < len(other) and mask[axis].high == 1 and not other[-2].contains(1)
        for axis, other in ((-2, query), (-1, key))
    )


def _wide_mask(site: Site) -> bool:
    """Returns whether a mask (used only without `causal`) has more rows than the query."""
    query, mask = dimensions(site.shape(0)), dimensions(site.shape(3))
    if site.attribute("causal") or len(query) < 2 or len(mask) < 2:
        return False
    return not mask[-2].contains(1) and not mask[-2].compatible(query[-2])


def _sink(site: Site) -> bool:
    return len(site.inputs) > 5


def _stored_keys(site: Site) -> bool:
    """Returns whether an attention has a boolean mask, and its keys come from a variable."""
    return site.type_name(3) == "boolean" and site.feeding[1] in site.around.stored


def _boolean_mask(site: Site) -> bool:
    """Returns whether an attention has a boolean mask and the CPU plugin does not decompose it."""
    shapes = [tensor.shape for tensor in site.inputs if tensor]
    return (
        site.type_name(3) == "boolean"
        and not site.attribute("causal")
        and site.rank(0) == 4
        and any(shape.static is None for shape in shapes)
    )


class ScaledDotProductAttention(Operation):
    """`softmax(query · keyᵀ · scale + attention_mask) · value`.

    `query` is `[N…, L, E]`, `key` `[N…, S, E]` and `value` `[N…, S, Ev]`. With `causal`, a query
    attends to keys up to its own position, and the mask is ignored. `sink` is an additional score
    in each softmax, without a row in `value`.
    """

    since = 13
    released = ((13, "2023.3"),)
    differs = facts(
        refused("2024.3", "an attention mask that is longer than the query", _wide_mask),
        refused(
            "2024.3", "an attention mask that is broadcast along queries or keys", _narrow_mask
        ),
        ignored(
            "2025.4",
            "the input `sink` of a ScaledDotProductAttention",
            "computes the attention without `sink`",
            _sink,
            since="2023.3",
        ),
        not_run(
            "2024.0",
            "an attention of dynamic shapes with a boolean mask",
            _boolean_mask,
            since="2023.3",
        ),
        not_run(
            "2025.0",
            "an attention with a boolean mask, to keys from a variable",
            _stored_keys,
            since="2024.0",
        ),
    )
    query = operand(FLOATING, rank=at_least(3))
    key = operand(FLOATING, rank=at_least(3), like="query")
    value = operand(FLOATING, rank=at_least(3), like="query")
    attention_mask = operand(ANY, optional=True)
    scale = operand(FLOATING, single=True, like="query", optional=True)
    sink = operand(FLOATING, like="query", optional=True)
    causal: bool = attribute(BOOLEAN, default=False, required=True)

    def infer(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        scale: Tensor | None,
        sink: Tensor | None,
    ) -> Tensor:
        mask = None if self.causal else attention_mask
        element_type = self.result_type([query, key, value, scale, sink], mask)
        batch, length, embedding = _split(query.shape)
        of_keys, keys, width = _split(key.shape)
        equal(width, embedding, at="key", axis=(key.rank or 0) - 1, of="query", given=query.shape)
        of_values, values, width = _split(value.shape)
        axis = (value.rank or 0) - 2
        keys = equal(values, keys, at="value", axis=axis, of="key", given=key.shape)
        batch = _broadcast(_broadcast(batch, of_keys, "key"), of_values, "value")
        if mask is not None and mask.rank:
            rank(mask.rank, at_least(2), at="attention_mask")
            seen = mask.shape if batch.rank is not None else PartialShape(mask.shape[-2:])
            scores = PartialShape((*(batch.dims or ()), length, keys))
            both = _broadcast(scores, seen, "attention_mask", "shape")
            batch = batch if batch.rank is None else PartialShape(both[:-2])
            length = both[-2]
        if batch.rank is None or query.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        if sink is not None and sink.rank is not None:
            wanted, seen = PartialShape((*batch, length, ONE)), sink.shape
            fits = sink.rank == query.rank and seen[-1].contains(1) and wanted.broadcast(seen)
            require(fits, at="sink", relation="broadcast", expected=wanted, actual=seen)
        return Tensor(element_type, (*batch, length, width))

    def result_type(self, inputs: list[Tensor | None], mask: Tensor | None) -> ElementType:
        shared = common_type(*inputs)
        if mask is None or mask.element_type.kind in ("boolean", "dynamic"):
            return shared
        own, dynamic = mask.element_type, shared is DYNAMIC_TYPE
        wanted = f"boolean or {'a floating-point type' if dynamic else shared}"
        fits = own in FLOATING and shared in (own, DYNAMIC_TYPE)
        require(fits, at="attention_mask", relation="type", expected=wanted, actual=own)
        return own

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        query, key = inputs[:2]
        scores = DYNAMIC if key.rank is None else key.shape[-2]
        width = DYNAMIC if query.rank is None else query.shape[-1]
        result = outputs[0].shape
        if result.rank is None:
            return DYNAMIC
        rows = PartialShape(result[:-1]).size
        return rows * scores * (width + result[-1])

    def evaluate(
        self,
        query: Array,
        key: Array,
        value: Array,
        attention_mask: Array | None = None,
        scale: Array | None = None,
        sink: Array | None = None,
    ) -> Array:
        numbers = plain(query)
        factor = (
            numbers.dtype.type(1 / np.sqrt(query.shape[-1]))
            if scale is None
            else plain(scale).reshape(())
        )
        mask = (
            attention_mask
            if self.causal or attention_mask is None or attention_mask.dtype.kind == "b"
            else plain(attention_mask)
        )
        others = mask, None if sink is None else plain(sink)
        keys = plain(key).swapaxes(-1, -2)
        return computed(self.by_parts(factor, numbers, keys, plain(value), *others), query)

    def by_parts(
        self, factor: Array, query: Array, keys: Array, values: Array, *others: Any
    ) -> Array:
        """Returns the attention of unscaled queries, with at most `MAX_SCORES` scores at a time.

        Heads are computed one by one; in each head, some queries at a time.
        others: the mask and the sink.
        """
        length = query.shape[-2]
        batch = np.broadcast_shapes(query.shape[:-2], keys.shape[:-2])
        some = max(MAX_SCORES // max(math.prod(batch) * keys.shape[-1], 1), 16)
        if length <= some:
            return self.attended(0, query * factor, keys, values, *others)
        axis = next((axis for axis, size in enumerate(batch) if size > 1), None)
        if axis is not None:
            end, every = axis - len(batch) - 2, (query, keys, values, *others)
            parts = [
                self.by_parts(factor, *[part_along(each, end, at, at + 1) for each in every])
                for at in range(batch[axis])
            ]
            return np.concatenate(parts, axis=end)
        parts = [
            self.attended(
                start,
                query[..., start : start + some, :] * factor,
                keys,
                values,
                *[part_along(each, -2, start, start + some) for each in others],
            )
            for start in range(0, length, some)
        ]
        return np.concatenate(parts, axis=-2)

    def source_of_nan(self, *arrays: Array | None) -> str | None:
        mask = arrays[3] if len(arrays) > 3 else None
        if mask is None or not mask.ndim:
            return None
        hidden = ~mask if mask.dtype.kind == "b" else np.isneginf(plain(mask))
        if bool(hidden.all(axis=-1).any()):
            return "a row of the mask contains only false or -inf, so everything is masked"
        return None

    def attended(
        self,
        start: int,
        query: Array,
        keys: Array,
        values: Array,
        mask: Array | None,
        sink: Array | None,
    ) -> Array:
        """Returns the attention of scaled queries from position `start` on to transposed `keys`."""
        scores = np.matmul(query, keys)
        if self.causal:
            np.copyto(scores, -np.inf, where=~np.tri(*scores.shape[-2:], k=start, dtype=bool))
        elif mask is not None and mask.dtype.kind == "b":
            scores = np.where(mask, scores, scores.dtype.type(-np.inf))
        elif mask is not None:
            same = np.broadcast_shapes(scores.shape, mask.shape) == scores.shape
            scores = np.add(scores, mask, out=scores if same else None)
        if sink is None:
            weights, total = scores, _exponentials(scores)
        else:
            top = np.maximum(scores.max(axis=-1, keepdims=True, initial=-np.inf), sink)
            same = top.shape[:-1] == scores.shape[:-1]
            scores = np.subtract(scores, top, out=scores if same else None)
            weights = np.exp(scores, out=scores)
            total = weights.sum(axis=-1, keepdims=True) + np.exp(sink - top)
        result = np.asarray(np.matmul(weights, values))
        if not weights.shape[-1]:
            return result  # zeros, the sum of no elements
        return (
            np.divide(result, total, out=result)
            if total.shape[:-1] == result.shape[:-1]
            else result / total
        )


def _exponentials(scores: Array) -> Array:
    """Replaces scores by exp(score - maximum of the row). Returns the sum of each row."""
    width = scores.shape[-1]
    rows = np.ascontiguousarray(scores).reshape(math.prod(scores.shape[:-1]), width)
    totals = np.empty((len(rows), 1), scores.dtype)

    def exponentials(start: int, stop: int) -> None:
        part = rows[start:stop]
        part -= part.max(axis=1, keepdims=True, initial=-np.inf)
        np.exp(part, out=part)
        np.sum(part, axis=1, keepdims=True, out=totals[start:stop])

    in_blocks(exponentials, len(rows), width)
    if not np.may_share_memory(rows, scores):
        np.copyto(scores, rows.reshape(scores.shape))
    return totals.reshape(*scores.shape[:-1], 1)


def _split(shape: PartialShape) -> tuple[PartialShape, Dimension, Dimension]:
    """Returns the batch axes, the sequence length and the embedding size of a shape."""
    return (
        (DYNAMIC_SHAPE, DYNAMIC, DYNAMIC)
        if shape.rank is None
        else (PartialShape(shape[:-2]), shape[-2], shape[-1])
    )


def _broadcast(
    axes: PartialShape, own: PartialShape, at: str, what: str = "batch axes"
) -> PartialShape:
    """Returns `axes` broadcast with `own`, the dimensions of an input. Returns `axes` unchanged if
    one of the ranks is unknown."""
    both = axes if axes.rank is None or own.rank is None else axes.broadcast(own)
    if both is None:
        says = f"`{at}` has {what} {own}, not compatible with {axes}"
        raise Violation(says, at=at, relation="broadcast", expected=axes, actual=own)
    return both
