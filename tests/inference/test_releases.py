"""What older OpenVINO releases refuse, ignore, do not run, or infer otherwise: an IR a fact."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import NamedTuple

import pytest
from calling import said
from ir import Net, read

import irshape
from irshape.releases import MINOR_RELEASES, parse_release

ROOT = Path(__file__).resolve().parents[2]


NAMED = {
    "NMS": "sort_result_type=none output_type=i64 nms_top_k=3 keep_top_k=2",
    "POOL": "strides=1,1 pads_begin=0,0 pads_end=0,0 kernel=2,2 exclude-pad=false",
    "QUERY": "f32[1,4,3,8] f32[1,4,3,8] f32[1,4,3,8]",
    "RANDOM": "output_type=f32 global_seed=1 op_seed=2 alignment=pytorch",
}


def rows(text: str) -> list[tuple[str, str]]:
    """What stands before a colon, and the layer behind it, on the same line or the next."""
    each = re.split(r"\n(?=\S)", Template(text).substitute(NAMED).strip())
    return [(head, layer) for head, _, layer in (row.partition(":") for row in each)]


def built(text: str) -> Net:
    """The layer of a text, and a Result for each of its outputs."""
    net = Net()
    made = net.add(text)
    (layer,) = read(text)
    for port in range(layer.outputs):
        net.result(f"{made}:{port}")
    return net


def unique_elements() -> Net:
    """The first output alone; the older and the newer releases run it."""
    net = Net()
    outputs = ["FP32", "I64", "I64", "I64"]
    elements = [net.parameter("4")]
    unique = net.layer("Unique", elements, 'sorted="false"', version="opset10", outputs=outputs)
    net.result(f"{unique}:0")
    return net


def padded(net: Net) -> str:
    """The text with a comment that takes it past the first bytes that readers look at."""
    return net.text() + "<!-- " + "x" * 600 + " -->\n"


def saved(folder: Path, net: Net) -> Path:
    path = net.save(folder)
    path.write_text(padded(net))
    return path


# the first release that reads a layer
CASES = rows("""
2022.1 an input without dimensions of 0: ReLU-1(f32[2,3])
2023.2 a dimension of 0: ReLU-1(f32[0,3])
2026.3 a negative bound: ReLU-1(f32[-1..3])
2026.3 a bound of -2: ReLU-1(f32[-2,3])
2022.1 -1 alone: ReLU-1(f32[-1,3])
2023.2 opset13 early: ReLU-13(f32[2])
2023.3 attention: ScaledDotProductAttention-13($QUERY)
2023.3 a mask that fits: ScaledDotProductAttention-13(causal=false $QUERY f32[3,3])
2024.3 a mask longer than the query:
    ScaledDotProductAttention-13(causal=false f32[1,4,1,8] f32[1,4,9,8] f32[1,4,9,8] f32[7,9])
2023.3 a mask that a causal attention ignores:
    ScaledDotProductAttention-13(causal=true f32[1,4,1,8] f32[1,4,9,8] f32[1,4,9,8] f32[7,9])
2025.0 Identity: Identity-16(f32[2])
2026.0 opset16 as a whole: ReLU-16(f32[2])
2024.5 opset15 as a whole: ReLU-15(f32[2])
2024.0 ceil: AvgPool-14($POOL rounding_type=ceil f32[1,1,4,4])
2024.1 ceil_torch: AvgPool-14($POOL rounding_type=ceil_torch f32[1,1,4,4])
2024.5 axis 0 of a scalar: Squeeze-15(allow_axis_skip=true f32[] i64{[0]})
2024.3 an axis of 3: Squeeze-1(f32[2,3] i64{[1]})
2022.1 an axis of 1: Squeeze-1(f32[2,1] i64{[1]})
2025.4 pads of unknown length: Pad-1(pad_mode=constant f32[2,3] i64[2] i64[?] f32[])
2022.1 pads of known length: Pad-1(pad_mode=constant f32[2,3] i64[2] i64[2] f32[])
2023.1 boxes with an interval: MulticlassNms-8:3($NMS f32[2,7,3..4] f32[2,5,7])
2022.1 boxes of four numbers: MulticlassNms-8:3($NMS f32[2,7,4] f32[2,5,7])
2025.1 a label of 1 and 5: Einsum-7(equation=ab,bc->ac f32[2,1] f32[5,3])
2022.1 a label of 5: Einsum-7(equation=ab,bc->ac f32[2,5] f32[5,3])
2025.1 an ellipsis of any rank: Einsum-7(equation=a...,...->a... f32[2,5] f32[...])
2025.1 an ellipsis that the output lacks: Einsum-7(equation=a...,a->a f32[2,5] f32[2])
2025.1 an ellipsis for no axis: Einsum-7(equation=a...,a->a... f32[2] f32[2])
2025.1 an ellipsis only in the output: Einsum-7(equation=a->... f32[2])
2022.1 an ellipsis that no output is written for: Einsum-7(equation=a...,a f32[2,5] f32[2])
2025.2 a scalar last: Einsum-7(equation=a,->a f32[3] f32[])
2022.1 a scalar first: Einsum-7(equation=,a->a f32[] f32[3])
2026.1 a softmax of a scalar: SoftMax-8(axis=0 f32[])
2022.1 a softmax of any rank: SoftMax-8(axis=0 f32[...])
2024.3 a mask with one row for all queries:
    ScaledDotProductAttention-13(causal=false $QUERY f32[1,3])
2024.3 a mask with one column for all keys:
    ScaledDotProductAttention-13(causal=false $QUERY f32[3,1])
2026.3 a resize of f64:
    Interpolate-11(mode=linear shape_calculation_mode=sizes f64[1,1,5,4] i64{[3, 7]} i64{[2, 3]})
2026.2 strings without a value: Pad-12(pad_mode=constant string[3,4] i64{[1, 0]} i64{[0, 2]})
2023.3 strings with a value: Pad-12(pad_mode=constant string[3,4] i64{[1, 0]} i64{[0, 2]} string[])
2024.0 an ellipsis of a StridedSlice for no axis:
    StridedSlice-1(begin_mask=0,0,0 end_mask=0,0,0 ellipsis_mask=0,1,0 f32[2,3]
    i64{[0, 0, 1]} i64{[1, 0, 2]})
2023.3 sizes of a ROIPooling as output_roi:
    ROIPooling-2(output_roi=4,5 spatial_scale=0.5 f32[2,3,9,8] f32[6,5])
2022.1 sizes of a ROIPooling one by one:
    ROIPooling-2(pooled_h=4 pooled_w=5 spatial_scale=0.5 f32[2,3,9,8] f32[6,5])
2025.0 no type of a conversion: Convert-1(f32[2])
2023.3 FakeConvert to f8: FakeConvert-13(destination_type=f8e4m3 f32[2,3] f32[1])
never RNNCell of opset2: RNNCell-2(f32[1,2] f32[1,2] f32[1,2] f32[1,2] f32[1,2])
never ShuffleChannels of opset2: ShuffleChannels-2(axis=1 group=2 f32[1,4,2,2])
""")


@pytest.mark.parametrize(("told", "layer"), CASES, ids=[told for told, _ in CASES])
def test_the_first_release_that_reads(tmp_path: Path, told: str, layer: str) -> None:
    oldest = told.partition(" ")[0]
    answer = irshape.requires(saved(tmp_path, built(layer)))
    releases = [
        f"{year}.{minor}"
        for year, (first, last) in MINOR_RELEASES.items()
        for minor in range(first, last + 1)
    ]
    reading = [release for release in releases if answer.reads(release)]
    if oldest == "never":
        assert reading == []
    else:
        assert reading[:1] == [oldest] == [answer.release]
        assert reading == releases[releases.index(oldest) :]


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


@pytest.mark.parametrize(
    ("names", "release"),
    [("x a b y", "2022.1"), ("x a a y", "2024.1"), ("x x b y", "2024.1"), ("x a b a", "2022.1")],
)
def test_layers_of_one_name(tmp_path: Path, names: str, release: str) -> None:
    """Measured with releases from 2023.0 on: those before 2024.1 say "name is not unique"."""
    assert irshape.requires(saved(tmp_path, named(*names.split()))).release == release


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
        assert any("an earlier layer" in each["reason"] for each in reasons) is needs


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


def reported(model: Path | irshape.Model, target: str, *rules: str) -> set[str]:
    configuration = irshape.Configuration(target=parse_release(target), select=rules)
    return {each.code for each in irshape.validate(model, config=configuration).diagnostics}


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

    model, rules = graph.model(), ("IR605", "IR607")
    assert "IR605" in reported(model, case.before, *rules)
    assert ("IR607" in reported(model, case.reads, *rules)) == (case.reads != case.runs)
    assert not {*rules} & reported(model, case.runs, *rules)


def test_a_release_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    answer = irshape.requires(saved(tmp_path, built(CASES[0][1])))
    with pytest.raises(ValueError, match=r"release '2024\.9'"):
        answer.reads("2024.9")
    with pytest.raises(ValueError, match="not an OpenVINO release"):
        answer.reads("newest")


# the code of a layer: the first target that reports it, the last one, and the first that does not
TOLD: list[tuple[str, str | Net]] = [
    *rows("""
IR606 2023.3 2025.3 2025.4 a sink:
    ScaledDotProductAttention-13(causal=false $QUERY f32[3,3] f32[] f32[1,4,3,1])
IR606 2023.0 2024.2 2024.3 an alignment that is ignored:
    RandomUniform-8($RANDOM i64{[2]} i64{0} i64{1})
IR607 2024.3 2024.6 2025.0 an alignment that does not run:
    RandomUniform-8($RANDOM i64{[2]} i64{0} i64{1})
IR607 2023.2 2023.2 2023.3 a dimension of 0: ReLU-1(f32[0,3])
IR607 2024.1 2024.1 2024.2 AvgPool-14: AvgPool-14($POOL rounding_type=ceil f32[1,1,4,4])
IR607 2025.0 2025.3 2025.4 Identity-16: Identity-16(f32[2])
IR608 2023.0 2024.0 2024.1 a reduction over one unknown axis:
    ReduceSum-1(keep_dims=false f32[3,4,5] i64[1])
IR608 2023.0 2024.0 2024.1 a reduction over a scalar axis:
    ReduceSum-1(keep_dims=false f32[3,4,5] i64[])
"""),
    ("IR607 2024.3 2024.6 2025.0 unsorted unique elements without their places", unique_elements()),
]


def test_another_shape_in_the_target_fails_no_gate(tmp_path: Path) -> None:
    path = saved(tmp_path, built("ReduceSum-1(keep_dims=false f32[3,4,5] i64[1])"))
    gate = ("--target", "2023.3", "--select", "IR608", "--fail-level", "warning")
    assert "IR608" in reported(path, "2023.3", "IR608")
    assert said("validate", str(path), *gate)[0] == 0
    assert '"ruleId"' not in said("validate", str(path), *gate, "--format", "sarif")[1]


@pytest.mark.parametrize(("told", "layer"), TOLD, ids=[told for told, _ in TOLD])
def test_what_a_target_does_otherwise(tmp_path: Path, told: str, layer: str | Net) -> None:
    code, first, last, after, *_ = told.split()
    path = saved(tmp_path, built(layer) if isinstance(layer, str) else layer)
    rules = ("IR605", "IR606", "IR607", "IR608")
    assert code in reported(path, first, *rules)
    assert code in reported(path, last, *rules)
    assert code not in reported(path, after, *rules)
    assert not {"IR606", "IR607", "IR608"} & reported(path, "2026.4", *rules)
