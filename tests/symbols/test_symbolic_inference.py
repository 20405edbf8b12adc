"""Named sizes through operations, values, bodies and whole models."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from differential.cases import Case, build
from differential.coverage import cases
from ir import Net

import irshape

from .soundness import tally

sys.path.insert(0, str(Path(__file__).parents[1] / "ops"))  # where `cases` looks for tables

EXAMPLES = Path(__file__).parents[2] / "examples"


def written(model: irshape.Model, layer: str, **options: object) -> list[str | None]:
    """The expressions of a layer's first output."""
    inference = irshape.infer(model, symbols=True, **options)  # type: ignore[arg-type]
    assert not [seen.subject for seen in inference.observations]
    known = inference.expressions(layer)[0]
    assert known is not None
    return [None if size is None else str(size) for size in known]


def window(net: Net, data: str, pool: str, **changed: str) -> str:
    attributes = {
        "strides": "2,2",
        "pads_begin": "0,0",
        "pads_end": "0,0",
        "kernel": "3,3",
        "rounding_type": "floor",
        "auto_pad": "explicit",
        "exclude-pad": "true",
    } | {name.replace("_pad_", "-pad"): text for name, text in changed.items()}
    text = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return net.layer(pool, [data], text, version="opset14")


def shape_of(net: Net, data: str, index: int) -> str:
    """An element of the shape of a tensor, as a list of one."""
    shape = net.layer("ShapeOf", [data], 'output_type="i64"', version="opset3", outputs=["I64"])
    inputs = [shape, net.constant([index]), net.constant(0)]
    return net.layer("Gather", inputs, 'batch_dims="0"', version="opset8", outputs=["I64"])


def concat(net: Net, *parts: str, axis: int = 0, kind: str = "I64") -> str:
    return net.layer("Concat", list(parts), f'axis="{axis}"', outputs=[kind])


def reshape(net: Net, data: str, pattern: str) -> str:
    return net.layer("Reshape", [data, pattern], 'special_zero="false"')


def _pool(rounding: str, pads: str = "0,0", **more: str) -> Callable[[Net], str]:
    def make(net: Net) -> str:
        data = net.parameter("?,3,?,32", name="x")
        return window(
            net, data, "AvgPool", rounding_type=rounding, pads_begin=pads, pads_end=pads, **more
        )

    return make


def _computed(*steps: tuple[str, int]) -> Callable[[Net], str]:
    """A reshape of x [?,24] to an expression of its first size, and -1."""

    def make(net: Net) -> str:
        data = net.parameter("?,24", name="x")
        size = shape_of(net, data, 0)
        for operation, number in steps:
            size = net.layer(operation, [size, net.constant([number])], outputs=["I64"])
        ones = net.constant(1.0, "f32")
        return net.layer("Broadcast", [ones, size], 'mode="numpy"', version="opset3")

    return make


def _merged_axes(net: Net) -> str:
    data = net.parameter("?,?,768", name="x")
    heads = reshape(net, data, concat(net, shape_of(net, data, 0), net.constant([-1, 12, 64])))
    return reshape(net, heads, concat(net, shape_of(net, data, 0), net.constant([-1, 768])))


def _batch_back(net: Net) -> str:
    data = net.parameter("?,?,8", name="x")
    flat = reshape(net, data, net.constant([-1, 8]))
    return reshape(
        net, flat, concat(net, net.constant([-1]), shape_of(net, data, 1), net.constant([8]))
    )


def _last_is_static(net: Net) -> str:
    data = net.parameter("?,?,8", name="x")
    pattern = concat(net, shape_of(net, data, 0), shape_of(net, data, 1), net.constant([-1]))
    return reshape(net, data, pattern)


def _flattened(net: Net) -> str:
    data = net.parameter("?,3", name="x")
    total = net.layer("Multiply", [shape_of(net, data, 0), shape_of(net, data, 1)], outputs=["I64"])
    return reshape(net, data, total)


def _last_axes_joined(net: Net) -> str:
    data = net.parameter("?,?,4", name="x")
    last = net.layer("Multiply", [shape_of(net, data, 1), net.constant([4])], outputs=["I64"])
    return reshape(net, data, concat(net, shape_of(net, data, 0), last))


def _concatenated(net: Net) -> str:
    past, new = net.parameter("?,4,?,8", name="past"), net.parameter("?,4,?,8", name="new")
    return concat(net, past, new, axis=2, kind="FP32")


def _sliced(net: Net) -> str:
    """x from y's size to the end."""
    data, other = net.parameter("?,8", name="x"), net.parameter("?,3", name="y")
    inputs = [data, shape_of(net, other, 0), net.constant([2**63 - 1]), net.constant([1])]
    return net.layer("Slice", [*inputs, net.constant([0])], version="opset8")


def _sliced_by_step(net: Net) -> str:
    data = net.parameter("?,8", name="x")
    inputs = [net.constant([1]), net.constant([-1]), net.constant([3]), net.constant([0])]
    return net.layer("Slice", [data, *inputs], version="opset8")


def _backwards(net: Net) -> str:
    data = net.parameter("?,8", name="x")
    inputs = [net.constant([-1]), net.constant([-(2**63)]), net.constant([-2]), net.constant([0])]
    return net.layer("Slice", [data, *inputs], version="opset8")


def _tiled(net: Net) -> str:
    data = net.parameter("?,8", name="x")
    return net.layer("Tile", [data, net.constant([3, 2])])


def _range(net: Net) -> str:
    data = net.parameter("?,8", name="x")
    size = net.layer("Squeeze", [shape_of(net, data, 0), net.constant([0])], outputs=["I64"])
    inputs = [net.constant(1), size, net.constant(2)]
    return net.layer("Range", inputs, 'output_type="i64"', version="opset4", outputs=["I64"])


def _interpolated(net: Net) -> str:
    data = net.parameter("?,3,?,?", name="x")
    attributes = 'mode="nearest" shape_calculation_mode="scales" pads_begin="0" pads_end="0"'
    inputs = [data, net.constant([2.0, 0.5], "f32"), net.constant([2, 3])]
    return net.layer("Interpolate", inputs, attributes, version="opset11")


def _split(net: Net) -> str:
    data = net.parameter("?,8", name="x")
    return net.layer("Split", [data, net.constant(0)], 'num_splits="2"', outputs=["FP32", "FP32"])


def _broadcast(net: Net) -> str:
    """One may be 1 in another model, but here the Concat demands that they are equal."""
    first, second = net.parameter("?,8", name="x"), net.parameter("?,8", name="y")
    total = net.layer("Add", [first, second], 'auto_broadcast="numpy"')
    joined = concat(net, first, second, axis=1, kind="FP32")
    return net.layer("MatMul", [joined, total], 'transpose_a="true" transpose_b="false"')


def _convolution(net: Net) -> str:
    data, filters = net.parameter("?,3,?,?", name="x"), net.parameter("16,3,3,3", name="w")
    attributes = 'strides="2,1" dilations="1,2" pads_begin="1,0" pads_end="1,0" auto_pad="explicit"'
    return net.layer("Convolution", [data, filters], attributes)


def _suppressed(version: str, boxes: str, scores: str) -> Callable[[Net], str]:
    def make(net: Net) -> str:
        inputs = [net.parameter(boxes, name="b"), net.parameter(scores, name="s"), net.constant(5)]
        inputs += [net.constant(0.5, "f32"), net.constant(0.5, "f32")]
        return net.layer("NonMaxSuppression", inputs, version=version, outputs=["I64"])

    return make


def _cell(net: Net) -> str:
    """States whose size is that of an attribute."""
    inputs = [net.parameter(shape, name=name) for shape, name in (("?,4", "x"), ("?,?", "h"))]
    inputs += [net.parameter(shape) for shape in ("?,?", "12,4", "12,?", "12")]
    return net.layer("LSTMCell", inputs, 'hidden_size="3"', version="opset4", outputs=["FP32"] * 2)


def _squeezed_part(net: Net) -> str:
    """A quarter of an axis, which is taken to be 1."""
    data = net.parameter("?,?", name="x")
    part = net.layer("Split", [data, net.constant(0)], 'num_splits="4"', outputs=["FP32"] * 4)
    return net.layer("Squeeze", [part, net.constant([0])])


ROWS: list[tuple[str, Callable[[Net], str], list[str | None]]] = [
    ("floor", _pool("floor"), ["x_0", "3", "(x_2+1)//2-1", "15"]),
    ("padded", _pool("floor", "1,1"), ["x_0", "3", "(x_2+1)//2", "16"]),
    ("ceil", _pool("ceil"), ["x_0", "3", "x_2//2", "16"]),
    ("valid", _pool("floor", auto_pad="valid"), ["x_0", "3", "(x_2+1)//2-1", "15"]),
    ("same", _pool("floor", auto_pad="same_upper"), ["x_0", "3", "(x_2+1)//2", "16"]),
    ("convolution", _convolution, ["x_0", "16", "(x_2+1)//2", "x_3-4"]),
    ("add", _computed(("Add", 3)), ["x_0+3"]),
    ("arithmetic", _computed(("Multiply", 6), ("Divide", 4), ("Add", 1)), ["(3*x_0)//2+1"]),
    ("remainder", _computed(("FloorMod", 4)), ["(x_0%4)"]),
    ("maximum", _computed(("Subtract", 4), ("Maximum", 0)), ["max(0,x_0-4)"]),
    ("minimum", _computed(("Minimum", 512)), ["min(512,x_0)"]),
    ("heads", _merged_axes, ["x_0", "x_1", "768"]),
    ("left over is the batch", _batch_back, ["x_0", "x_1", "8"]),
    ("left over is a number", _last_is_static, ["x_0", "x_1", "8"]),
    ("all sizes multiplied", _flattened, ["3*x_0"]),
    ("sizes multiplied", _last_axes_joined, ["x_0", "4*x_1"]),
    ("cache", _concatenated, ["past_0", "4", "new_2+past_2", "8"]),
    ("slice from a size", _sliced, ["max(0,x_0-y_0)", "8"]),
    ("slice by a step", _sliced_by_step, ["x_0//3", "8"]),
    ("slice backwards", _backwards, ["(x_0+1)//2", "8"]),
    ("tile", _tiled, ["3*x_0", "16"]),
    ("range", _range, ["x_0//2"]),
    ("interpolate", _interpolated, ["x_0", "3", "2*x_2", "x_3//2"]),
    ("split", _split, ["x_0//2", "8"]),
    ("equal by another layer", _broadcast, ["16", "8"]),
    ("boxes", _suppressed("opset1", "2,?,4", "2,3,?"), ["min(15,b_1)", "3"]),
    ("classes", _suppressed("opset4", "2,9,4", "2,1..3,9"), ["10*s_1", "3"]),
    ("squeezed part", _squeezed_part, ["x_1"]),
    ("cell", _cell, ["x_0", "3"]),
]


def _list_of_sizes(net: Net) -> str:
    sizes = net.parameter("1..2", "i64", name="sizes")
    data, filters = net.parameter("1,3,?,8", name="x"), net.parameter("3,4,3,3", name="w")
    attributes = 'strides="2,2" dilations="1,1" pads_begin="0,0" pads_end="0,0"'
    return net.layer("ConvolutionBackpropData", [data, filters, sizes], attributes)


def _random(net: Net) -> str:
    inputs = [net.parameter("..4", "i64", name="x"), net.constant(0), net.constant(9)]
    return net.layer("RandomUniform", inputs, 'output_type="i64"', version="opset8")


def _unknown_axis(net: Net) -> str:
    return net.layer("Squeeze", [net.parameter("?,?", name="x"), net.parameter("1", "i64")])


@pytest.mark.parametrize("make", [_list_of_sizes, _random, _unknown_axis])
def test_a_rank_that_may_change_is_not_said(make: Callable[[Net], str], tmp_path: Path) -> None:
    """OpenVINO infers a rank that is another one once the sizes are known."""
    net = Net()
    layer = make(net)
    net.result(layer)
    inference = irshape.infer(net.load(tmp_path), symbols=True)
    assert inference.outputs(layer)[0].shape.rank is None
    assert inference.expressions(layer) == (None,)


def test_what_rests_on_a_faulty_layer_has_no_expression(tmp_path: Path) -> None:
    """It refuses a list of unknown length, and takes one of two elements."""
    net = Net()
    inputs = [net.parameter("?,12,9"), net.constant([5, 5]), net.parameter("?", "i64")]
    blocks = net.layer("Col2Im", inputs, version="opset15")
    net.result(net.layer("Relu", [blocks]))
    net.result(inputs[0])
    inference = irshape.infer(net.load(tmp_path), symbols=True)
    known = [inference.expressions(layer)[0] for layer in inference.model.layers[-4:]]
    assert known[:3] == [None, None, None]
    assert [str(size) for size in known[3] or ()] == ["p0_0", "12", "9"]


def test_as_many_elements_as_are_chosen_are_needed(tmp_path: Path) -> None:
    net = Net()
    inputs = [net.parameter("?", name="x"), net.constant(10)]
    attributes = 'axis="0" mode="max" sort="value"'
    net.result(net.layer("TopK", inputs, attributes, version="opset11", outputs=["FP32", "I32"]))
    inference = irshape.infer(net.load(tmp_path), symbols=True)
    assert str(inference.symbols["x_0"].range) == "10.."
    assert inference.overview().fix == {"x": "[10]"}


@pytest.mark.parametrize(
    ("make", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_operations_keep_names(
    make: Callable[[Net], str], expected: list[str | None], tmp_path: Path
) -> None:
    net = Net()
    layer = make(net)
    net.result(layer)
    model = net.load(tmp_path)
    assert written(model, layer) == expected
    seen = tally(model)
    assert seen.bindings == 5
    assert not seen.lost
    assert not seen.wrong


def test_a_product_that_cancels_is_static(tmp_path: Path) -> None:
    net = Net()
    layer = _last_is_static(net)
    net.result(layer)
    model = net.load(tmp_path)
    assert str(irshape.infer(model).outputs(layer)[0].shape) == "[?,?,?]"
    named = irshape.infer(model, symbols=True)
    assert str(named.outputs(layer)[0].shape)[-3:] == ",8]"


def test_data_decides(tmp_path: Path) -> None:
    net = Net()
    data = net.parameter("?,4", name="x")
    layer = net.layer("NonZero", [data], 'output_type="i64"', version="opset3", outputs=["I64"])
    net.result(layer)
    assert written(net.load(tmp_path), layer) == ["2", None]


def two_inputs(folder: Path) -> irshape.Model:
    """logits = embed(ids) + embed(mask) for ids [?,?] and mask [?,?]."""
    net = Net()
    ids, mask = net.parameter("?,?", name="ids"), net.parameter("?,?", name="mask")
    total = net.layer("Add", [ids, mask], 'auto_broadcast="numpy"')
    net.result(total, "logits")
    return net.load(folder)


def test_names_come_from_users_else_from_tensors(tmp_path: Path) -> None:
    model = two_inputs(tmp_path)
    assert written(model, "2") == ["ids_0", "ids_1"]
    assert written(model, "2", shapes={"ids": "[batch,seq]"}) == ["batch", "seq"]
    named = {"ids": "[batch,seq]", "mask": "[batch,past+seq]"}
    inference = irshape.infer(model, shapes=named, symbols=True)
    assert [str(size) for size in inference.expressions("1")[0] or ()] == ["batch", "past+seq"]
    assert set(inference.symbols) == {"batch", "seq", "past"}
    assert inference.symbols["batch"] == ("ids", 0, irshape.Dimension.of("?"))


def test_sizes_that_are_broadcast_are_taken_to_be_equal(tmp_path: Path) -> None:
    inference = irshape.infer(two_inputs(tmp_path), symbols=True)
    assert [(str(one), one.assumed) for one in inference.constraints] == [
        ("ids_0 == mask_0", True),
        ("ids_1 == mask_1", True),
    ]


def test_evaluate(tmp_path: Path) -> None:
    model = two_inputs(tmp_path)
    inference = irshape.infer(model, shapes={"ids": "[batch,seq]"}, symbols=True)
    shapes = inference.evaluate({"batch": 2, "seq": 7})
    assert shapes["ids"] == shapes["mask"] == shapes["logits"] == (2, 7)
    for sizes, message in [
        ({"batch": 2}, "no size is given for seq"),
        ({"batch": 2, "seq": 7, "n": 1}, "no symbol 'n'"),
        ({"batch": 2, "seq": -1}, r"seq is -1; it must lie in 0\.\."),
    ]:
        with pytest.raises(ValueError, match=message):
            inference.evaluate(sizes)
    with pytest.raises(ValueError, match="symbols=True"):
        irshape.infer(model).evaluate({"batch": 2, "seq": 7})


@pytest.mark.parametrize(
    ("assume", "message"),
    [
        ("seq", "is not a condition"),
        ("n % 8 == 0", "no symbol 'n'"),
        ("seq >= 1 >= 0", "is not a condition"),
        ("seq != 1", "a condition compares by"),
        ("seq <= -1", "contradicts"),
    ],
)
def test_assumptions_that_cannot_be_taken(assume: str, message: str, tmp_path: Path) -> None:
    model = two_inputs(tmp_path)
    with pytest.raises(ValueError, match=message):
        irshape.infer(model, shapes={"ids": "[batch,seq]"}, assume=[assume])


def test_assumptions_simplify(tmp_path: Path) -> None:
    net = Net()
    data = net.parameter("?,4", name="x")
    layer = net.layer("Split", [data, net.constant(0)], 'num_splits="2"', outputs=["FP32"] * 2)
    joined = concat(net, layer, f"{layer}:1", kind="FP32")
    net.result(joined)
    model = net.load(tmp_path)
    assert written(model, joined, shapes={"x": "[n,4]"}) == ["n", "4"]
    assert irshape.infer(model, shapes={"x": "[n,4]"}, assume=["n <= 8"]).symbols["n"].range == (
        irshape.Dimension(0, 8)
    )


def _share() -> list[Case]:
    """Every seventh row of the tests of operations."""
    rows = [case for case in cases() if case.edit is None and not case.known]
    return [case for case in rows if zlib.crc32(case.id.encode()) % 7 == 0]


def test_operations_are_sound(tmp_path: Path) -> None:
    """Rows of other tests, with every size of their inputs unknown: what is said holds."""
    path = tmp_path / "m.xml"
    bindings = dimensions = 0
    for case in _share():
        text, weights = build(case)
        path.write_text(text, encoding="utf-8")
        path.with_suffix(".bin").write_bytes(weights)
        model = irshape.load(path)
        if irshape.infer(model).observations:
            continue
        shapes: dict[str, irshape.ShapeLike] = {}
        for layer in model.parameters:
            shape = irshape.infer(model).outputs(layer)[0].shape
            if shape.dims is not None:
                shapes[f"id:{layer.id}"] = ["?"] * len(shape)
        if irshape.infer(model, shapes=shapes).observations:
            continue
        seen = tally(model, shapes, bindings=3)
        assert not seen.wrong, case.id
        bindings += seen.bindings
        dimensions += seen.dimensions
    assert bindings > 300
    assert dimensions > 2000


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.xml")), ids=lambda path: path.stem)
def test_examples_are_sound_and_complete(path: Path) -> None:
    model = irshape.load(path)
    seen = tally(model)
    assert not seen.wrong
    # data decides a branch, axes, and how often a Loop runs
    if path.stem not in ("control_flow", "reductions", "recurrent"):
        assert not seen.lost


def test_layers_on_their_own_have_numbers_only() -> None:
    model = irshape.load(next((EXAMPLES / "layers" / "right").glob("*.xml")))
    document = irshape.infer(model, symbols=True).to_dict()
    assert document["symbols"] == {}
    assert all("symbols" in port for layer in document["layers"] for port in layer["outputs"])
