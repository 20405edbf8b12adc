"""Matrix operations: products of matrices in several forms, attention, and the inverse."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from ..faults import Violation, require
from ..rule_ids import ATTRIBUTE_VALUE, INPUT_COUNT, INPUT_ELEMENT_TYPE, INPUT_RANK, INPUT_SHAPES
from ..types import DYNAMIC, DYNAMIC_SHAPE, DYNAMIC_TYPE, ONE, Dimension, ElementType, PartialShape
from .accumulation import narrowed, widened
from .blockwise import in_blocks
from .conversion import plain
from .declaration import (
    ANY,
    I32_I64,
    NUMERIC,
    NUMERIC_OR_BOOLEAN,
    Operation,
    at_least,
    attribute,
    operand,
)
from .elementwise import FLOATING, common_type, computed
from .kinds import BOOLEAN, STRING
from .lazy import Array, np
from .tensors import Tensor

MAX_SCORES: Final = 1 << 19
"""The scores of attention are worked out for so many pairs of queries and keys at a time, 16
queries at least.
"""


class MatMul(Operation):
    """The product of the matrices in the last two axes of `a` and `b`; the axes before are
    broadcast, a vector is a row on the left and a column on the right.

    Specification: MatMul-1.
    """

    since = 1
    a = operand(NUMERIC_OR_BOOLEAN)
    b = operand(NUMERIC_OR_BOOLEAN, like="a")
    transpose_a: bool = attribute(BOOLEAN, default=False)
    transpose_b: bool = attribute(BOOLEAN, default=False)

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        element_type = common_type(a, b)
        if a.rank is None or b.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        for name, tensor in (("a", a), ("b", b)):
            require(
                tensor.rank,
                f"`{name}` is a scalar; expected a vector or matrices",
                at=name,
                expected="rank 1 or more",
                actual="rank 0",
                rule=INPUT_RANK,
            )
        here, there = list(a.shape), list(b.shape)
        if self.transpose_a and len(here) > 1:
            here[-2:] = here[:-3:-1]
        if self.transpose_b and len(there) > 1:
            there[-2:] = there[:-3:-1]
        rows, inner = ([ONE] * (len(here) == 1) + here)[-2:]
        other, columns = (there + [ONE] * (len(there) == 1))[-2:]
        if (inner.is_static and other.is_static and inner.low != other.low) or (
            (inner.symbolic or other.symbolic)
            and inner.compatible(other)
            and inner.merge(other) is None
        ):
            names = [
                name + (" transposed" if swapped and len(dims) > 1 else "")
                for name, swapped, dims in (
                    ("`a`", self.transpose_a, here),
                    ("`b`", self.transpose_b, there),
                )
            ]
            raise Violation(
                f"{names[0]} {PartialShape(here)} has {inner} columns, but {names[1]} "
                f"{PartialShape(there)} has {other} rows; a product needs as many",
                at="b",
                expected=inner,
                actual=other,
                rule=INPUT_SHAPES,
            )
        batch = self.batch(here[:-2], there[:-2])
        return Tensor(
            element_type, (*batch, *[rows] * (len(here) > 1), *[columns] * (len(there) > 1))
        )

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        a, b = inputs
        if a.rank:
            inner = a.shape[-2 if self.transpose_a and a.rank > 1 else -1]
        elif b.rank:
            inner = b.shape[-2 if not self.transpose_b and b.rank > 1 else -1]
        else:
            return DYNAMIC
        return outputs[0].shape.size * inner

    def batch(self, here: list[Dimension], there: list[Dimension]) -> list[Dimension]:
        """The axes before the matrices. OpenVINO lets two ranges go together that share no size."""
        rank = max(len(here), len(there))
        result = []
        for axis, (left, right) in enumerate(
            zip([ONE] * (rank - len(here)) + here, [ONE] * (rank - len(there)) + there, strict=True)
        ):
            dim = left.broadcast(right)
            require(
                dim is not None or left.is_dynamic or right.is_dynamic,
                f"the batch of `a` is {left} and that of `b` {right} at axis {axis} of the "
                "result; they must be equal, or one of them 1",
                at="b",
                expected=f"{left} or 1",
                actual=right,
                rule=INPUT_SHAPES,
            )
            result.append(dim or DYNAMIC)
        return result

    def evaluate(self, a: Array, b: Array) -> Array:
        here, there = widened(a), widened(b)
        if self.transpose_a and here.ndim > 1:
            here = here.swapaxes(-1, -2)
        if self.transpose_b and there.ndim > 1:
            there = there.swapaxes(-1, -2)
        return narrowed(product(here, there), a)

    def arranged(self, index: int, array: Array) -> Array:
        if index == 1 and self.transpose_b and array.ndim == 2:
            return transposable(array)
        return array


def transposable(array: Array) -> Array:
    """An array of floats whose transposed view is contiguous, which BLAS is faster with."""
    return np.asfortranarray(array) if array.dtype.char in "fd" else array


def product(a: Array, b: Array) -> Array:
    """`np.matmul`; where one matrix on the right is for all on the left, as one product.

    NumPy would multiply them one after the other, which for small ones takes several times longer.
    """
    if a.ndim < 3 or b.ndim < 2 or math.prod(b.shape[:-2]) != 1 or b.ndim > a.ndim or not a.size:
        return np.asarray(np.matmul(a, b))
    rows = a.reshape(-1, a.shape[-1])
    result = np.matmul(rows, b.reshape(b.shape[-2:]))
    return np.asarray(result.reshape(*a.shape[:-1], b.shape[-1]))


class GroupedMatMul(Operation):
    """A matrix product for each group: of matrices in pairs `[G,M,K]` and `[G,N,K]`, or of rows
    `[T,K]`, which `offsets` share out among the groups, with `[G,N,K]`.

    Specification: GroupedMatMul-17.
    """

    since = 17
    mat_a = operand(NUMERIC_OR_BOOLEAN)
    mat_b = operand(NUMERIC_OR_BOOLEAN, like="mat_a")
    offsets = operand(I32_I64, optional=True)

    def infer(self, mat_a: Tensor, mat_b: Tensor, offsets: Tensor | None) -> Tensor:
        element_type = common_type(mat_a, mat_b)
        here, there = mat_a.shape, mat_b.shape
        if here.rank is None or there.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        require(
            here.rank in (2, 3) and there.rank == 3,
            f"`mat_a` {here} and `mat_b` {there} have ranks {here.rank} and {there.rank}; "
            "expected 2 and 3, or 3 and 3",
            at="mat_b" if here.rank in (2, 3) else "mat_a",
            expected="ranks 2 and 3, or 3 and 3",
            actual=f"ranks {here.rank} and {there.rank}",
            rule=INPUT_RANK,
        )
        require(
            here[-1].compatible(there[-1]),
            f"`mat_a` {here} has {here[-1]} columns, but the matrices of `mat_b` {there}, which "
            f"are transposed, have {there[-1]}",
            at="mat_b",
            expected=here[-1],
            actual=there[-1],
            rule=INPUT_SHAPES,
        )
        if here.rank == 3:
            groups = here[0].merge(there[0])
            if groups is None:
                raise Violation(
                    f"`mat_a` {here} has {here[0]} groups, but `mat_b` {there} has {there[0]}",
                    at="mat_b",
                    expected=here[0],
                    actual=there[0],
                    rule=INPUT_SHAPES,
                )
            return Tensor(element_type, (groups, here[1], there[1]))
        if offsets is None:
            raise Violation(
                f"without `offsets`, the rows of `mat_a` {here} belong to no group",
                at="offsets",
                expected="a third input",
                rule=INPUT_COUNT,
            )
        require(
            offsets.rank in (None, 1),
            f"`offsets` has shape {offsets.shape}; expected the end of each group's rows, a list",
            at="offsets",
            expected="rank 1",
            actual=f"rank {offsets.rank}",
            rule=INPUT_RANK,
        )
        return Tensor(element_type, (here[0], there[1]))

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        return outputs[0].shape.size * (inputs[0].shape[-1] if inputs[0].rank else DYNAMIC)

    def evaluate(self, mat_a: Array, mat_b: Array, offsets: Array | None = None) -> Array:
        here, there = widened(mat_a), widened(mat_b).swapaxes(-1, -2)
        if here.ndim == 3 or offsets is None:
            return narrowed(np.matmul(here, there), mat_a)
        result = np.zeros((here.shape[0], there.shape[-1]), here.dtype)
        start = 0
        for group, end in zip(there, offsets.tolist(), strict=False):
            result[start:end] = here[start:end] @ group
            start = max(start, end)
        return narrowed(result, mat_a)


_SUBSCRIPT = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")
_LABEL = re.compile(r"\.\.\.|[A-Za-z]")
ELLIPSIS: Final = "..."


class Einsum(Operation):
    """Einstein summation: a label for each axis, axes of one label go together, labels that the
    output lacks are summed over.

    Specification: Einsum-7.
    """

    since = 7
    inputs = operand(NUMERIC, like="inputs", variadic=True)
    equation: str = attribute(STRING)

    def subscripts(self) -> tuple[list[list[str]], list[str]]:
        """The labels of each input and of the output, `...` among them. Raises `Violation`."""
        left, arrow, right = self.equation.partition("->")
        parts = left.split(",")
        for part in [*parts, right]:
            require(
                _SUBSCRIPT.fullmatch(part),
                f"`equation` '{self.equation}': the subscript '{part}' is not made of letters "
                "with at most one ellipsis",
                at="equation",
                expected="letters, and at most one ...",
                actual=part,
                rule=ATTRIBUTE_VALUE,
            )
        labels = [_LABEL.findall(part) for part in parts]
        if arrow:
            return labels, _LABEL.findall(right)
        alone = [
            label
            for i, own in enumerate(labels)
            for label in own
            if label != ELLIPSIS
            and not any(label in other for j, other in enumerate(labels) if j != i)
        ]
        return labels, [ELLIPSIS] * any(ELLIPSIS in own for own in labels) + sorted(alone)

    def infer(self, *inputs: Tensor) -> Tensor:
        subscripts, output = self.subscripts()
        require(
            len(subscripts) == len(inputs),
            f"`equation` '{self.equation}' has {len(subscripts)} input "
            f"subscript{'s' * (len(subscripts) != 1)}, but there "
            f"{'is 1 input' if len(inputs) == 1 else f'are {len(inputs)} inputs'}",
            at="equation",
            expected=f"{len(inputs)} subscripts",
            actual=len(subscripts),
        )
        sizes: dict[str, PartialShape] = {}
        for index, (labels, tensor) in enumerate(zip(subscripts, inputs, strict=True)):
            for label, shape in self.labelled(index, labels, tensor.shape).items():
                known = sizes.get(label)
                merged: PartialShape | None
                if known is None:
                    merged = shape
                elif tensor.rank is None and label != ELLIPSIS:
                    merged = known
                else:
                    merged = known.broadcast(shape)
                if merged is None:
                    raise Violation(
                        f"`equation` '{self.equation}': input {index} has {_bare(shape)} where "
                        f"'{label}' stands, but an input before it has {_bare(sizes[label])}",
                        at="inputs",
                        expected=_bare(sizes[label]),
                        actual=_bare(shape),
                        rule=INPUT_SHAPES,
                    )
                sizes[label] = merged
        result: list[Dimension] = []
        for label in output:
            if label not in sizes:
                require(
                    label == ELLIPSIS,
                    f"`equation` '{self.equation}': the output has the label '{label}', which no "
                    "input has",
                    at="equation",
                    expected="labels of the inputs",
                    actual=label,
                    rule=ATTRIBUTE_VALUE,
                )
            elif sizes[label].rank is None:
                return Tensor(inputs[0].element_type, DYNAMIC_SHAPE)
            else:
                result += sizes[label]
        return Tensor(inputs[0].element_type, result)

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        """As if all inputs were multiplied at once: a product for each combination of labels."""
        subscripts, _ = self.subscripts()
        sizes: dict[str, Dimension] = {}
        for index, (labels, tensor) in enumerate(zip(subscripts, inputs, strict=True)):
            for label, shape in self.labelled(index, labels, tensor.shape).items():
                known = sizes.get(label, ONE)
                sizes[label] = known.broadcast(shape.size) or known
        total = Dimension(len(inputs) - 1)
        for size in sizes.values():
            total = total * size
        return total

    def labelled(
        self, index: int, labels: list[str], shape: PartialShape
    ) -> dict[str, PartialShape]:
        """What an input says of its labels: one dimension for each, several for the ellipsis.

        Raises `Violation`.
        """
        if shape.rank is None:
            return {
                label: DYNAMIC_SHAPE if label == ELLIPSIS else PartialShape((DYNAMIC,))
                for label in labels
            }
        more = shape.rank - len(labels)
        require(
            more >= -1 if ELLIPSIS in labels else more == 0,
            f"`equation` '{self.equation}': the subscript '{''.join(labels)}' of input {index} "
            f"has {len(labels)} labels, but its shape is {shape}, of rank {shape.rank}",
            at="inputs",
            expected=f"rank {len(labels)}",
            actual=f"rank {shape.rank}",
            rule=INPUT_RANK,
        )
        result: dict[str, PartialShape] = {}
        at = 0
        for label in labels:
            width = more + 1 if label == ELLIPSIS else 1
            own = PartialShape(shape[at : at + width])
            merged = result[label].merge(own) if label in result else own
            if merged is None:
                raise Violation(
                    f"`equation` '{self.equation}': '{label}' denotes two axes of input "
                    f"{index}, but they are {_bare(result[label])} and {_bare(own)} of {shape}",
                    at="inputs",
                    expected=_bare(result[label]),
                    actual=_bare(own),
                    rule=INPUT_SHAPES,
                )
            result[label] = merged
            at += width
        return result

    def evaluate(self, *inputs: Array) -> Array:
        subscripts, output = self.subscripts()
        widths = [
            array.ndim - len(labels) + 1
            for labels, array in zip(subscripts, inputs, strict=True)
            if ELLIPSIS in labels
        ]
        numbers = {
            label: number
            for number, label in enumerate(
                sorted({label for labels in subscripts for label in labels} - {ELLIPSIS})
            )
        }
        shared = list(range(len(numbers), len(numbers) + max(widths, default=0)))

        def numbered(labels: list[str], rank: int | None) -> list[int]:
            width = len(shared) if rank is None else rank - len(labels) + 1
            return [
                number
                for label in labels
                for number in (
                    shared[len(shared) - width :] if label == ELLIPSIS else [numbers[label]]
                )
            ]

        arguments = [
            part
            for labels, array in zip(subscripts, inputs, strict=True)
            for part in (widened(array), numbered(labels, array.ndim))
        ]
        return narrowed(
            np.asarray(np.einsum(*arguments, numbered(output, None), optimize=len(inputs) > 1)),
            inputs[0],
        )


def _bare(shape: PartialShape) -> str:
    return str(shape[0]) if shape.rank == 1 else str(shape)


class Inverse(Operation):
    """The inverse of the square matrices in the last two axes, NaN for a singular one; with
    `adjoint` transposed, as OpenVINO 2026.4 runs it.

    Specification: Inverse-14.
    """

    since = 14
    data = operand(FLOATING, shape=(..., "rows", "columns"))
    adjoint: bool = attribute(BOOLEAN, default=False)

    def infer(self, data: Tensor) -> Tensor:
        shape = data.shape
        if shape.rank is not None:
            require(
                shape[-1].is_dynamic or shape[-2].is_dynamic or shape[-1] == shape[-2],
                f"`data` {shape} has matrices of {shape[-2]} rows and {shape[-1]} columns; only "
                "square ones have an inverse",
                at="data",
                expected=f"{shape[-2]} columns",
                actual=shape[-1],
                rule=INPUT_SHAPES,
            )
        return Tensor(data.element_type, shape)

    def evaluate(self, data: Array) -> Array:
        numbers = plain(data)
        try:
            inverse = np.linalg.inv(numbers)
        except np.linalg.LinAlgError:  # one of them is singular
            regular = np.linalg.det(numbers) != 0
            inverse = np.full_like(numbers, np.nan)
            inverse[regular] = np.linalg.inv(numbers[regular])
        return computed(inverse.swapaxes(-1, -2) if self.adjoint else inverse, data)


class ScaledDotProductAttention(Operation):
    """`softmax(query · keyᵀ · scale + attention_mask) · value`, over `query` `[N…, L, E]`, `key`
    `[N…, S, E]` and `value` `[N…, S, Ev]`.

    With `causal`, a query sees the keys up to its own position, whatever the mask. `sink` adds a
    score to each softmax that belongs to no value.
    Specification: ScaledDotProductAttention-13.
    """

    since = 13
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
        batch, keys, _ = self.joined("key", key.shape, batch, DYNAMIC, embedding, "queries")
        batch, keys, width = self.joined("value", value.shape, batch, keys, DYNAMIC, "keys")
        if mask is not None:
            batch, length = self.masked(mask.shape, batch, length, keys)
        if sink is not None:
            self.check_sink(sink.shape, query.shape, batch, length)
        return Tensor(
            element_type,
            DYNAMIC_SHAPE if query.rank is None or batch.rank is None else (*batch, length, width),
        )

    def result_type(self, inputs: list[Tensor | None], mask: Tensor | None) -> ElementType:
        shared = common_type(*inputs)
        if mask is None or mask.element_type.kind in ("boolean", "dynamic"):
            return shared
        own = mask.element_type
        wanted = "a floating-point type" if shared is DYNAMIC_TYPE else str(shared)
        like = "" if shared is DYNAMIC_TYPE else ", as `query` has"
        require(
            own in FLOATING and shared in (own, DYNAMIC_TYPE),
            f"`attention_mask` has element type {own}; expected boolean or {wanted}{like}",
            at="attention_mask",
            expected=f"boolean or {wanted}",
            actual=own,
            rule=INPUT_ELEMENT_TYPE,
            help="insert a Convert",
        )
        return own

    def joined(
        self,
        name: str,
        shape: PartialShape,
        batch: PartialShape,
        length: Dimension,
        width: Dimension,
        of: str,
    ) -> tuple[PartialShape, Dimension, Dimension]:
        """Batch axes, sequence and width of an input together with what is known of them so far.

        Raises `Violation`.
        """
        if shape.rank is None:
            return batch, length, width
        own, own_length, own_width = _split(shape)
        merged, long, wide = (
            batch.broadcast(own) if batch.rank is not None else batch,
            length.merge(own_length),
            width.merge(own_width),
        )
        for result, seen, expected, what in (
            (merged, own, batch, "batch axes"),
            (long, own_length, length, "sequence length"),
            (wide, own_width, width, "embedding width"),
        ):
            if result is None:
                raise Violation(
                    f"`{name}` {shape} has {what} {seen}, which are not compatible with {expected} "
                    "of the "
                    f"{of}",
                    at=name,
                    expected=expected,
                    actual=seen,
                    rule=INPUT_SHAPES,
                )
        return batch if merged is None else merged, long or DYNAMIC, wide or DYNAMIC

    def masked(
        self, mask: PartialShape, batch: PartialShape, length: Dimension, keys: Dimension
    ) -> tuple[PartialShape, Dimension]:
        """Batch axes and number of queries after the mask was broadcast to the scores, and they to
        it.

        Raises `Violation`.
        """
        if not mask.rank:
            return batch, length
        scores = f"[…,{length},{keys}]"
        require(
            mask.rank > 1,
            f"`attention_mask` has shape {mask}; expected rank 2 or more, compatible with the "
            "scores "
            f"{scores}",
            at="attention_mask",
            expected=scores,
            actual=mask,
            rule=INPUT_RANK,
        )
        merged = (
            batch
            if mask.rank == 2 or batch.rank is None
            else batch.broadcast(PartialShape(mask[:-2]))
        )
        longer, wider = length.broadcast(mask[-2]), keys.broadcast(mask[-1])
        if merged is None or longer is None or wider is None:
            raise Violation(
                f"`attention_mask` has shape {mask}, which is not compatible with the scores "
                f"{batch} × "
                f"{scores} of queries × keys",
                at="attention_mask",
                expected=scores,
                actual=mask,
                rule=INPUT_SHAPES,
            )
        return merged, longer

    def check_sink(
        self, sink: PartialShape, query: PartialShape, batch: PartialShape, length: Dimension
    ) -> None:
        if sink.rank is None or query.rank is None or batch.rank is None:
            return
        fits = (
            sink.rank == query.rank
            and sink[-1].contains(1)
            and PartialShape((*batch, length)).broadcast(PartialShape(sink[:-1])) is not None
        )
        wanted = PartialShape((*batch, length, ONE))
        require(
            fits,
            f"`sink` has shape {sink}; expected one that is broadcast to {wanted}, of the rank of "
            "`query`",
            at="sink",
            expected=wanted,
            actual=sink,
            rule=INPUT_SHAPES,
        )

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
        keys, values = plain(key).swapaxes(-1, -2), plain(value)
        mask = (
            attention_mask
            if self.causal or attention_mask is None or attention_mask.dtype.kind == "b"
            else plain(attention_mask)
        )
        sinks = None if sink is None else plain(sink)
        result = self.by_parts(numbers, factor, keys, values, mask, sinks)
        return computed(result, query)

    def by_parts(
        self,
        query: Array,
        factor: Array,
        keys: Array,
        values: Array,
        mask: Array | None,
        sinks: Array | None,
    ) -> Array:
        """The result for queries that are not scaled yet, with `MAX_SCORES` at a time.

        Heads are computed one after the other, and of one head some queries.
        """
        length = query.shape[-2]
        batch = np.broadcast_shapes(query.shape[:-2], keys.shape[:-2])
        row = max(math.prod(batch) * keys.shape[-1], 1)
        some = max(MAX_SCORES // row, 16)
        if length <= some:
            return self.attended(query * factor, keys, values, mask, sinks, 0)
        axis = next((axis for axis, size in enumerate(batch) if size > 1), None)
        if axis is not None:
            end = axis - len(batch) - 2
            parts = [
                self.by_parts(
                    _of_batch(query, end, index),
                    factor,
                    _of_batch(keys, end, index),
                    _of_batch(values, end, index),
                    None if mask is None else _of_batch(mask, end, index),
                    None if sinks is None else _of_batch(sinks, end, index),
                )
                for index in range(batch[axis])
            ]
            return np.concatenate(parts, axis=end)
        parts = [
            self.attended(
                query[..., start : start + some, :] * factor,
                keys,
                values,
                _rows(mask, length, start, some),
                _rows(sinks, length, start, some),
                start,
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
            return "a row of its mask lets nothing through (false, or -inf, all along)"
        return None

    def attended(
        self,
        query: Array,
        keys: Array,
        values: Array,
        mask: Array | None,
        sink: Array | None,
        start: int,
    ) -> Array:
        """The result for scaled queries from position `start` on; `keys` are transposed."""
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
            return result  # zeros, as a sum of nothing
        return (
            np.divide(result, total, out=result)
            if total.shape[:-1] == result.shape[:-1]
            else result / total
        )


def _exponentials(scores: Array) -> Array:
    """Overwrites each row of scores with exp of its distance to its maximum; returns the sums."""
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


def _of_batch(array: Array, axis: int, index: int) -> Array:
    """The part of an input that belongs to one position of an axis, counted from the end."""
    if array.ndim < -axis or array.shape[axis] == 1:
        return array
    return array[(slice(None),) * (array.ndim + axis) + (slice(index, index + 1),)]


def _rows(array: Array | None, length: int, start: int, count: int) -> Array | None:
    """The rows of some queries, of an array that has one for each of `length` queries, or one for
    all.
    """
    return (
        array
        if array is None or array.ndim < 2 or array.shape[-2] != length
        else array[..., start : start + count, :]
    )


def _split(shape: PartialShape) -> tuple[PartialShape, Dimension, Dimension]:
    """Batch axes, sequence and embedding of a shape."""
    return (
        (DYNAMIC_SHAPE, DYNAMIC, DYNAMIC)
        if shape.rank is None
        else (PartialShape(shape[:-2]), shape[-2], shape[-1])
    )
