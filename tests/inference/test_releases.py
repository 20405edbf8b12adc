"""What older OpenVINO releases refuse, ignore, do not run, or infer otherwise: an IR a fact."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net

import irshape
from irshape.releases import MINOR_RELEASES, parse_release

ROOT = Path(__file__).resolve().parents[2]
Build = Callable[[], Net]


def layer(
    type: str,
    version: str,
    shapes: list[str],
    attributes: str = "",
    *,
    types: list[str] | None = None,
    constants: dict[int, list[int] | int] | None = None,
    outputs: int = 1,
) -> Build:
    """A layer between inputs of these shapes; `constants` replaces some inputs by constants."""

    def build() -> Net:
        net = Net()
        inputs = []
        for index, shape in enumerate(shapes):
            if constants and index in constants:
                inputs.append(net.constant(constants[index]))
            else:
                inputs.append(net.parameter(shape, types[index] if types else "f32"))
        made = net.layer(type, inputs, attributes, version=version, outputs=["FP32"] * outputs)
        for port in range(outputs):
            net.result(f"{made}:{port}")
        return net

    return build


def unique_elements() -> Net:
    """The first output alone; the older and the newer releases run it."""
    net = Net()
    outputs = ["FP32", "I64", "I64", "I64"]
    elements = [net.parameter("4")]
    unique = net.layer("Unique", elements, 'sorted="false"', version="opset10", outputs=outputs)
    net.result(f"{unique}:0")
    return net


def flattened() -> Net:
    """`[?,12,16]` to `[?,16]`, the first of which is the product of the two sizes."""
    net = Net()
    data, axis = net.parameter("?,12,16"), net.constant(0)
    sizes = net.layer("ShapeOf", [data], 'output_type="i64"', version="opset3", outputs=["I64:3"])
    leading, last = (
        net.layer("Gather", [sizes, at, axis], version="opset8", outputs=[f"I64:{count}"])
        for at, count in ((net.constant([0, 1]), 2), (net.constant([2]), 1))
    )
    product = net.layer(
        "ReduceProd", [leading, net.constant([0])], 'keep_dims="true"', outputs=["I64:1"]
    )
    shape = net.layer("Concat", [product, last], 'axis="0"', outputs=["I64:2"])
    reshaped = net.layer("Reshape", [data, shape], 'special_zero="false"', outputs=["FP32:-1,16"])
    net.result(reshaped)
    return net


def padded(net: Net) -> str:
    """The text with a comment that takes it past the first bytes that readers look at."""
    return net.text() + "<!-- " + "x" * 600 + " -->\n"


def saved(folder: Path, net: Net) -> Path:
    path = net.save(folder)
    path.write_text(padded(net))
    return path


def padded_with(element_type: str, version: str, *, value: bool = False) -> Build:
    """A Pad of elements of a type."""
    shapes = ["3,4", "2", "2", *([""] if value else [])]
    types = [element_type, "i64", "i64", *([element_type] if value else [])]
    constants: dict[int, list[int] | int] = {1: [1, 0], 2: [0, 2]}
    return layer("Pad", version, shapes, 'pad_mode="constant"', types=types, constants=constants)


MATMUL = 'equation="ab,bc->ac"'
POOL = 'strides="1,1" pads_begin="0,0" pads_end="0,0" kernel="2,2" exclude-pad="false"'
NMS = 'sort_result_type="none" output_type="i64" nms_top_k="3" keep_top_k="2"'
QUERY = ["1,4,3,8"] * 3


class Case(NamedTuple):
    name: str
    build: Build
    oldest: str
    """The first release that reads it."""


CASES = [
    Case("an input without dimensions of 0", layer("ReLU", "opset1", ["2,3"]), "2022.1"),
    Case("a dimension of 0", layer("ReLU", "opset1", ["0,3"]), "2023.2"),
    Case("a negative bound", layer("ReLU", "opset1", ["-1..3"]), "2026.3"),
    Case("a bound of -2", layer("ReLU", "opset1", ["-2,3"]), "2026.3"),
    Case("-1 alone", layer("ReLU", "opset1", ["-1,3"]), "2022.1"),
    Case("opset13 early", layer("ReLU", "opset13", ["2"]), "2023.2"),
    Case("attention", layer("ScaledDotProductAttention", "opset13", QUERY), "2023.3"),
    Case(
        "a mask that fits",
        layer("ScaledDotProductAttention", "opset13", [*QUERY, "3,3"], 'causal="false"'),
        "2023.3",
    ),
    Case(
        "a mask longer than the query",
        layer(
            "ScaledDotProductAttention",
            "opset13",
            ["1,4,1,8", "1,4,9,8", "1,4,9,8", "7,9"],
            'causal="false"',
        ),
        "2024.3",
    ),
    Case(
        "a mask that a causal attention ignores",
        layer(
            "ScaledDotProductAttention",
            "opset13",
            ["1,4,1,8", "1,4,9,8", "1,4,9,8", "7,9"],
            'causal="true"',
        ),
        "2023.3",
    ),
    Case("Identity", layer("Identity", "opset16", ["2"]), "2025.0"),
    Case("opset16 as a whole", layer("ReLU", "opset16", ["2"]), "2026.0"),
    Case("opset15 as a whole", layer("ReLU", "opset15", ["2"]), "2024.5"),
    Case(
        "ceil", layer("AvgPool", "opset14", ["1,1,4,4"], POOL + ' rounding_type="ceil"'), "2024.0"
    ),
    Case(
        "ceil_torch",
        layer("AvgPool", "opset14", ["1,1,4,4"], POOL + ' rounding_type="ceil_torch"'),
        "2024.1",
    ),
    Case(
        "a skipped axis of a scalar",
        layer("Squeeze", "opset15", ["", ""], 'allow_axis_skip="true"', constants={1: [1]}),
        "2026.1",
    ),
    Case(
        "axis 0 of a scalar",
        layer("Squeeze", "opset15", ["", ""], 'allow_axis_skip="true"', constants={1: [0]}),
        "2024.5",
    ),
    Case("an axis of 3", layer("Squeeze", "opset1", ["2,3", ""], constants={1: [1]}), "2024.3"),
    Case("an axis of 1", layer("Squeeze", "opset1", ["2,1", ""], constants={1: [1]}), "2022.1"),
    Case(
        "pads of unknown length",
        layer(
            "Pad",
            "opset1",
            ["2,3", "2", "?", ""],
            'pad_mode="constant"',
            types=["f32", "i64", "i64", "f32"],
        ),
        "2025.4",
    ),
    Case(
        "pads of known length",
        layer(
            "Pad",
            "opset1",
            ["2,3", "2", "2", ""],
            'pad_mode="constant"',
            types=["f32", "i64", "i64", "f32"],
        ),
        "2022.1",
    ),
    Case(
        "boxes with an interval",
        layer("MulticlassNms", "opset8", ["2,7,3..4", "2,5,7"], NMS, outputs=3),
        "2023.1",
    ),
    Case(
        "boxes of four numbers",
        layer("MulticlassNms", "opset8", ["2,7,4", "2,5,7"], NMS, outputs=3),
        "2022.1",
    ),
    Case("a label of 1 and 5", layer("Einsum", "opset7", ["2,1", "5,3"], MATMUL), "2025.1"),
    Case("a label of 5", layer("Einsum", "opset7", ["2,5", "5,3"], MATMUL), "2022.1"),
    Case(
        "an ellipsis of any rank",
        layer("Einsum", "opset7", ["2,5", "..."], 'equation="a...,...->a..."'),
        "2025.1",
    ),
    Case(
        "an ellipsis that the output lacks",
        layer("Einsum", "opset7", ["2,5", "2"], 'equation="a...,a->a"'),
        "2025.1",
    ),
    Case(
        "an ellipsis for no axis",
        layer("Einsum", "opset7", ["2", "2"], 'equation="a...,a->a..."'),
        "2025.1",
    ),
    Case(
        "an ellipsis only in the output",
        layer("Einsum", "opset7", ["2"], 'equation="a->..."'),
        "2025.1",
    ),
    Case(
        "a type in capitals",
        layer("FakeConvert", "opset13", ["2,3", "1"], 'destination_type="F8E4M3"'),
        "2024.0",
    ),
    Case(
        "an ellipsis that no output is written for",
        layer("Einsum", "opset7", ["2,5", "2"], 'equation="a...,a"'),
        "2022.1",
    ),
    Case("a scalar last", layer("Einsum", "opset7", ["3", ""], 'equation="a,->a"'), "2025.2"),
    Case("a scalar first", layer("Einsum", "opset7", ["", "3"], 'equation=",a->a"'), "2022.1"),
    Case("a softmax of a scalar", layer("SoftMax", "opset8", [""], 'axis="0"'), "2026.1"),
    Case("a softmax of any rank", layer("SoftMax", "opset8", ["..."], 'axis="0"'), "2022.1"),
    Case(
        "a mask with one row for all queries",
        layer("ScaledDotProductAttention", "opset13", [*QUERY, "1,3"], 'causal="false"'),
        "2024.3",
    ),
    Case(
        "a mask with one column for all keys",
        layer("ScaledDotProductAttention", "opset13", [*QUERY, "3,1"], 'causal="false"'),
        "2024.3",
    ),
    Case(
        "a resize of f64",
        layer(
            "Interpolate",
            "opset11",
            ["1,1,5,4", "2", "2"],
            'mode="linear" shape_calculation_mode="sizes"',
            types=["f64", "i64", "i64"],
            constants={1: [3, 7], 2: [2, 3]},
        ),
        "2026.3",
    ),
    Case("u3 without a value", padded_with("u3", "opset1"), "2024.2"),
    Case("u4 without a value", padded_with("u4", "opset1"), "2022.1"),
    Case("f8e8m0 without a value", padded_with("f8e8m0", "opset1"), "2026.0"),
    Case("strings without a value", padded_with("string", "opset12"), "2026.2"),
    Case("strings with a value", padded_with("string", "opset12", value=True), "2023.3"),
    Case(
        "prior boxes of size -1",
        layer(
            "PriorBox",
            "opset1",
            ["2", "2"],
            'offset="0.5" min_size="16" variance="0.1" step="16"',
            constants={0: [-1, 3], 1: [32, 48]},
        ),
        "2023.1",
    ),
    Case(
        "an ellipsis of a StridedSlice for no axis",
        layer(
            "StridedSlice",
            "opset1",
            ["2,3", "3", "3"],
            'begin_mask="0,0,0" end_mask="0,0,0" ellipsis_mask="0,1,0"',
            constants={1: [0, 0, 1], 2: [1, 0, 2]},
        ),
        "2024.0",
    ),
    Case(
        "sizes of a ROIPooling as output_roi",
        layer("ROIPooling", "opset2", ["2,3,9,8", "6,5"], 'output_roi="4,5" spatial_scale="0.5"'),
        "2023.3",
    ),
    Case(
        "sizes of a ROIPooling one by one",
        layer(
            "ROIPooling",
            "opset2",
            ["2,3,9,8", "6,5"],
            'pooled_h="4" pooled_w="5" spatial_scale="0.5"',
        ),
        "2022.1",
    ),
    Case("no type of a conversion", layer("Convert", "opset1", ["2"]), "2025.0"),
    Case(
        "a Broadcast that aligns at the end",
        layer(
            "Broadcast",
            "opset3",
            ["3,1,2", ""],
            'mode="pdpd" mode.mode.axis="-1"',
            constants={1: [3, 5, 2]},
        ),
        "2023.1",
    ),
    Case(
        "FakeConvert to f8",
        layer("FakeConvert", "opset13", ["2,3", "1"], 'destination_type="f8e4m3"'),
        "2023.3",
    ),
    Case("RNNCell of opset2", layer("RNNCell", "opset2", ["1,2"] * 5), "never"),
    Case(
        "ShuffleChannels of opset2",
        layer("ShuffleChannels", "opset2", ["1,4,2,2"], 'axis="1" group="2"'),
        "never",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_first_release_that_reads(tmp_path: Path, case: Case) -> None:
    answer = irshape.requires(saved(tmp_path, case.build()))
    releases = [
        f"{year}.{minor}"
        for year, (first, last) in MINOR_RELEASES.items()
        for minor in range(first, last + 1)
    ]
    reading = [release for release in releases if answer.reads(release)]
    if case.oldest == "never":
        assert reading == []
    else:
        assert reading[:1] == [case.oldest] == [answer.release]
        assert reading == releases[releases.index(case.oldest) :]


def test_what_stands_in_the_first_bytes_of_the_file(tmp_path: Path) -> None:
    net = Net()
    net.result(net.constant(1))
    short = net.save(tmp_path, "short")
    assert len(short.read_bytes()) <= 513
    late = tmp_path / "late.xml"
    late.write_text(short.read_text().replace("<net name", f"<!--{'x' * 600}--><net name"))
    long = tmp_path / "long.xml"
    long.write_text(padded(net))
    assert [irshape.requires(path).release for path in (short, late, long)] == [
        "2024.5",
        "2024.5",
        "2022.1",
    ]


def named(*names: str) -> Net:
    """A Parameter, a layer behind each other, and a Result, with these names."""
    net = Net()
    made = net.parameter("2,3", name=names[0])
    for name in names[1:-1]:
        made = net.layer("ReLU", [made], name=name)
    net.result(made, name=names[-1])
    return net


class Named(NamedTuple):
    id: str
    names: tuple[str, ...]
    release: str
    """The first release that reads it."""


@pytest.mark.parametrize(
    "row",
    [
        Named("all differ", ("x", "a", "b", "y"), "2022.1"),
        Named("two layers", ("x", "a", "a", "y"), "2024.1"),
        Named("an input and a layer", ("x", "x", "b", "y"), "2024.1"),
        Named("a Result behind the layer", ("x", "a", "b", "a"), "2022.1"),
    ],
    ids=lambda row: row.id,
)
def test_layers_of_one_name(tmp_path: Path, row: Named) -> None:
    """Measured with releases from 2023.0 on: those before 2024.1 say "name is not unique"."""
    assert irshape.requires(saved(tmp_path, named(*row.names))).release == row.release


def test_a_layer_of_one_name_in_a_body(tmp_path: Path) -> None:
    """Each body has names of its own."""
    text = (ROOT / "examples" / "control_flow.xml").read_text()
    body = text.index("<body>")
    first, second = re.findall(r'name="([^"]+)" type="(?!Result)', text[body:])[:2]
    outer = re.findall(r'name="([^"]+)" type="', text[:body])[0]
    path = tmp_path / "control_flow.xml"
    path.with_suffix(".bin").write_bytes((ROOT / "examples" / "control_flow.bin").read_bytes())
    for other, needs in ((first, True), (outer, False)):
        path.write_text(text[:body] + text[body:].replace(f'"{second}"', f'"{other}"', 1))
        reasons = irshape.requires(path).to_dict()["reasons"]
        assert any("the name of one" in each["reason"] for each in reasons) is needs


@pytest.mark.parametrize(
    ("version", "first", "second", "release"),
    [
        ("10", "a", "b", "2020.1"),
        ("10", "a", "a", "2025.1"),
        ("10", "a,c", "b,c", "2025.1"),
        ("11", "a", "a", "2022.1"),
    ],
)
def test_tensor_names_of_inputs(
    tmp_path: Path, version: str, first: str, second: str, release: str
) -> None:
    """Measured with releases from 2023.0 on: those before 2025.1 say "names have collisions"."""
    net = Net()
    net.result(net.layer("Add", [net.parameter("2", name="x"), net.parameter("2", name="z")]))
    text = padded(net).replace('names="x"', f'names="{first}"')
    text = text.replace('names="z"', f'names="{second}"').replace("11", version, 1)
    path = tmp_path / "m.xml"
    path.write_text(text)
    assert irshape.requires(path).release == release


class Tokenizer(NamedTuple):
    """What OpenVINO and openvino-tokenizers of one release did with a file."""

    file: str
    removed: str
    """The type of a layer that is bypassed first."""
    reads: str
    """The first release that reads the file; the one before, here, refuses it."""
    runs: str
    before: str


TOKENIZERS = [
    Tokenizer("bpe_tokenizer", "", "2025.2", "2025.2", "2025.1"),
    Tokenizer("unigram_tokenizer", "", "2025.2", "2025.2", "2025.1"),
    Tokenizer("unigram_tokenizer", "Truncate", "2025.1", "2025.1", "2025.0"),
    Tokenizer("wordpiece_tokenizer", "Truncate", "2025.1", "2025.1", "2025.0"),
    Tokenizer("bpe_detokenizer", "", "2024.4", "2025.0", "2024.3"),
]


@pytest.mark.parametrize("case", TOKENIZERS, ids=lambda case: f"{case.file}-{case.removed}")
def test_a_tokenizer_needs_the_library_of_the_same_release(case: Tokenizer) -> None:
    graph = irshape.Graph.load(ROOT / "tests" / "tokenizers" / f"{case.file}.xml")
    for layer in [each for each in graph if each.type == case.removed]:
        for output, end in zip(layer.outputs, layer.inputs, strict=False):
            graph.replace_uses(output, end.source)
    graph.clean()
    answer = irshape.requires(graph.model())
    assert (answer.release, answer.reads(case.reads)) == (case.reads, True)
    assert not answer.reads(case.before)

    def codes(target: str) -> set[str]:
        configuration = irshape.Configuration(
            target=parse_release(target), select=("IR605", "IR607")
        )
        report = irshape.validate(graph.model(), config=configuration)
        return {diagnostic.code for diagnostic in report.diagnostics}

    assert "IR605" in codes(case.before)
    assert ("IR607" in codes(case.reads)) == (case.reads != case.runs)
    assert not {"IR605", "IR607"} & codes(case.runs)


def test_a_release_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    answer = irshape.requires(saved(tmp_path, CASES[0].build()))
    with pytest.raises(ValueError, match=r"there is no OpenVINO release '2024\.9'"):
        answer.reads("2024.9")
    with pytest.raises(ValueError, match="not an OpenVINO release"):
        answer.reads("newest")


class Told(NamedTuple):
    name: str
    build: Build
    code: str
    first: str
    """The first target under which the rule reports the layer; that before does not read it."""
    last: str
    """The last one."""
    after: str
    """The first target under which it does not."""


TOLD = [
    Told(
        "a sink",
        layer(
            "ScaledDotProductAttention", "opset13", [*QUERY, "3,3", "", "1,4,3,1"], 'causal="false"'
        ),
        "IR606",
        "2023.3",
        "2025.3",
        "2025.4",
    ),
    Told(
        "an alignment that is ignored",
        layer(
            "RandomUniform",
            "opset8",
            ["", "", ""],
            'output_type="f32" global_seed="1" op_seed="2" alignment="pytorch"',
            constants={0: [2], 1: 0, 2: 1},
        ),
        "IR606",
        "2023.0",
        "2024.2",
        "2024.3",
    ),
    Told(
        "an alignment that does not run",
        layer(
            "RandomUniform",
            "opset8",
            ["", "", ""],
            'output_type="f32" global_seed="1" op_seed="2" alignment="pytorch"',
            constants={0: [2], 1: 0, 2: 1},
        ),
        "IR607",
        "2024.3",
        "2024.6",
        "2025.0",
    ),
    Told(
        "a dimension of 0", layer("ReLU", "opset1", ["0,3"]), "IR607", "2023.2", "2023.2", "2023.3"
    ),
    Told(
        "AvgPool-14",
        layer("AvgPool", "opset14", ["1,1,4,4"], POOL + ' rounding_type="ceil"'),
        "IR607",
        "2024.1",
        "2024.1",
        "2024.2",
    ),
    Told(
        "a GroupNormalization without spatial axes",
        layer("GroupNormalization", "opset12", ["2,4", "4", "4"], 'num_groups="2" epsilon="0.01"'),
        "IR607",
        "2023.1",
        "2024.0",
        "2024.1",
    ),
    Told("Identity-16", layer("Identity", "opset16", ["2"]), "IR607", "2025.0", "2025.3", "2025.4"),
    Told(
        "a reduction over one unknown axis",
        layer("ReduceSum", "opset1", ["3,4,5", "1"], 'keep_dims="false"', types=["f32", "i64"]),
        "IR608",
        "2023.0",
        "2024.0",
        "2024.1",
    ),
    Told(
        "a reduction over a scalar axis",
        layer("ReduceSum", "opset1", ["3,4,5", ""], 'keep_dims="false"', types=["f32", "i64"]),
        "IR608",
        "2023.0",
        "2024.0",
        "2024.1",
    ),
    Told(
        "unsorted unique elements without their places",
        unique_elements,
        "IR607",
        "2024.3",
        "2024.6",
        "2025.0",
    ),
    Told("a product of sizes", flattened, "IR608", "2023.0", "2023.1", "2023.2"),
    Told(
        "a Fourier transform over unknown axes",
        layer("DFT", "opset7", ["3,4,2", "2"], types=["f32", "i64"]),
        "IR608",
        "2023.0",
        "2023.1",
        "2023.2",
    ),
]


@pytest.mark.parametrize("told", TOLD, ids=[told.name for told in TOLD])
def test_what_a_target_does_otherwise(tmp_path: Path, told: Told) -> None:
    path = saved(tmp_path, told.build())

    def codes(target: str) -> set[str]:
        configuration = irshape.Configuration(
            target=parse_release(target), select=("IR605", "IR606", "IR607", "IR608")
        )
        report = irshape.validate(path, config=configuration)
        return {diagnostic.code for diagnostic in report.diagnostics}

    assert told.code in codes(told.first)
    assert told.code in codes(told.last)
    assert told.code not in codes(told.after)
    assert not {"IR606", "IR607", "IR608"} & codes("2026.4")
