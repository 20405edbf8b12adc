"""Named sizes through operations, values, bodies and whole models."""

from __future__ import annotations

import re
import sys
import zlib
from pathlib import Path
from string import Template

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


def size(of: str, axis: int = 0) -> str:
    """An element of the shape of a tensor, as a list of one."""
    return f"Gather-8(batch_dims=0 ShapeOf-3(output_type=i64 {of}) i64{{[{axis}]}} i64{{0}})"


def built(text: str) -> tuple[Net, str]:
    """The layer of a text and its id. `$X0` and `$X1` are sizes of the input `x`."""
    net = Net()
    of_rows = {"ROWS": size("x:f32[?,24]"), "Y0": size("y:f32[?,3]")}
    layer = net.add(Template(text).substitute(of_rows, POOL=POOL, X0=size("x"), X1=size("x", 1)))
    net.result(layer)
    return net, layer


POOL = "AvgPool-14(strides=2,2 kernel=3,3 exclude-pad=true x:f32[?,3,?,32]"
LAST_IS_STATIC = "Reshape-1(special_zero=false x:f32[?,?,8] Concat-1(axis=0 $X0 $X1 i64{[-1]}))"
ROWS = """
floor | x_0 3 (x_2+1)//2-1 15
    $POOL rounding_type=floor auto_pad=explicit pads_begin=0,0 pads_end=0,0)
padded | x_0 3 (x_2+1)//2 16
    $POOL rounding_type=floor auto_pad=explicit pads_begin=1,1 pads_end=1,1)
ceil | x_0 3 x_2//2 16
    $POOL rounding_type=ceil auto_pad=explicit pads_begin=0,0 pads_end=0,0)
valid | x_0 3 (x_2+1)//2-1 15
    $POOL rounding_type=floor auto_pad=valid pads_begin=0,0 pads_end=0,0)
same | x_0 3 (x_2+1)//2 16
    $POOL rounding_type=floor auto_pad=same_upper pads_begin=0,0 pads_end=0,0)
convolution | x_0 16 (x_2+1)//2 x_3-4
    Convolution-1(strides=2,1 dilations=1,2 pads_begin=1,0 pads_end=1,0 auto_pad=explicit
        x:f32[?,3,?,?] w:f32[16,3,3,3])
add | x_0+3
    Broadcast-3(mode=numpy f32{1.0} Add-1($ROWS i64{[3]}))
arithmetic | (3*x_0)//2+1
    Broadcast-3(mode=numpy f32{1.0}
        Add-1(Divide-1(Multiply-1($ROWS i64{[6]}) i64{[4]}) i64{[1]}))
remainder | (x_0%4)
    Broadcast-3(mode=numpy f32{1.0} FloorMod-1($ROWS i64{[4]}))
maximum | max(0,x_0-4)
    Broadcast-3(mode=numpy f32{1.0} Maximum-1(Subtract-1($ROWS i64{[4]}) i64{[0]}))
minimum | min(512,x_0)
    Broadcast-3(mode=numpy f32{1.0} Minimum-1($ROWS i64{[512]}))
heads | x_0 x_1 768
    Reshape-1(special_zero=false
        Reshape-1(special_zero=false x:f32[?,?,768] Concat-1(axis=0 $X0 i64{[-1, 12, 64]}))
        Concat-1(axis=0 $X0 i64{[-1, 768]}))
left over is the batch | x_0 x_1 8
    Reshape-1(special_zero=false Reshape-1(special_zero=false x:f32[?,?,8] i64{[-1, 8]})
        Concat-1(axis=0 i64{[-1]} $X1 i64{[8]}))
left over is a number | x_0 x_1 8
    $LAST_IS_STATIC
all sizes multiplied | 3*x_0
    Reshape-1(special_zero=false x:f32[?,3] Multiply-1($X0 $X1))
sizes multiplied | x_0 4*x_1
    Reshape-1(special_zero=false x:f32[?,?,4] Concat-1(axis=0 $X0 Multiply-1($X1 i64{[4]})))
cache | past_0 4 new_2+past_2 8
    Concat-1(axis=2 past:f32[?,4,?,8] new:f32[?,4,?,8])
slice from a size | max(0,x_0-y_0) 8
    Slice-8(x:f32[?,8] $Y0 i64{[9223372036854775807]} i64{[1]} i64{[0]})
slice by a step | x_0//3 8
    Slice-8(x:f32[?,8] i64{[1]} i64{[-1]} i64{[3]} i64{[0]})
slice backwards | (x_0+1)//2 8
    Slice-8(x:f32[?,8] i64{[-1]} i64{[-9223372036854775808]} i64{[-2]} i64{[0]})
tile | 3*x_0 16
    Tile-1(x:f32[?,8] i64{[3, 2]})
range | x_0//2
    Range-4(output_type=i64 i64{1} Squeeze-1($ROWS i64{[0]}) i64{2})
interpolate | x_0 3 2*x_2 x_3//2
    Interpolate-11(mode=nearest shape_calculation_mode=scales pads_begin=0 pads_end=0
        x:f32[?,3,?,?] f32{[2.0, 0.5]} i64{[2, 3]})
split | x_0//2 8
    Split-1:2(num_splits=2 x:f32[?,8] i64{0})
equal by another layer | 16 8
    MatMul-1(transpose_a=true transpose_b=false
        Concat-1(axis=1 x:f32[?,8] y:f32[?,8]) Add-1(auto_broadcast=numpy x y))
boxes | min(15,b_1) 3
    NonMaxSuppression-1(b:f32[2,?,4] s:f32[2,3,?] i64{5} f32{0.5} f32{0.5})
classes | 10*s_1 3
    NonMaxSuppression-4(b:f32[2,9,4] s:f32[2,1..3,9] i64{5} f32{0.5} f32{0.5})
squeezed part | x_1
    Squeeze-1(Split-1:4(num_splits=4 x:f32[?,?] i64{0}) i64{[0]})
cell | x_0 3
    LSTMCell-4:2(hidden_size=3 x:f32[?,4] h:f32[?,?] f32[?,?] f32[12,4] f32[12,?] f32[12])
""".replace("$LAST_IS_STATIC", LAST_IS_STATIC)

OF_UNKNOWN_RANK = {
    "a list of sizes": """
        ConvolutionBackpropData-1(strides=2,2 dilations=1,1 pads_begin=0,0 pads_end=0,0
            x:f32[1,3,?,8] w:f32[3,4,3,3] sizes:i64[1..2])""",
    "random": "RandomUniform-8(output_type=i64 x:i64[..4] i64{0} i64{9})",
    "an unknown axis": "Squeeze-1(x:f32[?,?] i64[1])",
}


@pytest.mark.parametrize("name", OF_UNKNOWN_RANK)
def test_a_rank_that_may_change_is_not_said(name: str, tmp_path: Path) -> None:
    """OpenVINO infers a rank that is another one once the sizes are known."""
    net, layer = built(OF_UNKNOWN_RANK[name])
    inference = irshape.infer(net.load(tmp_path), symbols=True)
    assert inference.outputs(layer)[0].shape.rank is None
    assert inference.expressions(layer) == (None,)


def test_what_rests_on_a_faulty_layer_has_no_expression(tmp_path: Path) -> None:
    """It refuses a list of unknown length, and takes one of two elements."""
    net = Net()
    net.result(net.add("Relu-1(Col2Im-15(x:f32[?,12,9] i64{[5, 5]} i64[?]))"))
    net.result("0")
    inference = irshape.infer(net.load(tmp_path), symbols=True)
    known = [inference.expressions(layer)[0] for layer in inference.model.layers[-4:]]
    assert known[:3] == [None, None, None]
    assert [str(size) for size in known[3] or ()] == ["x_0", "12", "9"]


def test_as_many_elements_as_are_chosen_are_needed(tmp_path: Path) -> None:
    net, _ = built("TopK-11:2(axis=0 mode=max sort=value x:f32[?] i64{10})")
    inference = irshape.infer(net.load(tmp_path), symbols=True)
    assert str(inference.symbols["x_0"].range) == "10.."
    assert inference.overview().fix == {"x": "[10]"}


@pytest.mark.parametrize(
    "row", re.split(r"\n(?=\S)", ROWS.strip()), ids=lambda row: row.split(" |")[0]
)
def test_operations_keep_names(row: str, tmp_path: Path) -> None:
    head, _, text = row.partition("\n")
    expected = head.partition("| ")[2].split()
    net, layer = built(text)
    model = net.load(tmp_path)
    assert written(model, layer) == expected
    seen = tally(model)
    assert seen.bindings == 5
    assert not seen.lost
    assert not seen.wrong


def test_a_product_that_cancels_is_static(tmp_path: Path) -> None:
    net, layer = built(LAST_IS_STATIC)
    model = net.load(tmp_path)
    assert str(irshape.infer(model).outputs(layer)[0].shape) == "[?,?,?]"
    named = irshape.infer(model, symbols=True)
    assert str(named.outputs(layer)[0].shape)[-3:] == ",8]"


def test_data_decides(tmp_path: Path) -> None:
    net, layer = built("NonZero-3(output_type=i64 x:f32[?,4])")
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
        ({"batch": 2}, "given for seq"),
        ({"batch": 2, "seq": 7, "n": 1}, "no symbol 'n'"),
        ({"batch": 2, "seq": -1}, r"seq is -1; .* 0\.\."),
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
    layer = net.add("Split-1:2(num_splits=2 x:f32[?,4] i64{0})")
    joined = net.add("Concat-1(axis=0 @ @)", layer, f"{layer}:1")
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
        inference = irshape.infer(model)
        if inference.observations:
            continue
        shapes: dict[str, irshape.ShapeLike] = {}
        for layer in model.parameters:
            shape = inference.outputs(layer)[0].shape
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
