"""Layers as documents print them: repairs, values from comments, versions, exact places."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from calling import said as call

import irshape
from irshape.diagnostics.report import Diagnostic, FileReport
from irshape.formats.ir.fragments import value_in
from irshape.formats.ir.printed_layers import Repaired
from irshape.inference.declarations import newest_fitting
from irshape.inference.literals import parse_value


def written(folder: Path, text: str, name: str = "layer.xml") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def load(folder: Path, text: str) -> irshape.Model:
    return irshape.load(written(folder, text))


def shapes(model: irshape.Model) -> list[list[str]]:
    return [
        [output["shape"] for output in row["outputs"]]
        for row in irshape.infer(model).to_dict()["layers"]
    ]


def validated(folder: Path, text: str) -> FileReport:
    return irshape.validate(written(folder, text)).files[0]


def errors(report: FileReport, *codes: str) -> list[Diagnostic]:
    return [
        found
        for found in report.diagnostics
        if (found.code in codes if codes else found.severity == "error")
    ]


def kept(report: FileReport) -> list[tuple[str, int, int]]:
    """What is reported at error or warning, and where."""
    serious = [found for found in report.diagnostics if found.severity != "info"]
    return [(found.code, found.line, found.column) for found in serious]


def ports(*dims: str, first: int = 0) -> str:
    return "".join(
        f'<port id="{first + i}">'
        f"{''.join(f'<dim>{size}</dim>' for size in sizes.split(',') if size)}</port>"
        for i, sizes in enumerate(dims)
    )


def layer(head: str, inputs: str, outputs: str, inside: str = "") -> str:
    """A layer whose ports have these sizes, each port a word of text; `-` is a port without any."""
    given, results = (
        ["" if size == "-" else size for size in text.split()] for text in (inputs, outputs)
    )
    return (
        f"<layer {head} ...>{inside}<input>{ports(*given)}</input><output>"
        f"{ports(*results, first=len(given))}</output></layer>"
    )


IN, OUT = ports("2,3"), ports("2,3", first=1)
REDUCTION = """<layer id="1" type="ReduceMean" ...>
    <data keep_dims="true"/>
    <input>
        <port id="0">
            <dim>4</dim>
            <dim>5</dim>
            <dim>6</dim>
        </port>
        <port id="1">
            <dim>2</dim>{comment}
        </port>
    </input>
    <output>
        <port id="2">
            <dim>1</dim>
            <dim>5</dim>
            <dim>1</dim>
        </port>
    </output>
</layer>
"""


# values


@pytest.mark.parametrize(
    "comment",
    [
        " value is [0, 2] that means the mean of each row ",
        "[0, 2]",
        " value [0, 2] ",
        " value of [0,2] means rows ",
        " axes input contains [0, 2] ",
        " axes input contains  [ 0 ,  2 ]",
        " axes: [0, 2] ",
        " axes = [0, -1] ",
        " axes list [0, 2] means rows ",
        " `axes` value is: [0, 2] ",
        "The values in this input are [0, 2] (axes).",
        " values: [0, 2] ",
        " The tensor contains 2 elements: 0, -1 ",
        " The tensor contains 2 elements: [0, -1] ",
        " {0, 2} ",
        " axes : [0, 2] - batch and depth, see [1, 2] ",
        " data: axes: [0, 2] ",
        " [0, 2] will be promoted to [0, 0, 2] ",
        " [0, 2] that means data.shape[0] and data.shape[2] ",
    ],
)
def test_values_in_comments(comment: str, tmp_path: Path) -> None:
    model = load(tmp_path, REDUCTION.replace("{comment}", f" <!--{comment}-->"))
    assert shapes(model) == [["[1,5,1]"]]
    assert model.findings == []


@pytest.mark.parametrize(
    "comment",
    [
        " will be promoted to shape (0, 2) ",
        " output value is: [0, 2] ",
        " result: [0, 2] ",
        " reduced to [0, 2] ",
        " data.shape[0] \\* data.shape[2] ",
        " 2 = 1 + 1 ",
        " 2 = 5 - 3 = data.shape[1] - 3 ",
        " min(2, 10) \\* 3 ",
        " some data ",
        " spatial dimension 2 ",
        " batch: 2 ",
        ' "-1" means a undefined dimension ',
        " the 2nd input shouldn't be [0, 2] ",
        " [0, 1, 2] will be cut to [0, 2] ",
        " [0, 2] = data.shape[0] ",
        " axes ",
        "",
    ],
)
def test_comments_that_state_no_value(comment: str, tmp_path: Path) -> None:
    """Without a value the result is as dynamic as it must be; what is declared is no mistake."""
    report = validated(tmp_path, REDUCTION.replace("{comment}", f" <!--{comment}-->"))
    assert shapes(irshape.load(report.path)) == [["[1..4,1..5,1..6]"]]
    assert [found for found in report.diagnostics if found.severity != "info"] == []


@pytest.mark.parametrize(
    ("comment", "value"),
    [
        (" k = 3 ", "3"),
        ("10", "10"),
        (" -1 ", "-1"),
        (" num rows: 5 ", "5"),
        (" blank_index = 120 ", "120"),
        (" blank_index value is: 120 ", "120"),
        (" start value: 2 ", "2"),
        (" off_value 2 ", "2"),
        (" beta value: 2.0 ", "2.0"),
        (" pad_value = 15.0 ", "15.0"),
        (" axis is 1 ", "1"),
        (" diagonal index ", None),
        (" 3 elements ", None),
    ],
)
def test_numbers_in_comments(comment: str, value: str | None) -> None:
    assert value_in(comment) == value
    assert value_in(comment, (1,), at_dim=True) == value
    if "value" not in comment:  # what a number says of several elements is not their value
        assert value_in(comment, (4, 5)) is None


@pytest.mark.parametrize(
    ("comment", "dims", "value"),
    [
        (" shape value: [2, 3, 10] ", (3,), "[2, 3, 10]"),
        (" batch_shape : [2, 3] ", (), "[2, 3]"),
        (" shape: [2, 3] ", (2,), "[2, 3]"),
        (" shape: [2, 3] ", (2, 3), None),
        (" shape is [7] ", (7,), None),
        (" input_order is an empty 1D tensor ", (0,), "[]"),
        (" axes: [] ", (0,), "[]"),
        (
            " cond value is: [[false, true], [TRUE, False]] ",
            (2, 2),
            "[[false, true], [TRUE, False]]",
        ),
        (" table value is: [[-0.2, .6], [-1., 1.5e1]] ", (2, 2), "[[-0.2, .6], [-1., 1.5e1]]"),
        (" value is [not, numbers] ", (2,), None),
        (" value is [1, 2 ", (2,), None),
        (" value is [__import__('os')] ", (1,), None),
        (" value is " + "[" * 5000 + "]" * 5000, (1,), None),
        (" value is [9" + "9" * 100_000 + "] ", (1,), None),
    ],
)
def test_lists_in_comments(comment: str, dims: tuple[int, ...], value: str | None) -> None:
    assert value_in(comment, dims) == value


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[[0, 1], [2, 3]]", (0, 1, 2, 3)),
        ("7", (7,)),
        ("[true, False]", (1, 0)),
        ("[-1.0f, 2.f, 3]", (-1.0, 2.0, 3)),
        ("[ ]", ()),
        ("[1, 'a']", None),
        ("f()", None),
        ("2 ** 999999999", None),
        ("1_000", None),
        ("", None),
        ("[" + "1," * 2000 + "]", None),
    ],
)
def test_values_as_text(text: str, numbers: tuple[int | float, ...] | None) -> None:
    assert parse_value(text) == numbers


DATA, AXES = '<port id="0"><dim>4</dim><dim>5</dim></port>', '<port id="1"><dim>1</dim></port>'
SAID = "<!-- axes: [0] -->"


@pytest.mark.parametrize(
    ("where", "inputs"),
    {
        "inside": f'{DATA}<port id="1">{SAID}<dim>1</dim></port>',
        "behind": f"{DATA}{AXES} {SAID}",
        "behind an empty port": f'{DATA}<port id="1"/> {SAID}',
        "in the line before": f"\n{DATA}\n{SAID}\n{AXES}\n",
        "in the line behind the last": f"\n{DATA}\n{AXES}\n{SAID}\n",
        "in a line of its own": f'\n{DATA}\n<port id="1">\n{SAID}\n<dim>1</dim>\n</port>\n',
        "before, in the line": f"\n<!-- data --> {DATA}\n{SAID} {AXES}\n",
    }.items(),
)
def test_where_a_comment_may_stand(where: str, inputs: str, tmp_path: Path) -> None:
    text = (
        f'<layer type="ReduceMax" ...><data keep_dims="false"/><input>{inputs}</input><output>'
        f"{ports('5', first=2)}</output></layer>"
    )
    assert shapes(load(tmp_path, text)) == [["[5]"]], where


def test_a_value_in_several_comments(tmp_path: Path) -> None:
    text = f"""<layer type="Reshape" ...><input>
        <port id="0"><dim>6</dim> <dim>4</dim></port>
        <port id="1"><dim>3</dim> <!-- {{2, -->
        </port>               <!-- 3, 4}} -->
    </input><output>{ports("2,3,4", first=2)}</output></layer>"""
    assert "{2, -->" in text
    model = load(tmp_path, text.replace("{2, -->", "{{2}, -->").replace("3, 4}", "{3}, {4}}"))
    assert parse_value(model.layers[0].inputs[1].value or "") == (2, 3, 4)


@pytest.mark.parametrize(
    ("comments", "value"),
    [("[6, 4]|[2, 3, 4]", (2, 3, 4)), ("2|3|4", (2, 3, 4)), ("[6, 4]|[24]", (6, 4))],
)
def test_of_several_values_the_one_that_fits(
    comments: str, value: tuple[int, ...], tmp_path: Path
) -> None:
    said = "".join(f"<!-- value is {one} -->" for one in comments.split("|"))
    text = (
        f'<layer type="Reshape" ...><input>{DATA}<port id="1"><dim>3</dim>{said}</port></input>'
        f"<output>{ports('20', first=2)}</output></layer>"
    )
    assert parse_value(load(tmp_path, text).layers[0].inputs[1].value or "") == value


def test_comments_at_outputs_are_no_values(tmp_path: Path) -> None:
    text = (
        f'<layer type="ReLU" ...><input>{ports("2")}</input><output>'
        '<port id="1"><dim>2</dim> <!-- [3, 4] --></port></output></layer>'
    )
    assert load(tmp_path, text).layers[0].outputs[0].value is None


def test_a_value_that_does_not_fit_its_port_is_reported(tmp_path: Path) -> None:
    report = validated(tmp_path, REDUCTION.replace("{comment}", " <!-- value is [0, 1, 2] -->"))
    assert [(found.code, found.line, found.column) for found in errors(report)] == [("IR207", 9, 9)]


# element types


def test_element_types_come_from_precisions_and_comments(tmp_path: Path) -> None:
    text = """<layer type="ReduceSum" ...><input>
        <port id="0"> <!-- type: int32 --> <dim>3</dim></port>
        <port id="1"> <!-- axes: [0] --> </port></input><output><port id="2"/></output></layer>"""
    assert irshape.infer(load(tmp_path, text)).to_dict()["layers"][0]["outputs"] == [
        {"port": "2", "element_type": "i32", "shape": "[]"}
    ]
    for said, meant in (
        *(("float32", "f32"), ("i64", "i64"), ("bool", "boolean"), ("FP16", "f16")),
        *(("uint8", "u8"), ("bfloat16", "bf16"), ("any", "dynamic")),
    ):
        other = text.replace("ReduceSum", "Squeeze").replace("int32", said)
        other = other.replace('<port id="1"> <!-- axes: [0] --> </port>', "")
        row = irshape.infer(load(tmp_path, other)).to_dict()["layers"][0]
        assert row["outputs"][0]["element_type"] == meant


def test_what_nothing_is_said_about_stays_dynamic(tmp_path: Path) -> None:
    report = validated(tmp_path, layer('type="ReLU"', "2,?", "2,-1"))
    assert report.diagnostics == []
    assert irshape.infer(irshape.load(report.path)).to_dict()["layers"][0]["outputs"] == [
        {"port": "1", "element_type": "dynamic", "shape": "[2,?]"}
    ]


def test_sizes_and_scales_have_their_usual_types(tmp_path: Path) -> None:
    text = f"""<layer type="Interpolate" ...>
        <data mode="nearest" shape_calculation_mode="{{mode}}"/>
        <input>{ports("1,2,10,20")}<port id="1"><dim>2</dim> <!-- {{value}} --></port>\
<port id="2"><dim>2</dim> <!-- [2, 3] --></port></input>
        <output>{ports("1,2,5,40", first=3)}</output></layer>"""
    for mode, value in (("sizes", "[5, 40]"), ("scales", "[0.5, 2.0]")):
        assert validated(tmp_path, text.format(mode=mode, value=value)).diagnostics == []


@pytest.mark.parametrize(("attributes", "axis"), [('mode="index"', "1"), ('mode="mask"', "3")])
def test_indices_or_a_mask_as_the_attribute_says(
    attributes: str, axis: str, tmp_path: Path
) -> None:
    text = layer('type="Reverse"', f"2,3,4 {axis}", "2,3,4", f"<data {attributes}/>")
    assert errors(validated(tmp_path, text)) == []


def test_a_type_that_the_operation_wants_to_know_is_assumed(tmp_path: Path) -> None:
    """A missing type of the logits is no fault; one that is given and wrong is reported."""
    text = layer('type="CTCLoss"', "8,20,128 8 8,20 8", "8")
    assert errors(validated(tmp_path, text)) == []
    assert shapes(load(tmp_path, text)) == [["[8]"]]
    wrong = text.replace('<port id="0">', '<port id="0" precision="I64">')
    assert "IR403" in [found.code for found in errors(validated(tmp_path, wrong))]


def test_what_a_parameter_leaves_out_stands_at_its_port(tmp_path: Path) -> None:
    """Documents of operations with bodies write no attributes for what the body holds."""
    body = f"""<body><layers>
        <layer id="0" type="Parameter" ...><output>\
<port id="0" precision="FP32"><dim>1</dim><dim>5</dim></port></output></layer>
        <layer id="1" type="ReLU" ...><input>{ports("1,5")}</input><output>\
<port id="1" precision="FP32"><dim>1</dim><dim>5</dim></port></output></layer>
        <layer id="2" type="Result" ...><input>{ports("1,5")}</input></layer>
        </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></body>"""
    text = f"""<layer type="TensorIterator" ...><input>{ports("7,5")}</input><output>\
{ports("7,5", first=1)}</output>
        <port_map><input axis="0" external_port_id="0" internal_layer_id="0"/>\
<output axis="0" external_port_id="1" internal_layer_id="2"/></port_map>{body}</layer>"""
    report = validated(tmp_path, text)
    assert [(code, line) for code, line, _ in kept(report)] == [("IR008", 3)]
    rows = irshape.infer(irshape.load(report.path)).to_dict()["layers"]
    seen = [output["shape"] for row in rows for output in row["outputs"]]
    assert seen == ["[7,5]", "[1,5]", "[1,5]", "[1,5]"]


# versions


POOL = 'strides="2,2" pads_begin="0,0" pads_end="0,0" kernel="2,2"'


@pytest.mark.parametrize(
    ("data", "outputs", "since"),
    [
        (f'{POOL} rounding_type="floor"', 1, 1),
        (f'{POOL} rounding_type="floor"', 2, 14),
        (f'{POOL} dilations="1,1" index_element_type="i32"', 2, 14),
        (f'{POOL} banana="1"', 1, 1),
    ],
)
def test_the_version_is_the_newest_that_fits(
    data: str, outputs: int, since: int, tmp_path: Path
) -> None:
    text = layer('type="MaxPool"', "1,3,8,8", "1,3,4,4 " * outputs, f"<data {data}/>")
    assert newest_fitting(load(tmp_path, text).layers[0]).since == since


def test_layers_of_one_file_have_versions_of_their_own(tmp_path: Path) -> None:
    """The attributes are the same, the ports are not."""
    one, two = (
        layer('type="MaxPool"', "1,3,8,8", "1,3,4,4 " * outputs, f"<data {POOL}/>")
        for outputs in (1, 2)
    )
    assert shapes(load(tmp_path, one + two)) == [["[1,3,4,4]"], ["[1,3,4,4]", "[1,3,4,4]"]]
    assert errors(validated(tmp_path, one + two + one)) == []


def test_a_version_that_is_given_counts(tmp_path: Path) -> None:
    text = layer('type="Gelu" version="opset1"', "2", "2")
    assert [found.code for found in errors(validated(tmp_path, text))] == ["IR603"]


# repairs


@pytest.mark.parametrize(
    "head",
    [
        '<layer ... type="ReLU" ...>',
        '<layer … type="ReLU"…>',
        '<layer type="ReLU"...>',
        "<layer ...type='ReLU' ... >",
        '<layer \\... type="ReLU" \\>',
        '<?xml version="1.0"?>\n<layer type="ReLU">',
        '<?xml version="1.0" encoding="ascii"?><!-- one --><layer type="ReLU">',
        '\ufeff<layer type="ReLU">',
        '<!-- first -- second --->\n<layer type="ReLU">',
    ],
)
def test_how_documents_write_is_no_finding(head: str, tmp_path: Path) -> None:
    text = f"{head}<input>{IN}</input><output>{OUT}</output></layer>"
    assert validated(tmp_path, text).diagnostics == []


def test_dots_inside_quotes_stay(tmp_path: Path) -> None:
    data = '<data shape="..." element_type="f32"/>'
    text = f'<layer ... type="Parameter" ...>{data}<output><port id="0"/></output></layer>'
    assert shapes(load(tmp_path, text)) == [["[...]"]]
    text = '<layer type="Einsum" ... ><data equation="a...->...a" .../></layer>'
    assert load(tmp_path, text).layers[0].attributes == {"equation": "a...->...a"}


# faults of writing that have one repair; they are reported at `»`
RELU, CLAMP = '<layer type="ReLU">\n', '<layer type="Clamp">\n'
PORT = '\n    <port id="0"><dim>2'
OPEN = '\n    »<port id="0"><dim>2</dim>'
CLOSED = '\n    »<port id="0"/>\n      <dim>2</dim>'
END = f"\n  <output>{OUT}</output>\n</layer>"
REST = f"\n  <input>{IN}</input>{END}"
MISWRITTEN = {
    "input not closed": f"{RELU}  »<input>{IN}{END}",
    "output not closed": f"{RELU}  <input>{IN}</input>\n  »<output>{OUT}\n</layer>",
    "layer not closed": f"»{RELU}  <input>{IN}</input>\n  <output>{OUT}</output>\n",
    "data not closed": f'{CLAMP}  »<data min="0" max="1">{REST}',
    "value without quotes": f'{CLAMP}  <data »min=0 max="1"/>{REST}',
    "port closes itself": f"{RELU}  <input>{CLOSED}<dim>3</dim></port></input>{END}",
    "port closes itself and is not closed": f"{RELU}  <input>{CLOSED}<dim>3</dim></input>{END}",
    "end of dim without <": f"{RELU}  <input>{PORT}»/dim><dim>3</dim></port></input>{END}",
    "dim within dim": f"{RELU}  <input>{PORT}<dim>3</dim></port></input>{END}",
    "dim not closed": f"{RELU}  <input>{PORT}</dim>»<dim>3</port></input>{END}",
    "port not closed": f"{RELU}  <input>{OPEN}<dim>3</dim>\n  </input>{END}",
    "stray end": f"{RELU}  <input>{IN}</input>»</input>{END}",
    "end of nothing": f"{RELU}  »</><input>{IN}</input>\n  <output>{OUT}</output>\n</layer>\n</>",
    "name left out": f'»<... type="ReLU" ...>{REST}',
    "a second output": f"{RELU}  <input>{IN}</input>\n  <output>\n</output>\n  »{END[3:]}",
    "a second input inside the first": f"{RELU}  <input>\n  »<input>{IN}</input>{END}",
    "attributes behind data": f'{CLAMP}  »<data>min="0" max="1"</data>{REST}',
    "name left out by one sign": f'»<… type="ReLU">{REST}',
}


@pytest.mark.parametrize("fault", MISWRITTEN)
def test_what_is_clear_is_repaired_and_reported(fault: str, tmp_path: Path) -> None:
    text = MISWRITTEN[fault]
    report = validated(tmp_path, text.replace("»", ""))
    assert {found.code for found in report.diagnostics} == {"IR007"}
    assert all(
        found.severity == "error" and found.layer and found.layer["type"]
        for found in report.diagnostics
    )
    before, mark, _ = text.partition("»")
    if mark:
        place = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
        assert (report.diagnostics[0].line, report.diagnostics[0].column) == place
    assert shapes(irshape.load(report.path)) == [["[2,3]"]]


def test_an_input_for_each_port_is_one_input(tmp_path: Path) -> None:
    text = f"""<layer type="Squeeze" ...>
    <input>{ports("1,3,1,2")}</input>
    <!-- the axes -->
    <input>
        <port id="1"><dim>2</dim> <!-- value [0, 2] --></port>
    </input>
    <output>{ports("3,3", first=2)}</output>
</layer>"""
    report = validated(tmp_path, text)
    assert kept(report) == [("IR007", 4, 5), ("IR201", 7, 13)]
    assert shapes(irshape.load(report.path)) == [["[3,2]"]]
    text = text.replace("<!-- the axes -->", "<data/>")  # something between: not one list of ports
    assert ("IR010", 4, 5) in kept(validated(tmp_path, text))


def test_attributes_behind_data_are_attributes(tmp_path: Path) -> None:
    text = (
        '<layer ... type="Parameter" ...>\n<data>element_type="f32" shape="1,3"</data>\n'
        '<output><port id="0"><dim>1</dim><dim>4</dim></port></output></layer>'
    )
    report = validated(tmp_path, text)
    assert kept(report) == [("IR007", 2, 1), ("IR201", 3, 9)]
    assert irshape.load(report.path).layers[0].attributes == {"element_type": "f32", "shape": "1,3"}


def test_places_behind_a_repair_are_exact(tmp_path: Path) -> None:
    """What is put in takes no place in the file."""
    text = f"""<... type="Clamp" ...>
    <data min=0 max=1 banana="1">
    <input>{IN}
    <output>
        <port id="1"><dim>2</dim><dim>7</dim></port>
    </output>
<layer id="2" type="ReLU" ...>
    <data apple=1 />
    <input>{IN}
    <output>
        <port id="1" /><dim>2</dim><dim>8</dim>
    </output>
    <layer type="Reluu" ...>
</layer>"""
    report = validated(tmp_path, text)
    assert " ".join(f"{code}:{line}:{column}" for code, line, column in kept(report)) == (
        "IR007:1:1 IR007:1:1 IR007:2:5 IR007:2:11 IR007:2:17 IR301:2:23 IR007:3:5 IR201:5:9 "
        "IR007:7:1 IR007:8:11 IR301:8:11 IR007:9:5 IR201:11:9 IR007:11:9 IR007:11:9 IR602:13:12"
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            '<layer type="ReLU">\n  <input><port id="0></port></input>'
            '<output><port id="1"/></output></layer>',
            (2, 29),
        ),
        ('<layer type="ReLU" type="Clamp">\n</layer>', (1, 20)),
        ('<layer id type="ReLU">\n</layer>', (1, 11)),
        ('<layer type="ReLU">\n  <!-- open', (2, 3)),
        ('<layer type="ReLU">\n &nothing; </layer>', (2, 2)),
        ('<layer type="ReLU"', (1, 19)),
    ],
)
def test_what_is_not_clear_is_refused_with_its_place(
    text: str, place: tuple[int, int], tmp_path: Path
) -> None:
    report = validated(tmp_path, text)
    assert kept(report) == [("IR001", *place)]
    with pytest.raises(irshape.LoadError):
        irshape.load(report.path)


def test_ports_that_are_left_out(tmp_path: Path) -> None:
    """Nothing is said of ports that are not there; attributes are checked all the same."""
    text = """<layer ... type="SoftMax" ... >
<data axis="1" banana="2"/>
<input> ... </input>
<output> … </output>
</layer>"""
    report = validated(tmp_path, text)
    assert kept(report) == [("IR301", 2, 16), ("IR008", 3, 9), ("IR008", 4, 10)]


def test_dimensions_that_are_left_out(tmp_path: Path) -> None:
    for inside in ("...", "<dim>...</dim>", "<dim>2</dim> ... <dim>3</dim>", "<dim>…</dim>"):
        text = (
            f'<layer type="ReLU" ...><input><port id="0">{inside}</port></input><output>'
            f"{OUT}</output></layer>"
        )
        model = load(tmp_path, text)
        assert shapes(model) == [["[...]"]]
        assert {found.severity for found in model.findings} <= {"warning"}


def test_a_layer_without_type(tmp_path: Path) -> None:
    assert ("IR102", 1, 1) in kept(validated(tmp_path, layer('id="3"', "2,3", "2,3")))


def test_single_layers_are_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "latin.xml"
    path.write_bytes(layer('name="größe" type="ReLU"', "2,3", "2,3").encode("latin-1"))
    assert [one.code for one in irshape.validate(path).files[0].diagnostics] == ["IR001"]


# from outside


MEAN = REDUCTION.replace("{comment}", "")
FUTURE = MEAN.replace("type=", 'version="opset99" type=')


@pytest.mark.parametrize(
    ("arguments", "text", "status", "said"),
    [
        ([], MEAN, 0, "1 layer"),
        ([], MEAN * 3, 0, "3 layers"),
        (["--value", "1=[0,2]"], MEAN, 0, ""),
        (["--value", "1=[0, -1]"], MEAN, 0, ""),
        (["--value", "1=[0,1]"], MEAN, 1, "<stdin>:14:9: error[IR201]"),
        (["--value", "1=[1,1]"], MEAN, 1, "IR4"),
        (["--value", "1=[0,1,2]"], MEAN, 1, "IR207"),
        (["--value", "1=[0,2.5]"], MEAN, 1, "IR207"),
        (["--value", "1=[0,7]"], MEAN, 1, "IR4"),
        (["--value", "7=[0]"], MEAN, 2, "an input '7'"),
        (["--value", "axes=[0,2]"], MEAN, 0, ""),
        (["--value", "axes=[0,1]"], MEAN, 1, "<stdin>:14:9: error[IR201]"),
        (["--value", "axis=[0,1]"], MEAN, 2, "(inputs: data, axes); did you mean 'axes'?"),
        (["--value", "axes=[0]"], MEAN.replace("Mean", "Meen"), 2, "'axes' (inputs: 0, 1)"),
        (["--value", "axes=[0]"], FUTURE, 2, "opset99"),
        (["--value", "1=zero"], MEAN, 2, "'zero' is not a value"),
        (["--value", "1"], MEAN, 2, "INPUT=VALUE"),
        (
            ["--value", "1=[0]"],
            '<net name="m" version="11"><layers/><edges/></net>',
            2,
            "single layers",
        ),
        ([], MEAN.replace("keep_dims", "keepdims"), 1, "<stdin>:2:11"),
        ([], MEAN + MEAN.replace("ReduceMean", "ReduceMeen"), 1, "<stdin>:21:15: error[IR602]"),
        ([], MEAN.replace("</layer>", ""), 1, "<stdin>:1:1: error[IR007]"),
        ([], MEAN.replace('type="ReduceMean', 'type="ReduceMean" type="'), 1, "IR001"),
        ([], "", 1, "IR003"),
        ([], "<layers>" + MEAN + "</layers>", 1, "IR003"),
    ],
)
def test_validate_on_standard_input(
    arguments: list[str], text: str, status: int, said: str
) -> None:
    found, output = call("validate", "--fail-level", "warning", "-", *arguments, stdin=text)
    assert (found, said in output) == (status, True), output


def test_a_value_is_given_to_every_file_or_refused(tmp_path: Path) -> None:
    paths = []
    for name, text in (("a", MEAN), ("b", MEAN), ("c", "<net")):
        paths.append(str(tmp_path / f"{name}.xml"))
        Path(paths[-1]).write_text(text)
    for jobs in ("1", "2"):
        given = ("--jobs", jobs, "-f", "concise")
        status, output = call("validate", *given, "--value", "axes=[0,1]", *paths)
        assert (status, output.count("IR201"), output.count("IR001")) == (1, 2, 1)
        status, output = call("validate", *given, "--value", "9=[0]", *paths)
        assert (status, "an input '9'" in output) == (2, True)


@pytest.mark.parametrize("value", ["1=[0,1,2]", "axes=1", "axes=[]"])
def test_a_value_of_another_size_is_refused(value: str) -> None:
    status, output = call("infer", "-", "--value", value, stdin=MEAN)
    assert (status, "has 2 elements" in output) == (2, True)
    name, _, text = value.partition("=")
    with pytest.raises(ValueError, match="has 2 elements"):
        irshape.loads(MEAN, values={name: json.loads(text)})


def test_infer_on_standard_input() -> None:
    status, output = call("infer", "-", "--value", "1=[0,2]", "--format", "json", stdin=MEAN)
    assert status == 0
    assert json.loads(output)["layers"][0]["outputs"] == [
        {"port": "2", "element_type": "dynamic", "shape": "[1,5,1]"}
    ]


# the walk itself


def test_origin_is_the_inverse_of_what_was_put_in() -> None:
    data = f'<... type="Clamp" ...><data min=0 max=1><input>{IN}<output>{OUT}</output>'.encode()
    repaired = Repaired(data)
    text, plain = repaired.edited.data, bytes(repaired.plain)
    assert len(plain) == len(data)
    inserted = 0
    for at, byte in enumerate(text):
        origin = repaired.edited.origin(at)
        if (
            origin < len(plain)
            and plain[origin] == byte
            and (at + 1 == len(text) or repaired.edited.origin(at + 1) == origin + 1)
        ):
            continue
        inserted += 1
    assert inserted == sum(len(piece) for _, piece in repaired.put) == len(text) - len(data)
    assert repaired.edited.origin(len(text)) == len(data)


@pytest.mark.parametrize(
    "data",
    [
        b"<!--" * 50_000,
        b"<layer " + b"a" * 250_000,
        b"<layer " + b"a " * 125_000 + b">",
        b"<layer " + b'"' * 250_000 + b">",
        b"<layer><input>" + b"<port>" * 25_000,
        b"<a>" * 50_000,
        b"<layer>" + b"</port>" * 25_000,
        b"<layer>" + b"<body><layers><layer>" * 12_500,
        b"<layer><input><port/>" + b"<!-- [1] -->" * 25_000,
        b"<layer><input><port/>" + b"<!-- [1 -->" * 12_500,
        b"<layer>" + b"/dim>" * 50_000,
        b"<layer><input><port><!-- " + b"[" * 50_000 + b" --></port>",
        b"<layer><input><port><!-- " + b"[1, " * 12_500 + b" --></port>",
        b"<layer><input><port><!-- value " + b"a" * 50_000 + b" --></port>",
        b"<layer><input><port><!-- " + b"1, " * 50_000 + b" --></port>",
        b"<layer><input><port><!-- " + b"1 " * 50_000 + b" --></port>",
        b"<layer><input><port><!-- elements " + b"1," * 50_000 + b"x --></port>",
        b"<!---->" * 2_250 + b"<1",
    ],
    ids=lambda data: data[:40].decode(),
)  # fmt: skip
def test_hostile_texts_take_no_time(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "hostile.xml"
    path.write_bytes(data)
    report = irshape.validate(path)
    assert report.count("error")
    assert sys.getrecursionlimit() >= 1000
