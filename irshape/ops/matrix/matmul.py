"""Matrix products: MatMul and GroupedMatMul."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...faults import Between, Violation
from ...rule_ids import INPUT_COUNT, INPUT_SHAPES
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, ONE, Dimension, PartialShape
from ...spelling import with_noun
from ..conditions import equal, rank
from ..conversion import narrowed, widened
from ..declaration import I32_I64, NUMERIC_OR_BOOLEAN, Operation, attribute, operand
from ..differences import Site, dimensions, facts, not_run
from ..elementwise import common_type
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Tensor


def _product_of_nothing(site: Site) -> bool:
    return any(
        size.high == 0 for tensor in site.inputs if tensor for size in dimensions(tensor.shape)
    )


class MatMul(Operation):
    """The product of the matrices in the last two axes of `a` and `b`.

    The other axes are broadcast. A vector is a row on the left and a column on the right.
    """

    since = 1
    differs = facts(
        not_run(
            "2025.4", "a MatMul of a tensor without elements", _product_of_nothing, since="2023.3"
        ),
    )
    a = operand(NUMERIC_OR_BOOLEAN)
    b = operand(NUMERIC_OR_BOOLEAN, like="a")
    transpose_a: bool = attribute(BOOLEAN, default=False)
    transpose_b: bool = attribute(BOOLEAN, default=False)

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        element_type = common_type(a, b)
        here, there = a.shape.dims, b.shape.dims
        if here is None or there is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        if not here or not there:
            name = "b" if here else "a"
            raise Violation(at=name, relation="rank", expected=Between(1, None), actual=0)
        if self.transpose_a and len(here) > 1:
            here = (*here[:-2], here[-1], here[-2])
        if self.transpose_b and len(there) > 1:
            there = (*there[:-2], there[-1], there[-2])
        inner, other = here[-1], there[-2:][0]
        static = inner.low == inner.high and other.low == other.high
        # OpenVINO accepts two intervals that share no size
        if (inner.low != other.low if static else inner.compatible(other)) and not inner.agrees(
            other
        ):
            names = [
                name + (" transposed" if swapped and len(dims) > 1 else "")
                for name, swapped, dims in (
                    ("`a`", self.transpose_a, here),
                    ("`b`", self.transpose_b, there),
                )
            ]
            raise Violation(
                f"{names[0]} {PartialShape(here)} has {with_noun(inner, 'column')}, but {names[1]} "
                f"{PartialShape(there)} has {with_noun(other, 'row')}; the two must be equal",
                at="b",
                relation="equal",
                expected=inner,
                actual=other,
            )
        batch = self.batch(here[:-2], there[:-2])
        columns = there[-1:] if len(there) > 1 else ()
        return Tensor(element_type, (*batch, *here[-2:-1], *columns))

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        a, b = inputs
        if a.rank:
            inner = a.shape[-2 if self.transpose_a and a.rank > 1 else -1]
        elif b.rank:
            inner = b.shape[-2 if not self.transpose_b and b.rank > 1 else -1]
        else:
            return DYNAMIC
        return outputs[0].shape.size * inner

    def batch(self, here: tuple[Dimension, ...], there: tuple[Dimension, ...]) -> list[Dimension]:
        """Returns the result's batch dimensions. As in OpenVINO, disjoint intervals become `?`."""
        result: list[Dimension] = []
        ones = (ONE,) * max(len(here), len(there))
        for axis, (left, right) in enumerate(
            zip(ones[len(here) :] + here, ones[len(there) :] + there, strict=True)
        ):
            dim = left.broadcast(right)
            if not (dim is not None or left.is_dynamic or right.is_dynamic):
                raise Violation(
                    f"the batch dimension at axis {axis} of the result is {left} in `a`, but "
                    f"{right} in `b`; they must be equal, or one of them must be 1",
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
        """Returns floats of `b` in column-major order, so that BLAS is fast on their transpose."""
        transposed = index == 1 and self.transpose_b and array.ndim == 2
        return np.asfortranarray(array) if transposed and array.dtype.char in "fd" else array


def product(a: Array, b: Array) -> Array:
    """Returns `np.matmul(a, b)`, as one product if `b` is a single matrix.

    NumPy would multiply matrix by matrix, which takes several times longer for small matrices.
    """
    if a.ndim < 3 or b.ndim < 2 or math.prod(b.shape[:-2]) != 1 or b.ndim > a.ndim or not a.size:
        return np.asarray(np.matmul(a, b))
    rows = a.reshape(-1, a.shape[-1])
    result = np.matmul(rows, b.reshape(b.shape[-2:]))
    return np.asarray(result.reshape(*a.shape[:-1], b.shape[-1]))


class GroupedMatMul(Operation):
    """A matrix product for each group of `mat_a` `[G,M,K]` and `mat_b` `[G,N,K]`.

    The result for group `g` is `mat_a[g]` times the transpose of `mat_b[g]`. If `mat_a` is a single
    matrix `[T,K]`, `offsets` are the positions after the last row of each group.
    """

    since = 17
    released = ((17, "2026.3"),)
    mat_a = operand(NUMERIC_OR_BOOLEAN)
    mat_b = operand(NUMERIC_OR_BOOLEAN, like="mat_a")
    offsets = operand(I32_I64, optional=True)

    def infer(self, mat_a: Tensor, mat_b: Tensor, offsets: Tensor | None) -> Tensor:
        element_type = common_type(mat_a, mat_b)
        here, there = mat_a.shape, mat_b.shape
        if here.rank is None or there.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        rank(here.rank, (2, 3), at="mat_a")
        rank(there.rank, 3, at="mat_b")
        equal(there[-1], here[-1], at="mat_b", axis=2, of="mat_a", given=here)
        if here.rank == 3:
            groups = equal(there[0], here[0], at="mat_b", axis=0, of="mat_a", given=here)
            return Tensor(element_type, (groups, here[1], there[1]))
        if offsets is None:
            says = f"`mat_a` {here} of rank 2 requires the input `offsets`, which groups its rows"
            raise Violation(says, at="offsets", rule=INPUT_COUNT)
        rank(offsets.rank, 1, at="offsets")
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
