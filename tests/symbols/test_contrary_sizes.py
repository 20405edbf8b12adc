"""Two layers that need different sizes of one dynamic dimension: a finding that names both.

Each fits the dynamic shape that reaches it, so that inference of intervals finds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np
import openvino
import pytest
from ir import grown

import irshape
from irshape import Graph, op
from irshape.formats.ir.writer import write


def data(graph: Graph, *sizes: int, element_type: str = "f32") -> Any:
    """An input of these sizes: its values are not known."""
    return graph.parameter(element_type, f"[{','.join('?' if s < 0 else str(s) for s in sizes)}]")


def in_a_loop(graph: Graph, x: Any, n: int) -> Any:
    rows = np.ones((n, 3), np.float32)
    return op.loop(3, True, x, body=lambda a: op.concat([a, rows], axis=1)[:, :3])


def in_slices(graph: Graph, x: Any, n: int) -> Any:
    parts = data(graph, n, 4)
    return op.tensor_iterator(
        op.sliced(parts, axis=0),
        op.sliced(x, axis=0),
        body=lambda a, b: op.stacked(op.concat([a, b], axis=1), axis=0),
    )


BODIES = {"LOOP": in_a_loop, "SLICES": in_slices}
WINDOW = "strides=1,1 pads_begin=0,0 pads_end=0,0 dilations=1,1"
CELL = "hidden_size=5 direction=forward"
TEXT = """
Concat [?,3]: Concat(axis=1 @ f32[N,3])
MatMul [2,?]: MatMul(@ f32[N,5])
MatMul transposed [?,2]: MatMul(transpose_a=true @ f32[N,5])
MatMul right [2,?]: MatMul(transpose_b=true f32[5,N] @)
MatMul batch [2..,3,3]: MatMul(f32[N,3,3] @)
Add [2..,3]: Add(@ f32[N,3])
Less [2..,3]: Less(f32[N,3] @)
Add without broadcasting [?,3]: Add(auto_broadcast=none @ f32[N,3])
Add pdpd [2..,3]: Add(auto_broadcast=pdpd f32[N,3] @)
FakeQuantize [2..,3]: FakeQuantize(levels=256 @ f32[N,1] f32[N,1] f32[N,1] f32[N,1])
Select [2..,3]: Select(boolean[N,3] @ f32[N,3])
SquaredDifference [2..,3]: SquaredDifference(@ f32[N,3])
Convolution [1,?,5,5]: Convolution($WINDOW @ f32[2,N,1,1])
GroupConvolution [1,?,5,5]: GroupConvolution($WINDOW @ f32[2,3,N//2,1,1])
ConvolutionBackpropData [1,?,5,5]: ConvolutionBackpropData($WINDOW @ f32[N,2,1,1])
BinaryConvolution [1,?,5,5]:
    BinaryConvolution($WINDOW mode=xnor-popcount pad_value=0.0 @ u1[2,N,1,1])
DeformableConvolution [1,?,5,5]:
    DeformableConvolution($WINDOW group=1 deformable_group=1 @ f32[1,2,5,5] f32[2,N,1,1])
Einsum [2..,3]: Einsum(equation=ab,ac->bc @ f32[N,2])
LSTMSequence [?,7,3]:
    LSTMSequence($CELL @ f32[N,1,5] f32[N,1,5] i64[N] f32[1,20,3] f32[1,20,5] f32[1,20])
GRUSequence [?,7,3]: GRUSequence($CELL @ f32[N,1,5] i64[N] f32[1,15,3] f32[1,15,5] f32[1,15])
RNNSequence [?,7,3]: RNNSequence($CELL @ f32[N,1,5] i64[N] f32[1,5,3] f32[1,5,5] f32[1,5])
LSTMCell [?,3]: LSTMCell(hidden_size=5 @ f32[N,5] f32[N,5] f32[20,3] f32[20,5] f32[20])
GRUCell [?,3]: GRUCell(hidden_size=5 @ f32[N,5] f32[15,3] f32[15,5] f32[15])
ScaledDotProductAttention values [2,?,8]: ScaledDotProductAttention(f32[2,6,8] f32[2,N,8] @)
ScaledDotProductAttention keys [2,?,8]: ScaledDotProductAttention(f32[2,6,8] @ f32[2,N,8])
GroupNormalization [1,?,5]: GroupNormalization(num_groups=2 epsilon=1e-5 @ f32[N] f32[N])
BatchNormInference [1,?,5]: BatchNormInference(epsilon=1e-5 @ f32[N] f32[N] f32[N] f32[N])
ScatterElementsUpdate [?,3]: ScatterElementsUpdate(f32[9,3] i64[N,3] @ i64{0})
ScatterUpdate [?,3]: ScatterUpdate(f32[9,3] i64[N] @ i64{0})
ScatterUpdate data [9,?]: ScatterUpdate(@ i64[2] f32[2,N] i64{0})
ScatterNDUpdate [?,3]: ScatterNDUpdate(f32[9,3] i64[N,1] @)
Gather batch [?,3]: Gather(batch_dims=1 @ i64[N,2] i64{1})
GatherND [?,3]: GatherND(batch_dims=1 @ i64[N,1])
GatherElements [?,3]: GatherElements(axis=1 @ i64[N,2])
ReverseSequence [?,3]: ReverseSequence(batch_axis=0 seq_axis=1 @ i64[N])
Broadcast [2..,3]: Broadcast(@ i64{[N, 3]})
Reshape [?,3]: Reshape(special_zero=false @ i64{[N*3]})
VariadicSplit [?,3]: VariadicSplit(@ i64{0} i64{[1, N-1]})
Concat of columns [2,?]: Concat(axis=0 @ f32[3,N])
CTCLoss [?,7,5]: CTCLoss(@ i32[N] i32[N,7] i32[N])
CTCGreedyDecoderSeqLen [?,7,5]: CTCGreedyDecoderSeqLen(@ i32[N])
NormalizeL2 [?,3]: Concat(axis=1 NormalizeL2(eps=1e-5 eps_mode=add @ i64{[1]}) f32[N,3])
EmbeddingBagPackedSum i64[?,2]: EmbeddingBagPackedSum(f32[9,4] @ f32[N,2])
EmbeddingSegmentsSum i64[?]: EmbeddingSegmentsSum(f32[9,4] @ i64[N] i64{3})
ROIAlign [?,4]:
    ROIAlign(pooled_h=2 pooled_w=2 sampling_ratio=0 spatial_scale=1.0 mode=avg
        f32[1,3,9,9] @ i64[N])
NonMaxSuppression [1,?,4]: NonMaxSuppression(@ f32[1,2,N])
MatrixNms [1,?,4]: MatrixNms(@ f32[1,2,N])
MulticlassNms [1,?,4]: MulticlassNms(@ f32[1,2,N])
SearchSorted [?,3]: SearchSorted(@ f32[N,2])
SegmentMax [?,3]: SegmentMax(fill_mode=ZERO @ i64[N])
GridSample [?,3,5,5]: GridSample(@ f32[N,2,2,2])
GatherTree [7,?,3]: GatherTree(@ f32[7,N,3] f32[N] f32[])
Roll i64[?]: Roll(f32[3,3,3] @ i64[N])
Reshape to rows [?,3]: Reshape(special_zero=false @ i64{[N, 3]})
OneHot i64[?]: Concat(axis=1 OneHot(axis=-1 @ i64{5} f32{1.0} f32{0.0}) f32[N,2])
AdaptiveAvgPool [?,3,5]: Concat(axis=1 AdaptiveAvgPool(@ i64{[2]}) f32[N,3,2])
Pad [?,3]: Concat(axis=1 Pad(pad_mode=constant @ i64{[0, 1]} i64{[0, 1]} f32{0.0}) f32[N,5])
Loop [?,3]: LOOP
TensorIterator [?,4]: SLICES
ColorConvert [1,?,4,1]: NV12toRGB(@ f32[1,N//2,2,2])
DFT [?,3,2]: Concat(axis=1 DFT(@ i64{[1]}) f32[N,3,2])
two apart [?,3]: Concat(axis=1 Concat(axis=0 @ f32[2,3]) f32[N+2,1])
transposed [?,3]: Concat(axis=0 Transpose(@ i64{[1, 0]}) f32[1,N])
"""


class Row(NamedTuple):
    """An input of a dynamic size, and a layer that needs this size to be a number N."""

    name: str
    element_type: str
    shape: str
    layer: str

    def build(self, graph: Graph, x: Any, number: int) -> Any:
        if self.layer in BODIES:
            return BODIES[self.layer](graph, x, number)
        sizes = re.sub(
            r"\bN\b((//|[*+-])\d)?", lambda size: str(eval(size[0], {"N": number})), self.layer
        )
        return grown(graph, sizes, x)


def rows_of(text: str) -> Iterator[Row]:
    for each in re.split(r"\n(?=\S)", Template(text.strip()).substitute(CELL=CELL, WINDOW=WINDOW)):
        head, _, layer = each.partition(":")
        name, _, x = head.rpartition(" ")
        element_type, _, shape = x.partition("[")
        yield Row(name, element_type or "f32", f"[{shape}", layer.strip())


ROWS = list(rows_of(TEXT))


Layer = Callable[[Graph, Any], Any]
"""Builds a layer upon a tensor."""


def written(folder: Path, shape: str, element_type: str, *builds: Layer) -> Path:
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
    first: Layer
    second: Layer
    error: str = ""
    """The layer that is reported and its need, and the other; none where both can be met."""
    shape: str = "[?,3]"


def named(name: str, text: str) -> Layer:
    """A layer of a text in which N is the number at the end of the name."""
    number = name.lstrip("abcdefghijklmnopqrstuvwxyz")
    return lambda g, x: grown(g, text.replace("N", number), x, name=name)


def rows(number: int) -> Layer:
    return named(f"rows{number}", "Concat(axis=1 @ f32[N,3])")


def times(number: int) -> Layer:
    return named(f"times{number}", "Multiply(@ f32[N,3])")


def parts(number: int) -> Layer:
    return named(f"parts{number}", "Split(num_splits=N @ i64{0})")


WINDOW7 = named("window7", f"MaxPool(kernel=N,1 {WINDOW} Unsqueeze(@ i64{{[0, 1]}}))")
LONGER = named("longer", "Concat(axis=1 Concat(axis=0 @ f32[2,3]) f32[6,1])")


def halves_of_four(g: Graph, x: Any) -> Any:
    g.result(parts(2)(g, x), "halves")
    return rows(4)(g, x)


def variable(g: Graph, x: Any) -> Any:
    content = grown(g, "ReadValue(variable_id=v variable_shape=?,3 variable_type=f32 @)", x)
    g.result(rows(4)(g, content), "four")
    return rows(8)(g, content)


def inside(number: int) -> Layer:
    def build(g: Graph, x: Any) -> Any:
        condition, name = g.parameter("boolean", "[]"), f"rows{number}"
        return op.if_(
            condition,
            x,
            then_body=lambda a: op.concat([a, data(g, number, 3)], axis=1, name=name),
            else_body=lambda a: op.tile(a, [1, 2]),
        )

    return build


PAIRS = [
    Pair("equal and equal", rows(4), rows(8), "rows8 x_0 == 8, rows4 x_0 == 4"),
    Pair("an excluded multiple", halves_of_four, rows(8), "rows8 x_0 == 8, rows4 x_0 == 4"),
    Pair("equal and a multiple", rows(4), parts(3), "parts3 (x_0%3) == 0, rows4 x_0 == 4"),
    Pair("a multiple and equal", parts(3), rows(4), "rows4 x_0 == 4, parts3 (x_0%3) == 0"),
    Pair("equal and a multiple that it is", rows(6), parts(3)),
    Pair("equal and a window", rows(4), WINDOW7, "window7 x_0 >= 7, rows4 x_0 == 4"),
    Pair("a window and equal", WINDOW7, rows(4), "rows4 x_0 == 4, window7 x_0 >= 7"),
    Pair("a window that fits", WINDOW7, rows(7)),
    Pair("equal and broadcast", rows(4), times(8), "times8 x_0 == 1 or 8, rows4 x_0 == 4"),
    Pair("broadcast and equal", times(8), rows(4), "rows4 x_0 == 4, times8 x_0 == 1 or 8"),
    Pair("broadcast and 1", times(8), rows(1)),
    Pair("broadcast to two sizes", times(4), times(8)),
    Pair(
        "to two sizes, never 1", times(4), times(8), "times8 x_0 == 8, times4 x_0 == 4", "[2..,3]"
    ),
    Pair("broadcast to one size", times(4), named("plus4", "Add(@ f32[N,3])")),
    Pair("equal, two more", rows(5), LONGER, "longer x_0+2 == 6, rows5 x_0 == 5"),
    Pair("equal, two more that fit", rows(4), LONGER),
    Pair("of a variable", variable, lambda g, x: x, "rows8 v_0 == 8, rows4 v_0 == 4"),
    Pair("an open branch", inside(8), rows(4), "rows8 x_0 == 8, rows4 x_0 == 4"),
    Pair("an open branch that fits", rows(4), inside(4)),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_two_demands(pair: Pair, tmp_path: Path) -> None:
    needs = re.compile(r"(\w+): .*; it needs (.*), but \w+ '(\w+)' needs (.*)")
    seen = [
        needs.fullmatch(each)
        for each in errors(written(tmp_path, pair.shape, "f32", pair.first, pair.second))
    ]
    assert [each and "{} {}, {} {}".format(*each.groups()) for each in seen] == [pair.error] * bool(
        pair.error
    )
