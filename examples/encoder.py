"""A text encoder of two blocks with dynamic batch and length, each in another converter's style.

Block 1 has its normalisation as MVN, its activation as Gelu, and computes the shapes for its heads
from ShapeOf. Block 2 has the normalisation spelt out from ReduceMean, the activation from Erf, and
reshapes with zeros and a -1.
"""

from math import sqrt

import numpy as np
import openvino as ov
from common import dense, dimension, floats, ints, normal, result, write
from openvino import opset13 as op

VOCABULARY, POSITIONS, WIDTH, HEADS, INNER = 96, 128, 32, 4, 64
HEAD = WIDTH // HEADS
LOWEST = float(np.finfo(np.float32).min)


def norm_mvn(rng: np.random.Generator, x: ov.Node, name: str) -> ov.Node:
    y = op.mvn(x, ints([-1]), True, 1e-5, "inside_sqrt", name=name)
    return scale_and_shift(rng, y)


def norm_reduce_mean(rng: np.random.Generator, x: ov.Node, name: str) -> ov.Node:
    centred = op.subtract(x, op.reduce_mean(x, ints([-1]), True, name=f"{name}/mean"))
    variance = op.reduce_mean(
        op.power(centred, floats(2.0)), ints(-1), True, name=f"{name}/variance"
    )
    return scale_and_shift(
        rng, op.divide(centred, op.sqrt(op.add(variance, floats(1e-5))), name=name)
    )


def scale_and_shift(rng: np.random.Generator, x: ov.Node) -> ov.Node:
    gamma = floats(1.0 + normal(rng, 1, 1, WIDTH, scale=0.1))
    return op.add(op.multiply(x, gamma), floats(normal(rng, 1, 1, WIDTH, scale=0.1)))


def gelu_erf(x: ov.Node) -> ov.Node:
    return op.multiply(
        op.multiply(x, op.add(op.erf(op.divide(x, floats(sqrt(2.0)))), floats(1.0))), floats(0.5)
    )


def heads_by_shape(x: ov.Node) -> ov.Node:
    """[batch, sequence, width] to [batch, heads, sequence, head]; computes the shape from `x`."""
    shape = op.concat([dimension(x, 0), dimension(x, 1), ints([HEADS]), ints([HEAD])], 0)
    return op.transpose(op.reshape(x, shape, False), ints([0, 2, 1, 3]))


def heads_by_zeros(x: ov.Node) -> ov.Node:
    return op.transpose(op.reshape(x, ints([0, 0, HEADS, -1]), True), ints([0, 2, 1, 3]))


def attention(
    rng: np.random.Generator, x: ov.Node, mask: ov.Node, by_shape: bool, name: str
) -> ov.Node:
    heads = heads_by_shape if by_shape else heads_by_zeros
    query, key, value = (
        heads(dense(rng, x, WIDTH, WIDTH, f"{name}/{part}")) for part in ("query", "key", "value")
    )
    scores = op.divide(
        op.matmul(query, key, False, True, name=f"{name}/scores"), floats(sqrt(HEAD))
    )
    weights = op.softmax(op.add(scores, mask), -1, name=f"{name}/softmax")
    context = op.transpose(
        op.matmul(weights, value, False, False, name=f"{name}/context"), ints([0, 2, 1, 3])
    )
    if by_shape:
        shape = op.concat([dimension(context, 0), dimension(context, 1), ints([WIDTH])], 0)
        context = op.reshape(context, shape, False)
    else:
        context = op.reshape(context, ints([0, 0, WIDTH]), True)
    return dense(rng, context, WIDTH, WIDTH, f"{name}/output")


def embeddings(rng: np.random.Generator, input_ids: ov.Node) -> ov.Node:
    word_table, position_table = (
        floats(normal(rng, rows, WIDTH, scale=0.5)) for rows in (VOCABULARY, POSITIONS)
    )
    words = op.gather(word_table, input_ids, ints(0), name="embeddings/words")
    length = op.squeeze(dimension(input_ids, 1), ints(0))
    places = op.unsqueeze(
        op.range(ints(0), length, ints(1), "i64"), ints(0), name="embeddings/position_ids"
    )
    positions = op.gather(position_table, places, ints(0), name="embeddings/positions")
    return norm_mvn(rng, op.add(words, positions), "embeddings/norm")


def additive_mask(attention_mask: ov.Node) -> ov.Node:
    """0 for tokens, the lowest number for padding: [batch, 1, 1, sequence]."""
    hidden = op.subtract(floats(1.0), op.convert(op.unsqueeze(attention_mask, ints([1, 2])), "f32"))
    return op.select(op.convert(hidden, "boolean"), floats(LOWEST), floats(0.0), name="mask")


def mean_over_tokens(hidden: ov.Node, attention_mask: ov.Node) -> ov.Node:
    mask = op.convert(op.unsqueeze(attention_mask, ints(-1)), "f32")
    mask = op.broadcast(mask, op.shape_of(hidden, "i32"), broadcast_spec="BIDIRECTIONAL")
    total = op.reduce_sum(op.multiply(hidden, mask), ints([1]), False)
    count = op.clamp(op.reduce_sum(mask, ints([1]), False), 1e-9, float(np.finfo(np.float32).max))
    return op.normalize_l2(op.divide(total, count), ints([1]), 1e-12, "max")


def build() -> ov.Model:
    rng = np.random.default_rng(2)
    input_ids = op.parameter(ov.PartialShape("1..8,?"), ov.Type.i64, name="input_ids")
    attention_mask = op.parameter(ov.PartialShape("?,?"), ov.Type.i64, name="attention_mask")
    mask = additive_mask(attention_mask)
    x = embeddings(rng, input_ids)

    x = norm_mvn(rng, op.add(attention(rng, x, mask, True, "block1/attention"), x), "block1/norm1")
    inner = op.gelu(dense(rng, x, WIDTH, INNER, "block1/inner"), "ERF", name="block1/gelu")
    x = norm_mvn(rng, op.add(dense(rng, inner, INNER, WIDTH, "block1/outer"), x), "block1/norm2")

    x = norm_reduce_mean(
        rng, op.add(attention(rng, x, mask, False, "block2/attention"), x), "block2/norm1"
    )
    inner = gelu_erf(dense(rng, x, WIDTH, INNER, "block2/inner"))
    x = norm_reduce_mean(
        rng, op.add(dense(rng, inner, INNER, WIDTH, "block2/outer"), x), "block2/norm2"
    )

    first = op.strided_slice(
        x, ints([0, 0]), ints([0, 1]), ints([1, 1]), [1, 0], [1, 0], [], [0, 1], []
    )
    turned = op.matmul(first, floats(normal(rng, WIDTH, WIDTH)), False, True)
    pooled = op.tanh(op.add(turned, floats(normal(rng, WIDTH, scale=0.1))), name="pooler")
    results = [
        result(x, "last_hidden_state"),
        result(pooled, "pooler_output"),
        result(mean_over_tokens(x, attention_mask), "sentence_embedding"),
    ]
    return ov.Model(results, [input_ids, attention_mask], "encoder")


def main() -> None:
    write(build)


if __name__ == "__main__":
    main()
