"""Two layers that need different sizes of one dynamic dimension: a finding that names both.

Each fits the dynamic shape that reaches it, so that inference of intervals finds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openvino
import pytest

import irshape
from irshape import Graph, op
from irshape.formats.ir.writer import write


def data(graph: Graph, *sizes: int, element_type: str = "f32") -> Any:
    """An input of these sizes: its values are not known."""
    return graph.parameter(element_type, f"[{','.join('?' if s < 0 else str(s) for s in sizes)}]")


Build = Callable[[Graph, Any, int], Any]
"""A layer that needs an axis of a tensor, the second argument, to have a size, the third."""


class Row(NamedTuple):
    name: str
    shape: str
    build: Build
    element_type: str = "f32"


def convolution(graph: Graph, x: Any, n: int) -> Any:
    return op.convolution(
        x,
        data(graph, 2, n, 1, 1),
        strides=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
        dilations=[1, 1],
    )


def group_convolution(graph: Graph, x: Any, n: int) -> Any:
    return op.group_convolution(
        x,
        data(graph, 2, 3, n // 2, 1, 1),
        strides=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
        dilations=[1, 1],
    )


def backprop(graph: Graph, x: Any, n: int) -> Any:
    return op.convolution_backprop_data(
        x,
        data(graph, n, 2, 1, 1),
        strides=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
        dilations=[1, 1],
    )


def binary_convolution(graph: Graph, x: Any, n: int) -> Any:
    filters = data(graph, 2, n, 1, 1, element_type="u1")
    return op.binary_convolution(
        x,
        filters,
        strides=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
        dilations=[1, 1],
        mode="xnor-popcount",
        pad_value=0.0,
    )


def deformable(graph: Graph, x: Any, n: int) -> Any:
    return op.deformable_convolution(
        x,
        data(graph, 1, 2, 5, 5),
        data(graph, 2, n, 1, 1),
        strides=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
        dilations=[1, 1],
        group=1,
        deformable_group=1,
    )


def lstm(graph: Graph, x: Any, n: int) -> Any:
    return op.lstm_sequence(
        x,
        data(graph, n, 1, 5),
        data(graph, n, 1, 5),
        data(graph, n, element_type="i64"),
        data(graph, 1, 20, 3),
        data(graph, 1, 20, 5),
        data(graph, 1, 20),
        hidden_size=5,
        direction="forward",
    )[0]


def gru(graph: Graph, x: Any, n: int) -> Any:
    return op.gru_sequence(
        x,
        data(graph, n, 1, 5),
        data(graph, n, element_type="i64"),
        data(graph, 1, 15, 3),
        data(graph, 1, 15, 5),
        data(graph, 1, 15),
        hidden_size=5,
        direction="forward",
    )[0]


def rnn(graph: Graph, x: Any, n: int) -> Any:
    return op.rnn_sequence(
        x,
        data(graph, n, 1, 5),
        data(graph, n, element_type="i64"),
        data(graph, 1, 5, 3),
        data(graph, 1, 5, 5),
        data(graph, 1, 5),
        hidden_size=5,
        direction="forward",
    )[0]


def lstm_cell(graph: Graph, x: Any, n: int) -> Any:
    return op.lstm_cell(
        x,
        data(graph, n, 5),
        data(graph, n, 5),
        data(graph, 20, 3),
        data(graph, 20, 5),
        data(graph, 20),
        hidden_size=5,
    )[0]


def gru_cell(graph: Graph, x: Any, n: int) -> Any:
    return op.gru_cell(
        x, data(graph, n, 5), data(graph, 15, 3), data(graph, 15, 5), data(graph, 15), hidden_size=5
    )


def keys(graph: Graph, x: Any, n: int) -> Any:
    return op.scaled_dot_product_attention(data(graph, 2, 6, 8), x, data(graph, 2, n, 8))


def in_a_loop(graph: Graph, x: Any, n: int) -> Any:
    return op.loop(
        3, True, x, body=lambda a: op.concat([a, np.ones((n, 3), np.float32)], axis=1)[:, :3]
    )


def in_slices(graph: Graph, x: Any, n: int) -> Any:
    parts = data(graph, n, 4)
    return op.tensor_iterator(
        op.sliced(parts, axis=0),
        op.sliced(x, axis=0),
        body=lambda a, b: op.stacked(op.concat([a, b], axis=1), axis=0),
    )


ROWS = [
    Row("Concat", "[?,3]", lambda g, x, n: op.concat([x, data(g, n, 3)], axis=1)),
    Row("MatMul", "[2,?]", lambda g, x, n: op.mat_mul(x, data(g, n, 5))),
    Row(
        "MatMul transposed", "[?,2]", lambda g, x, n: op.mat_mul(x, data(g, n, 5), transpose_a=True)
    ),
    Row("MatMul right", "[2,?]", lambda g, x, n: op.mat_mul(data(g, 5, n), x, transpose_b=True)),
    Row("MatMul batch", "[2..,3,3]", lambda g, x, n: op.mat_mul(data(g, n, 3, 3), x)),
    Row("Add", "[2..,3]", lambda g, x, n: op.add(x, data(g, n, 3))),
    Row("Less", "[2..,3]", lambda g, x, n: op.less(data(g, n, 3), x)),
    Row(
        "Add without broadcasting",
        "[?,3]",
        lambda g, x, n: op.add(x, data(g, n, 3), auto_broadcast="none"),
    ),
    Row("Add pdpd", "[2..,3]", lambda g, x, n: op.add(data(g, n, 3), x, auto_broadcast="pdpd")),
    Row(
        "FakeQuantize",
        "[2..,3]",
        lambda g, x, n: op.fake_quantize(
            x, data(g, n, 1), data(g, n, 1), data(g, n, 1), data(g, n, 1), levels=256
        ),
    ),
    Row(
        "Select",
        "[2..,3]",
        lambda g, x, n: op.select(data(g, n, 3, element_type="boolean"), x, data(g, n, 3)),
    ),
    Row("SquaredDifference", "[2..,3]", lambda g, x, n: op.squared_difference(x, data(g, n, 3))),
    Row("Convolution", "[1,?,5,5]", convolution),
    Row("GroupConvolution", "[1,?,5,5]", group_convolution),
    Row("ConvolutionBackpropData", "[1,?,5,5]", backprop),
    Row("BinaryConvolution", "[1,?,5,5]", binary_convolution),
    Row("DeformableConvolution", "[1,?,5,5]", deformable),
    Row("Einsum", "[2..,3]", lambda g, x, n: op.einsum([x, data(g, n, 2)], equation="ab,ac->bc")),
    Row("LSTMSequence", "[?,7,3]", lstm),
    Row("GRUSequence", "[?,7,3]", gru),
    Row("RNNSequence", "[?,7,3]", rnn),
    Row("LSTMCell", "[?,3]", lstm_cell),
    Row("GRUCell", "[?,3]", gru_cell),
    Row(
        "ScaledDotProductAttention values",
        "[2,?,8]",
        lambda g, x, n: op.scaled_dot_product_attention(data(g, 2, 6, 8), data(g, 2, n, 8), x),
    ),
    Row("ScaledDotProductAttention keys", "[2,?,8]", keys),
    Row(
        "GroupNormalization",
        "[1,?,5]",
        lambda g, x, n: op.group_normalization(
            x, data(g, n), data(g, n), num_groups=2, epsilon=1e-5
        ),
    ),
    Row(
        "BatchNormInference",
        "[1,?,5]",
        lambda g, x, n: op.batch_norm_inference(
            x, data(g, n), data(g, n), data(g, n), data(g, n), epsilon=1e-5
        ),
    ),
    Row(
        "ScatterElementsUpdate",
        "[?,3]",
        lambda g, x, n: op.scatter_elements_update(
            data(g, 9, 3), data(g, n, 3, element_type="i64"), x, 0
        ),
    ),
    Row(
        "ScatterUpdate",
        "[?,3]",
        lambda g, x, n: op.scatter_update(data(g, 9, 3), data(g, n, element_type="i64"), x, 0),
    ),
    Row(
        "ScatterUpdate data",
        "[9,?]",
        lambda g, x, n: op.scatter_update(x, data(g, 2, element_type="i64"), data(g, 2, n), 0),
    ),
    Row(
        "ScatterNDUpdate",
        "[?,3]",
        lambda g, x, n: op.scatter_nd_update(data(g, 9, 3), data(g, n, 1, element_type="i64"), x),
    ),
    Row(
        "Gather batch",
        "[?,3]",
        lambda g, x, n: op.gather(x, data(g, n, 2, element_type="i64"), 1, batch_dims=1),
    ),
    Row(
        "GatherND",
        "[?,3]",
        lambda g, x, n: op.gather_nd(x, data(g, n, 1, element_type="i64"), batch_dims=1),
    ),
    Row(
        "GatherElements",
        "[?,3]",
        lambda g, x, n: op.gather_elements(x, data(g, n, 2, element_type="i64"), axis=1),
    ),
    Row(
        "ReverseSequence",
        "[?,3]",
        lambda g, x, n: op.reverse_sequence(
            x, data(g, n, element_type="i64"), batch_axis=0, seq_axis=1
        ),
    ),
    Row("Broadcast", "[2..,3]", lambda g, x, n: op.broadcast(x, [n, 3])),
    Row("Reshape", "[?,3]", lambda g, x, n: op.reshape(x, [n * 3], special_zero=False)),
    Row("VariadicSplit", "[?,3]", lambda g, x, n: op.variadic_split(x, 0, [1, n - 1])[0]),
    Row("Squeeze", "[2,?]", lambda g, x, n: op.concat([x, data(g, 3, n)], axis=0)),
    Row(
        "CTCLoss",
        "[?,7,5]",
        lambda g, x, n: op.ctc_loss(
            x,
            data(g, n, element_type="i32"),
            data(g, n, 7, element_type="i32"),
            data(g, n, element_type="i32"),
        ),
    ),
    Row(
        "CTCGreedyDecoderSeqLen",
        "[?,7,5]",
        lambda g, x, n: op.ctc_greedy_decoder_seq_len(x, data(g, n, element_type="i32"))[0],
    ),
    Row(
        "NormalizeL2",
        "[?,3]",
        lambda g, x, n: op.concat(
            [op.normalize_l2(x, [1], eps=1e-5, eps_mode="add"), data(g, n, 3)], axis=1
        ),
    ),
    Row(
        "EmbeddingBagPackedSum",
        "[?,2]",
        lambda g, x, n: op.embedding_bag_packed_sum(data(g, 9, 4), x, data(g, n, 2)),
        "i64",
    ),
    Row(
        "EmbeddingSegmentsSum",
        "[?]",
        lambda g, x, n: op.embedding_segments_sum(
            data(g, 9, 4), x, data(g, n, element_type="i64"), 3
        ),
        "i64",
    ),
    Row(
        "ROIAlign",
        "[?,4]",
        lambda g, x, n: op.roi_align(
            data(g, 1, 3, 9, 9),
            x,
            data(g, n, element_type="i64"),
            pooled_h=2,
            pooled_w=2,
            sampling_ratio=0,
            spatial_scale=1.0,
            mode="avg",
        ),
    ),
    Row(
        "NonMaxSuppression",
        "[1,?,4]",
        lambda g, x, n: op.non_max_suppression(x, data(g, 1, 2, n))[0],
    ),
    Row("MatrixNms", "[1,?,4]", lambda g, x, n: op.matrix_nms(x, data(g, 1, 2, n))[0]),
    Row("MulticlassNms", "[1,?,4]", lambda g, x, n: op.multiclass_nms(x, data(g, 1, 2, n))[0]),
    Row("SearchSorted", "[?,3]", lambda g, x, n: op.search_sorted(x, data(g, n, 2))),
    Row(
        "SegmentMax",
        "[?,3]",
        lambda g, x, n: op.segment_max(x, data(g, n, element_type="i64"), fill_mode="ZERO"),
    ),
    Row("GridSample", "[?,3,5,5]", lambda g, x, n: op.grid_sample(x, data(g, n, 2, 2, 2))),
    Row(
        "GatherTree",
        "[7,?,3]",
        lambda g, x, n: op.gather_tree(x, data(g, 7, n, 3), data(g, n), data(g)),
    ),
    Row(
        "Roll",
        "[?]",
        lambda g, x, n: op.roll(data(g, 3, 3, 3), x, data(g, n, element_type="i64")),
        "i64",
    ),
    Row("Inverse", "[?,3]", lambda g, x, n: op.reshape(x, [n, 3], special_zero=False)),
    Row(
        "OneHot",
        "[?]",
        lambda g, x, n: op.concat([op.one_hot(x, 5, 1.0, 0.0, axis=-1), data(g, n, 2)], axis=1),
        "i64",
    ),
    Row(
        "AdaptiveAvgPool",
        "[?,3,5]",
        lambda g, x, n: op.concat([op.adaptive_avg_pool(x, [2]), data(g, n, 3, 2)], axis=1),
    ),
    Row(
        "Pad",
        "[?,3]",
        lambda g, x, n: op.concat(
            [op.pad(x, [0, 1], [0, 1], 0.0, pad_mode="constant"), data(g, n, 5)], axis=1
        ),
    ),
    Row("Loop", "[?,3]", in_a_loop),
    Row("TensorIterator", "[?,4]", in_slices),
    Row("ColorConvert", "[1,?,4,1]", lambda g, x, n: op.nv12_to_rgb(x, data(g, 1, n // 2, 2, 2))),
    Row("DFT", "[?,3,2]", lambda g, x, n: op.concat([op.dft(x, [1]), data(g, n, 3, 2)], axis=1)),
    Row(
        "two apart",
        "[?,3]",
        lambda g, x, n: op.concat(
            [op.concat([x, data(g, 2, 3)], axis=0), data(g, n + 2, 1)], axis=1
        ),
    ),
    Row(
        "transposed",
        "[?,3]",
        lambda g, x, n: op.concat([op.transpose(x, [1, 0]), data(g, 1, n)], axis=0),
    ),
]


def written(
    folder: Path, shape: str, element_type: str, *builds: Callable[[Graph, Any], Any]
) -> Path:
    graph = Graph(name="contrary")
    x = graph.parameter(element_type, shape, name="x")
    for index, build in enumerate(builds):
        graph.result(build(graph, x), f"y{index}")
    path = folder / "model.xml"
    write(graph.model(), path)  # `save` refuses contrary sizes
    return path


def model(row: Row, numbers: tuple[int, ...], folder: Path) -> Path:
    builds = [partial(lambda number, g, x: row.build(g, x, number), number) for number in numbers]
    return written(folder, row.shape, row.element_type, *builds)


def errors(path: Path) -> list[str]:
    """The errors, each with its layer; lines of other layers are left out."""
    return [
        f"{each.layer['name'] if each.layer else ''}: " + re.sub(r" \(line \d+\)", "", each.message)
        for each in irshape.validate(path).diagnostics
        if each.severity == "error"
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_layers_that_need_contrary_sizes(row: Row, tmp_path: Path) -> None:
    (error,) = errors(model(row, (4, 8), tmp_path))
    assert re.search(r"; it needs .* == .*, but \w+ '.*' needs .*x_\d.* == ", error)
    for numbers in ((4, 4), (8, 8)):
        assert not errors(model(row, numbers, tmp_path))


WHEN_IT_RUNS = {"Reshape", "TensorIterator"}
"""Rows of which OpenVINO reshapes the model and refuses to run it."""


def try_size(row: Row, path: Path, size: int) -> None:
    """Raises `RuntimeError` unless OpenVINO takes that size of the input that is dynamic."""
    core = openvino.Core()
    network = core.read_model(path)
    shapes = [
        [dim.get_length() if dim.is_static else size for dim in port.get_partial_shape()]
        for port in network.inputs
    ]
    if row.name in WHEN_IT_RUNS:
        compiled = core.compile_model(network, "CPU")
        compiled([np.ones(shape, np.float32) for shape in shapes])
    else:
        network.reshape(dict(zip(network.inputs, map(openvino.PartialShape, shapes), strict=True)))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_openvino_takes_no_size(row: Row, tmp_path: Path) -> None:
    """Each of the layers takes a size of its own; together they take none."""
    try_size(row, model(row, (4, 4), tmp_path), 4)
    path = model(row, (4, 8), tmp_path)
    for size in (2, 4, 8) if ".." in row.shape else (1, 2, 4, 8):
        with pytest.raises(RuntimeError):
            try_size(row, path, size)


class Pair(NamedTuple):
    name: str
    shape: str
    first: Callable[[Graph, Any], Any]
    second: Callable[[Graph, Any], Any]
    error: str | None
    """The end of the message, after the layer that it is about; None where both can be met."""


def rows(number: int) -> Callable[[Graph, Any], Any]:
    return lambda g, x: op.concat([x, data(g, number, 3)], axis=1, name=f"rows{number}")


def times(number: int) -> Callable[[Graph, Any], Any]:
    return lambda g, x: op.multiply(x, data(g, number, 3), name=f"times{number}")


def plus(number: int) -> Callable[[Graph, Any], Any]:
    return lambda g, x: op.add(x, data(g, number, 3), name=f"plus{number}")


def parts(number: int) -> Callable[[Graph, Any], Any]:
    return lambda g, x: op.split(x, 0, num_splits=number, name=f"parts{number}")[0]


def window(number: int) -> Callable[[Graph, Any], Any]:
    return lambda g, x: op.max_pool(
        op.unsqueeze(x, [0, 1]),
        kernel=[number, 1],
        strides=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
        dilations=[1, 1],
        name=f"window{number}",
    )[0]


def longer(g: Graph, x: Any) -> Any:
    return op.concat([op.concat([x, data(g, 2, 3)], axis=0), data(g, 6, 1)], axis=1, name="longer")


def halves_of_four(g: Graph, x: Any) -> Any:
    g.result(parts(2)(g, x), "halves")
    return rows(4)(g, x)


def variable(g: Graph, x: Any) -> Any:
    attributes = {"variable_shape": "?,3", "variable_type": "f32"}
    content = g.add("ReadValue", x, variable_id="v", **attributes)
    g.result(rows(4)(g, content), "four")
    return rows(8)(g, content)


def nothing(g: Graph, x: Any) -> Any:
    return x


def inside(number: int) -> Callable[[Graph, Any], Any]:
    def build(g: Graph, x: Any) -> Any:
        condition = g.parameter("boolean", "[]")
        return op.if_(
            condition,
            x,
            then_body=lambda a: rows(number)(g, a),
            else_body=lambda a: op.tile(a, [1, 2]),
        )

    return build


PAIRS = [
    Pair(
        "equal and equal",
        "[?,3]",
        rows(4),
        rows(8),
        "rows8: it needs x_0 == 8, but Concat 'rows4' needs x_0 == 4",
    ),
    Pair(
        "a multiple that excludes neither",
        "[?,3]",
        halves_of_four,
        rows(8),
        "rows8: it needs x_0 == 8, but Concat 'rows4' needs x_0 == 4",
    ),
    Pair(
        "equal and a multiple",
        "[?,3]",
        rows(4),
        parts(3),
        "parts3: it needs (x_0%3) == 0, but Concat 'rows4' needs x_0 == 4",
    ),
    Pair(
        "a multiple and equal",
        "[?,3]",
        parts(3),
        rows(4),
        "rows4: it needs x_0 == 4, but Split 'parts3' needs (x_0%3) == 0",
    ),
    Pair("equal and a multiple that it is", "[?,3]", rows(6), parts(3), None),
    Pair(
        "equal and a window",
        "[?,3]",
        rows(4),
        window(7),
        "window7: it needs x_0 >= 7, but Concat 'rows4' needs x_0 == 4",
    ),
    Pair(
        "a window and equal",
        "[?,3]",
        window(7),
        rows(4),
        "rows4: it needs x_0 == 4, but MaxPool 'window7' needs x_0 >= 7",
    ),
    Pair("a window that fits", "[?,3]", window(7), rows(7), None),
    Pair(
        "equal and broadcast",
        "[?,3]",
        rows(4),
        times(8),
        "times8: it needs x_0 == 1 or 8, but Concat 'rows4' needs x_0 == 4",
    ),
    Pair(
        "broadcast and equal",
        "[?,3]",
        times(8),
        rows(4),
        "rows4: it needs x_0 == 4, but Multiply 'times8' needs x_0 == 1 or 8",
    ),
    Pair("broadcast and 1", "[?,3]", times(8), rows(1), None),
    Pair("broadcast to two sizes", "[?,3]", times(4), times(8), None),
    Pair(
        "broadcast to two sizes, never 1",
        "[2..,3]",
        times(4),
        times(8),
        "times8: it needs x_0 == 8, but Multiply 'times4' needs x_0 == 4",
    ),
    Pair("broadcast to one size", "[?,3]", times(4), plus(4), None),
    Pair(
        "equal, two more",
        "[?,3]",
        rows(5),
        longer,
        "longer: it needs x_0+2 == 6, but Concat 'rows5' needs x_0 == 5",
    ),
    Pair("equal, two more that fit", "[?,3]", rows(4), longer, None),
    Pair(
        "of a variable",
        "[?,3]",
        variable,
        nothing,
        "rows8: it needs v_0 == 8, but Concat 'rows4' needs v_0 == 4",
    ),
    Pair(
        "an open branch",
        "[?,3]",
        inside(8),
        rows(4),
        "rows8: it needs x_0 == 8, but Concat 'rows4' needs x_0 == 4",
    ),
    Pair("an open branch that fits", "[?,3]", rows(4), inside(4), None),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_two_demands(pair: Pair, tmp_path: Path) -> None:
    seen = errors(written(tmp_path, pair.shape, "f32", pair.first, pair.second))
    if pair.error is None:
        assert not seen
    else:
        (error,) = seen
        layer, _, message = error.partition(": ")
        assert f"{layer}: {message.rpartition('; ')[2]}" == pair.error
