"""Look-ups in an embedding table. The rows of each bag or segment are summed or averaged."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Fault, require
from ..shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from .conditions import between, doubted
from .conversion import plain
from .declaration import ANY, I32_I64, Operation, at_least, attribute, operand
from .differences import Site, facts, not_run
from .elementwise import computed
from .kinds import Choice
from .lazy import Array, np
from .movement.broadcasting import wanted_dimensions
from .tensors import Tensor


class EmbeddingLookup(Operation):
    """The base class of look-ups. Each row of the result is the sum or mean of rows of a table."""

    emb_table = operand(ANY, rank=at_least(1))
    reduction: str = "sum"

    def rows(self, *inputs: Tensor | None) -> Dimension:
        """Returns the number of rows of the result, which is the number of bags or segments."""
        return self.dimensions(*inputs).get("bags", DYNAMIC)

    def infer(self, emb_table: Tensor, *others: Tensor | None) -> Tensor:
        seen, weights = self.reduction, others[-1]
        fits = weights is None or seen == "sum"
        require(fits, at="reduction", expected="sum", actual=seen, of="per_sample_weights")
        rows, shape = self.rows(emb_table, *others), DYNAMIC_SHAPE
        if emb_table.rank is not None:
            shape = PartialShape([rows, *emb_table.shape[1:]])
        return Tensor(emb_table.element_type, shape)

    def check(self, *inputs: Tensor | None) -> Iterator[Fault]:
        table, *others = inputs
        assert table is not None
        for declared, tensor in zip(self.operands[1:], others, strict=True):
            known = (tensor and tensor.known) or ()
            absent = declared.name == "default_index" and known == (-1,)
            if declared.name in ("indices", "default_index") and table.rank and not absent:
                limit = table.shape[0].high - 1
                yield from doubted(between, known, 0, limit, at=declared.name)

    def bags(
        self,
        table: Array,
        indices: Array,
        bag: Array,
        count: int,
        weights: Array | None,
        default: Array | None,
    ) -> Array:
        """Returns the sum or mean of the table rows of each bag.

        bag: the bag to which each element of `indices` belongs.
        count: the number of bags.
        default: the index of the table row that empty bags get.
        """
        picked = plain(table[indices])
        total = np.zeros((count, *table.shape[1:]), picked.dtype)
        if weights is not None:
            picked = picked * plain(weights).reshape(-1, *[1] * (table.ndim - 1))
        np.add.at(total, bag, picked)
        sizes = np.bincount(bag, minlength=count)
        if self.reduction == "mean":
            divisor = np.maximum(sizes, 1).reshape(-1, *[1] * (table.ndim - 1))
            total = (
                np.trunc(total / divisor)
                if total.dtype.kind in "iu"
                else total / divisor.astype(total.dtype)
            )
        result = computed(total, table)
        if default is not None and int(default.item()) >= 0:
            result[sizes == 0] = table[int(default.item())]
        return result


def _no_index(site: Site) -> bool:
    return site.value(3) == (-1,)


class OffsetsLookup(EmbeddingLookup):
    """The base class of look-ups in which `offsets` say where in `indices` bags begin."""

    differs = facts(
        not_run("2024.3", "a sum of embeddings with a default index of -1", _no_index),
    )

    indices = operand(I32_I64, known_type=True, shape=("indices",), value=True)
    offsets = operand(I32_I64, known_type=True, shape=("bags",), like="indices")
    default_index = operand(
        I32_I64, known_type=True, rank=0, like="indices", optional=True, value=True
    )
    per_sample_weights = operand(ANY, shape=("indices",), like="emb_table", optional=True)

    def evaluate(
        self,
        emb_table: Array,
        indices: Array,
        offsets: Array,
        default_index: Array | None,
        per_sample_weights: Array | None,
    ) -> Array:
        ends = np.append(offsets[1:], len(indices))
        sizes = ends - offsets
        if len(offsets) and (offsets[0] < 0 or np.any(sizes < 0)):
            raise ValueError("offsets must lie from 0 to the number of indices, and not decrease")
        first = int(offsets[0]) if len(offsets) else len(indices)
        bag = np.repeat(np.arange(len(offsets)), sizes)
        weights = None if per_sample_weights is None else per_sample_weights[first:]
        return self.bags(emb_table, indices[first:], bag, len(offsets), weights, default_index)


class EmbeddingBagOffsetsSum(OffsetsLookup):
    """Sums the table rows of each bag. `offsets` are positions in `indices` where bags begin."""

    since = 3


class EmbeddingBagOffsets(OffsetsLookup):
    """Like EmbeddingBagOffsetsSum, but computes sums or means."""

    since = 15
    released = ((15, "2024.2"),)
    reduction: str = attribute(Choice("sum", "mean"), default="sum")


class PackedLookup(EmbeddingLookup):
    """The base class of look-ups in bags of equal size: each bag is a row of `indices`."""

    indices = operand(I32_I64, known_type=True, shape=("bags", "indices"), value=True)
    per_sample_weights = operand(ANY, shape=("bags", "indices"), like="emb_table", optional=True)

    def evaluate(self, emb_table: Array, indices: Array, per_sample_weights: Array | None) -> Array:
        bag = np.repeat(np.arange(indices.shape[0]), indices.shape[1])
        return self.bags(
            emb_table,
            indices.reshape(-1),
            bag,
            indices.shape[0],
            None if per_sample_weights is None else per_sample_weights.reshape(-1),
            None,
        )


class EmbeddingBagPackedSum(PackedLookup):
    """Sums the table rows of each bag. Each bag is a row of `indices`."""

    since = 3


class EmbeddingBagPacked(PackedLookup):
    """Like EmbeddingBagPackedSum, but computes sums or means."""

    since = 15
    released = ((15, "2024.2"),)
    reduction: str = attribute(Choice("sum", "mean"), default="sum")


class EmbeddingSegmentsSum(EmbeddingLookup):
    """Sums the table rows whose indices belong to the same segment."""

    since = 3
    indices = operand(I32_I64, known_type=True, shape=("indices",), value=True)
    segment_ids = operand(I32_I64, known_type=True, shape=("indices",), like="indices")
    num_segments = operand(I32_I64, known_type=True, rank=0, like="indices", value=True)
    default_index = operand(
        I32_I64, known_type=True, rank=0, like="indices", optional=True, value=True
    )
    per_sample_weights = operand(ANY, shape=("indices",), like="emb_table", optional=True)

    def rows(self, *inputs: Tensor | None) -> Dimension:
        assert inputs[3] is not None
        (count,) = wanted_dimensions(inputs[3]) or [DYNAMIC]
        return count

    def evaluate(
        self,
        emb_table: Array,
        indices: Array,
        segment_ids: Array,
        num_segments: Array,
        default_index: Array | None,
        per_sample_weights: Array | None,
    ) -> Array:
        count = int(num_segments.item())
        if np.any((segment_ids < 0) | (segment_ids >= count)):
            raise ValueError(f"segment_ids must lie from 0 to {count - 1}")
        return self.bags(
            emb_table,
            indices,
            segment_ids.astype(np.int64),
            count,
            per_sample_weights,
            default_index,
        )
