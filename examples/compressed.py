"""A small language model with weights in the patterns that weight compression produces.

The weights are u8 with zero points (the embeddings), u4 in groups with zero points, i4 in groups
without zero points, nf4, and f16. The scales have few significant bits, so decompression is exact
in f16. f16 cannot represent the sixteen values of nf4, so the nf4 weights are converted to f32.
"""

import numpy as np
import openvino as ov
from common import floats, halves, ints, normal, result, write
from openvino import opset13 as op

VOCABULARY, WIDTH, INNER, GROUP = 128, 64, 128, 16


def scales(rng: np.random.Generator, shape: tuple[int, ...], typical: float) -> ov.Node:
    """f16 scales from 3/4 to 5/4 of `typical`, in steps of 1/8. typical: a power of two."""
    return op.constant((rng.integers(6, 11, shape) / 8 * typical).astype(np.float16))


def u8_by_row(rng: np.random.Generator, rows: int, columns: int) -> ov.Node:
    stored = op.constant(rng.integers(0, 256, (rows, columns)).astype(np.uint8))
    zero = op.constant(rng.integers(120, 137, (rows, 1)).astype(np.uint8))
    shifted = op.subtract(op.convert(stored, "f16"), op.convert(zero, "f16"))
    return op.convert(op.multiply(shifted, scales(rng, (rows, 1), 2.0**-7)), "f32")


def u4_in_groups(rng: np.random.Generator, rows: int, columns: int) -> ov.Node:
    shape = (rows, columns // GROUP, GROUP)
    stored = op.constant(rng.integers(0, 16, shape), dtype=ov.Type.u4)
    zero = op.constant(rng.integers(6, 10, (*shape[:2], 1)), dtype=ov.Type.u4)
    shifted = op.subtract(op.convert(stored, "f16"), op.convert(zero, "f16"))
    grouped = op.multiply(shifted, scales(rng, (*shape[:2], 1), 2.0**-5))
    return op.convert(op.reshape(grouped, ints([rows, columns]), False), "f32")


def i4_in_groups(rng: np.random.Generator, rows: int, columns: int) -> ov.Node:
    shape = (rows, columns // GROUP, GROUP)
    stored = op.constant(rng.integers(-8, 8, shape), dtype=ov.Type.i4)
    grouped = op.multiply(op.convert(stored, "f16"), scales(rng, (*shape[:2], 1), 2.0**-6))
    return op.convert(op.reshape(grouped, ints([rows, columns]), False), "f32")


def nf4_by_row(rng: np.random.Generator, rows: int, columns: int) -> ov.Node:
    stored = op.constant(
        np.clip(normal(rng, rows, columns, scale=0.4), -1.0, 1.0), dtype=ov.Type.nf4
    )
    return op.multiply(op.convert(stored, "f32"), floats(np.exp2(rng.integers(-3, 0, (rows, 1)))))


def norm(rng: np.random.Generator, x: ov.Node, name: str) -> ov.Node:
    gamma = halves(1.0 + normal(rng, 1, 1, WIDTH, scale=0.1))
    return op.multiply(op.mvn(x, ints([-1]), True, 1e-5, "inside_sqrt", name=name), gamma)


def build() -> ov.Model:
    rng = np.random.default_rng(8)
    input_ids = op.parameter(ov.PartialShape("?,?"), ov.Type.i64, name="input_ids")
    x = op.gather(u8_by_row(rng, VOCABULARY, WIDTH), input_ids, ints(0), name="embeddings")
    y = norm(rng, x, "norm1")
    gate = op.swish(op.matmul(y, u4_in_groups(rng, INNER, WIDTH), False, True, name="gate"))
    up = op.matmul(y, i4_in_groups(rng, INNER, WIDTH), False, True, name="up")
    x = op.add(
        x, op.matmul(op.multiply(gate, up), nf4_by_row(rng, WIDTH, INNER), False, True, name="down")
    )
    y = op.matmul(
        norm(rng, x, "norm2"), halves(normal(rng, WIDTH, WIDTH)), False, True, name="dense"
    )
    x = op.gelu(op.add(y, halves(normal(rng, 1, 1, WIDTH, scale=0.1))), "TANH", name="gelu")
    logits = op.matmul(x, u4_in_groups(rng, VOCABULARY, WIDTH), False, True, name="lm_head")
    return ov.Model([result(logits, "logits")], [input_ids], "compressed")


def main() -> None:
    write(build)


if __name__ == "__main__":
    main()
