"""A causal language model of two blocks, with a key-value cache in states.

Each state is a variable [batch, heads, past, head]. Its initial value has a past of length 0, and
the batch of `input_ids`. `beam_idx` selects the rows to keep. `attention_mask` covers past and new
tokens. Block 1 has ScaledDotProductAttention, block 2 its decomposition. In both, two heads share
their keys and values (grouped queries).
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
import openvino as ov
from common import dimension, floats, ints, normal, result, write
from openvino import opset13 as op
from openvino.op.util import Variable, VariableInfo

VOCABULARY, WIDTH, HEADS, SHARED, HEAD, INNER = 80, 32, 4, 2, 8, 64
LOWEST = float(np.finfo(np.float32).min)


class Positions(NamedTuple):
    """The inputs of all blocks: rotations of tokens, mask, sizes, and the cache rows to keep."""

    cosine: ov.Node
    sine: ov.Node
    mask: ov.Node
    batch: ov.Node
    length: ov.Node
    rows: ov.Node


def linear(rng: np.random.Generator, x: ov.Node, inputs: int, outputs: int, name: str) -> ov.Node:
    return op.matmul(x, floats(normal(rng, outputs, inputs)), False, True, name=name)


def rms_norm(rng: np.random.Generator, x: ov.Node, name: str) -> ov.Node:
    mean = op.reduce_mean(op.power(x, floats(2.0)), ints([-1]), True, name=f"{name}/mean")
    unit = op.multiply(x, op.divide(floats(1.0), op.sqrt(op.add(mean, floats(1e-6)))))
    return op.multiply(unit, floats(1.0 + normal(rng, 1, 1, WIDTH, scale=0.1)), name=name)


def split_heads(x: ov.Node, heads: int) -> ov.Node:
    return op.transpose(op.reshape(x, ints([0, 0, heads, HEAD]), True), ints([0, 2, 1, 3]))


def rotate(x: ov.Node, at: Positions) -> ov.Node:
    """Rotary position embedding: rotates the halves of a head by an angle for each position."""
    half = HEAD // 2
    left = op.slice(x, ints([0]), ints([half]), ints([1]), ints([3]))
    right = op.slice(x, ints([half]), ints([np.iinfo(np.int64).max]), ints([1]), ints([3]))
    turned = op.concat([op.multiply(right, floats(-1.0)), left], -1)
    return op.add(op.multiply(x, at.cosine), op.multiply(turned, at.sine))


def share(x: ov.Node) -> ov.Node:
    """Repeats key or value heads for each group of query heads: [batch,2,n,8] to [batch,4,n,8]."""
    copies = op.broadcast(
        op.unsqueeze(x, ints(2)),
        ints([1, 1, HEADS // SHARED, 1, 1]),
        broadcast_spec="BIDIRECTIONAL",
    )
    return op.reshape(copies, ints([0, HEADS, -1, HEAD]), True)


def cached(x: ov.Node, at: Positions, name: str) -> tuple[ov.Node, ov.Node]:
    """Appends `x` to the variable `name`. Returns the new value, and the Assign that stores it."""
    info = VariableInfo()
    info.variable_id, info.data_type, info.data_shape = (
        name,
        ov.Type.f32,
        ov.PartialShape([-1, SHARED, -1, HEAD]),
    )
    variable = Variable(info)
    nothing = op.broadcast(
        floats(0.0), op.concat([at.batch, ints([SHARED]), ints([0]), ints([HEAD])], 0)
    )
    past = op.gather(
        op.read_value(nothing, variable, name=f"{name}/read"), at.rows, ints(0), name=f"{name}/past"
    )
    whole = op.concat([past, x], 2, name=f"{name}/present")
    assign = op.assign(whole, variable)
    assign.friendly_name = f"{name}/assign"
    return whole, assign


def attention(
    rng: np.random.Generator, x: ov.Node, at: Positions, fused: bool, name: str
) -> tuple[ov.Node, list[ov.Node]]:
    query = rotate(split_heads(linear(rng, x, WIDTH, HEADS * HEAD, f"{name}/query"), HEADS), at)
    new_key = rotate(split_heads(linear(rng, x, WIDTH, SHARED * HEAD, f"{name}/key"), SHARED), at)
    new_value = split_heads(linear(rng, x, WIDTH, SHARED * HEAD, f"{name}/value"), SHARED)
    key, assign_key = cached(new_key, at, f"{name}/cache.key")
    value, assign_value = cached(new_value, at, f"{name}/cache.value")
    key, value = share(key), share(value)
    if fused:
        context = op.scaled_dot_product_attention(query, key, value, at.mask, name=f"{name}/sdpa")
    else:
        scores = op.multiply(
            op.matmul(query, key, False, True, name=f"{name}/scores"), floats(1 / sqrt(HEAD))
        )
        weights = op.softmax(op.add(scores, at.mask), -1, name=f"{name}/softmax")
        context = op.matmul(weights, value, False, False, name=f"{name}/context")
    context = op.reshape(op.transpose(context, ints([0, 2, 1, 3])), ints([0, 0, -1]), True)
    return linear(rng, context, WIDTH, WIDTH, f"{name}/output"), [assign_key, assign_value]


def block(
    rng: np.random.Generator, x: ov.Node, at: Positions, fused: bool, name: str
) -> tuple[ov.Node, list[ov.Node]]:
    attended, assigns = attention(
        rng, rms_norm(rng, x, f"{name}/norm1"), at, fused, f"{name}/attention"
    )
    x = op.add(x, attended, name=f"{name}/residual1")
    y = rms_norm(rng, x, f"{name}/norm2")
    gate = op.swish(linear(rng, y, WIDTH, INNER, f"{name}/gate"))
    y = linear(
        rng,
        op.multiply(gate, linear(rng, y, WIDTH, INNER, f"{name}/up")),
        INNER,
        WIDTH,
        f"{name}/down",
    )
    return op.add(x, y, name=f"{name}/residual2"), assigns


def positions(input_ids: ov.Node, attention_mask: ov.Node, beam_idx: ov.Node) -> Positions:
    batch, length, total = (
        dimension(input_ids, 0),
        dimension(input_ids, 1),
        dimension(attention_mask, 1),
    )
    past = op.subtract(total, length)

    # The position of a token is the number of earlier tokens without padding. Only new tokens need
    # positions.
    counted = op.subtract(op.cum_sum(attention_mask, ints(1)), ints(1))
    all_ids = op.select(op.equal(attention_mask, ints(0)), ints(1), counted)
    position_ids = op.slice(all_ids, past, total, ints([1]), ints([1]), name="position_ids")
    frequencies = floats(np.reshape(100.0 ** (-np.arange(0, HEAD, 2) / HEAD), (1, 1, HEAD // 2)))
    angles = op.multiply(
        op.convert(op.unsqueeze(position_ids, ints(-1)), "f32"), frequencies, name="angles"
    )
    both = op.unsqueeze(op.concat([angles, angles], -1), ints(1))

    # A token attends to itself and earlier tokens, without padding: [batch, 1, length, total].
    columns = op.range(ints(0), op.squeeze(total, ints(0)), ints(1), "i64")
    rows = op.range(op.squeeze(past, ints(0)), op.squeeze(total, ints(0)), ints(1), "i64")
    causal = op.less_equal(columns, op.unsqueeze(rows, ints(1)))
    kept = op.convert(op.unsqueeze(attention_mask, ints([1, 2])), "boolean")
    mask = op.select(op.logical_and(kept, causal), floats(0.0), floats(LOWEST), name="mask")

    # Keeps beam_idx in the range of the rows.
    last_row = op.convert(op.subtract(batch, ints(1)), "i32")
    return Positions(
        op.cos(both), op.sin(both), mask, batch, length, op.minimum(beam_idx, last_row)
    )


def build() -> ov.Model:
    rng = np.random.default_rng(3)
    input_ids = op.parameter(ov.PartialShape("?,?"), ov.Type.i64, name="input_ids")
    attention_mask = op.parameter(ov.PartialShape("?,?"), ov.Type.i64, name="attention_mask")
    beam_idx = op.parameter(ov.PartialShape("?"), ov.Type.i32, name="beam_idx")
    at = positions(input_ids, attention_mask, beam_idx)
    table = floats(normal(rng, VOCABULARY, WIDTH, scale=1.0))
    x = op.gather(table, input_ids, ints(0), name="embeddings")
    x, first = block(rng, x, at, True, "block1")
    x, second = block(rng, x, at, False, "block2")
    logits = linear(rng, rms_norm(rng, x, "norm"), WIDTH, VOCABULARY, "lm_head")
    parameters = [input_ids, attention_mask, beam_idx]
    return ov.Model([result(logits, "logits")], first + second, parameters, "decoder")


def main() -> None:
    write(build)


if __name__ == "__main__":
    main()
