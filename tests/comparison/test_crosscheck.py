"""`irshape crosscheck`: both views of a difference, the layer to blame, and what is kept of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from calling import said
from ir import Net

import irshape
from irshape.comparison import runtime

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RECORDINGS = Path(__file__).parent / "recordings"


def chain(tmp_path: Path) -> irshape.Model:
    """x -> Exp -> Sin -> Multiply by 3 -> Result."""
    net = Net()
    x = net.parameter("2,3", name="x")
    grown = net.layer("Exp", [x], name="grow")
    turned = net.layer("Sin", [grown], name="turn")
    net.result(net.layer("Multiply", [turned, net.constant([3.0], "f32")], name="scale"))
    return net.load(tmp_path)


def falsified(monkeypatch: pytest.MonkeyPatch, *wrong: str, by: float = 0.5) -> None:
    """Lets the device say something else of some layers, in the whole model and alone."""
    asked = runtime.ask

    def ask(
        folder: Path, request: dict[str, object], timeout: float = runtime.TIMEOUT
    ) -> runtime.Answer:
        answer = asked(folder, request, timeout)
        for (name, _), (element_type, _, file) in answer.values.items():
            if name in wrong and element_type == "f32":
                file.write_bytes(
                    (np.frombuffer(file.read_bytes(), np.float32) + np.float32(by)).tobytes()
                )
        return answer

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)


def test_what_a_layer_inherits_is_not_blamed_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = chain(tmp_path)
    falsified(monkeypatch, "2")
    found = irshape.crosscheck(model)
    assert found.blamed is not None
    assert found.blamed.layer.name == "turn"
    states = {
        row.layer.name: (row.value_verdict, row.own_verdict)
        for row in found.rows
        if row.layer.type != "Parameter"
    }
    assert states["grow"] == ("equal", "equal")
    assert states["turn"] == ("differs", "differs")
    assert not found.ok
    monkeypatch.undo()
    assert irshape.crosscheck(model).ok


def test_the_blamed_layer_is_kept_as_a_model_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = chain(tmp_path)
    falsified(monkeypatch, "2")
    status, output = said("crosscheck", model.path, "--save", str(tmp_path / "kept"))
    assert status == 1
    assert "device's own inputs: Sin 'turn' (id 2)" in output
    monkeypatch.undo()
    kept = tmp_path / "kept" / "layer_2.xml"
    assert {path.name for path in kept.parent.iterdir()} == {
        f"layer_2.{end}" for end in ("xml", "bin", "input0.npy", "irshape0.npy", "device0.npy")
    }
    status, output = said("crosscheck", str(kept), "-f", "json", "-v")
    report = json.loads(output)
    assert (status, report["ok"]) == (0, True)
    fed = np.load(kept.parent / "layer_2.input0.npy")
    made = irshape.run(irshape.load(kept), [fed])
    np.testing.assert_array_equal(
        next(iter(made.values())), np.load(kept.parent / "layer_2.irshape0.npy")
    )
    status, output = said("run", str(kept), "-f", "json")
    assert status == 0
    assert json.loads(output)["outputs"][0]["shape"] == [2, 3]


# the types of layers that the device gets wrong wherever they stand, and what is blamed: in the
# model, in the body of that layer, in the body of that one …
INSIDE = [
    (("If", "MatMul"), [("10", "If"), ("3", "MatMul")]),
    (("Loop", "Multiply"), [("5", "Loop"), ("14", "Multiply")]),
    (("Loop", "Abs"), [("5", "Loop"), ("17", "Loop"), ("3", "Abs")]),
    (("Loop",), [("5", "Loop"), ("17", "Loop")]),
]


@pytest.mark.parametrize(
    ("wrong", "blamed"),
    INSIDE,
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_the_layer_inside_a_body_is_found(
    wrong: tuple[str, ...],
    blamed: list[tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = runtime.ask

    def ask(
        folder: Path, request: dict[str, object], timeout: float = runtime.TIMEOUT
    ) -> runtime.Answer:
        answer = asked(folder, request, timeout)
        types = {
            layer.get("id"): layer.get("type")
            for layer in ElementTree.parse(str(request["xml"])).iterfind("./layers/layer")
        }
        for (name, _), (element_type, _, file) in answer.values.items():
            if types.get(name) in wrong and element_type == "f32":
                file.write_bytes(
                    (np.frombuffer(file.read_bytes(), np.float32) + np.float32(0.5)).tobytes()
                )
        return answer

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)
    found = irshape.crosscheck(irshape.load(EXAMPLES / "control_flow.xml"), save=tmp_path)
    folder, seen, inside = tmp_path, [found.blamed], found.inside
    while inside is not None:
        seen.append(inside.blamed)
        if inside.blamed is not None:
            folder = folder / f"{inside.layer.id}_{inside.tag}"
            assert (folder / f"layer_{inside.blamed.layer.id}.xml").exists()
        inside = inside.comparison.inside
    assert [(row.layer.id, row.layer.type) for row in seen if row is not None] == blamed
    assert (seen[-1] is None) == (wrong == ("Loop",))
    status, output = said("crosscheck", str(EXAMPLES / "control_flow.xml"))
    assert status == 1
    assert ("every layer of its <body> agrees in the" in output) == (wrong == ("Loop",))
    assert "inside, in run 1 of the <" in output
    assert (
        json.loads(said("crosscheck", str(EXAMPLES / "control_flow.xml"), "-f", "json")[1])[
            "inside"
        ]["blamed"]["id"]
        == blamed[1][0]
    )


def test_a_body_that_does_not_run_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    falsified(monkeypatch, "5")
    path = str(EXAMPLES / "control_flow.xml")
    status, output = said("crosscheck", path, "-i", "extra_trips=-2")
    assert (status, "<body> agrees" in output) == (1, False)
    assert "nothing inside Loop 'nested' (id 5)" in output
    rows = json.loads(
        said("run", path, "--random", "-i", "extra_trips=-2", "--stats", "-f", "json")[1]
    )
    assert not any(row["layer"]["path"][:1] == ["5"] for row in rows["outputs"])


@pytest.mark.parametrize(
    "example", ["classifier", "encoder", "recurrent", "control_flow", "compressed", "decoder"]
)
def test_every_layer_can_be_cut_out(example: str, tmp_path: Path) -> None:
    from irshape.comparison.reproducer import cut, save
    from irshape.execution.inputs import random_inputs

    model = irshape.load(EXAMPLES / f"{example}.xml")
    seen: set[str] = set()

    def observe(
        layer: irshape.Layer, inputs: tuple[np.ndarray, ...], made: tuple[np.ndarray, ...]
    ) -> None:
        if layer.type in seen | {"Parameter", "Const", "Result", "ReadValue", "Assign"}:
            return
        seen.add(layer.type)
        path = save(cut(model, layer, inputs), tmp_path, {"irshape": made})
        alone = irshape.load(path)
        assert irshape.validate(path).ok, layer
        arrays = [
            np.load(path.with_suffix(f".input{number}.npy"))
            for number in range(len(alone.parameters))
        ]
        for given, wanted in zip(irshape.run(alone, arrays).values(), made, strict=True):
            np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-6)

    irshape.Session(model).run(random_inputs(model), observe=observe)
    assert len(seen) > 3


def test_reports_for_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = chain(tmp_path)
    falsified(monkeypatch, "2")
    status, output = said("crosscheck", model.path, "-f", "junit")
    suite = ElementTree.fromstring(output)
    assert (status, suite.get("failures")) == (
        1,
        "2",
    )  # the layer itself, and the output of the model
    status, output = said(
        "crosscheck", model.path, "-f", "json", "-o", str(tmp_path / "report.json")
    )
    report = json.loads((tmp_path / "report.json").read_text())
    assert (status, output, report["blamed"]["name"]) == (1, "", "turn")
    row = next(row for row in report["outputs"] if row["layer"]["name"] == "turn")
    assert row["errors"]["max_abs"] == pytest.approx(0.5, abs=1e-5)
    assert set(row["errors"]) == {
        "max_abs",
        "mean_abs",
        "max_rel",
        "mean_rel",
        "ulp",
        "cosine",
        "nan",
        "inf",
        "place",
        "reference",
        "other",
        "scale",
    }


@pytest.mark.parametrize("device", ["AUTO", "AUTO:CPU", "HETERO:CPU", "MULTI:CPU"])
def test_virtual_devices(device: str, tmp_path: Path) -> None:
    found = irshape.crosscheck(chain(tmp_path), device=device)
    assert found.ok, found.problems
    assert found.count("equal") == 3


@pytest.mark.parametrize("device", ["NOPE", "NPU:NOPE"])
def test_a_device_that_is_not_there(device: str, tmp_path: Path) -> None:
    status, output = said("crosscheck", chain(tmp_path).path, "--device", device)
    assert status == 1
    assert f"run the model on {device}" in output


def test_outputs_alone_and_tolerances(tmp_path: Path) -> None:
    model = chain(tmp_path)
    status, output = said("crosscheck", model.path, "--layers", "outputs", "-f", "json")
    compared = [
        row["layer"]["name"]
        for row in json.loads(output)["outputs"]
        if row["value_verdict"] != "not compared"
    ]
    assert (status, compared) == (0, ["scale"])
    assert (
        said("crosscheck", str(EXAMPLES / "classifier.xml"), "--rtol", "0", "--atol", "1e-12")[0]
        == 1
    )
    status, output = said("crosscheck", str(EXAMPLES / "classifier.xml"), "--worst", "3")
    assert status == 0
    assert "largest errors" in output


@pytest.mark.parametrize("example", ["encoder", "detector", "ir_v10", "decoder"])
@pytest.mark.parametrize("hint", ["f16", "bf16"])
def test_a_device_in_lower_precision_is_held_to_that(example: str, hint: str) -> None:
    """With whatever precision the device takes, rounding explains a detector's choices.

    Where ONEDNN_MAX_CPU_ISA is lower than the CPU, the plugin asks oneDNN for kernels that it has
    not, and cannot run the model at all.
    """
    status, output = said("crosscheck", str(EXAMPLES / f"{example}.xml"), "--hint", hint)
    assert status == 0 or ("ONEDNN_MAX_CPU_ISA" in os.environ and "cannot run" in output), output


def test_an_output_beyond_what_rounding_makes_of_it_departs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An early layer differs within bf16's tolerance; the output differs far beyond rounding.

    The device's answer is a recording, since not every CPU computes in bf16.
    """
    model = irshape.load(EXAMPLES / "encoder.xml")
    recording = RECORDINGS / "avx512_fp16_amx" / "encoder.bf16.npz"
    monkeypatch.setattr("irshape.comparison.crosscheck_run.SIMULATED_FACTOR", 0.0)
    monkeypatch.setattr(
        "irshape.numbers.tolerance.COMPUTED", {"f16": (1e-2, 3e-3), "bf16": (1e-2, 3e-3)}
    )
    found = irshape.crosscheck(model, replay=recording)
    assert any(found.counts(row) for row in found.rows)
    monkeypatch.setattr("irshape.comparison.crosscheck_run.SIMULATED_FACTOR", 1e9)
    explained = [
        row
        for row in irshape.crosscheck(model, replay=recording).rows
        if row.reason is not None and row.reason.startswith("rounded to bf16")
    ]
    assert [row.value_verdict for row in explained] == ["explained"] * len(explained) != []


@pytest.mark.parametrize("example", ["classifier", "compressed", "detector", "ir_v10", "recurrent"])
def test_what_a_device_does_not_round_to_f16(example: str, tmp_path: Path) -> None:
    """The CPU plugin computes f16 layers in f32, and passes on what it has not rounded."""
    path = tmp_path / "f16.xml"
    assert said("edit", str(EXAMPLES / f"{example}.xml"), "--f16", "-o", str(path))[0] == 0
    assert said("crosscheck", str(path))[0] == 0


class Behind(NamedTuple):
    """An f32 layer, and by how much its values may depart."""

    name: str
    types: tuple[str, ...]
    """The element types of the layers before it, each a Convert."""
    by: float
    ok: bool


BEHIND = [
    Behind("f32 alone", ("f32",), 2e-3, False),
    Behind("rounded to f16", ("f16",), 2e-3, True),
    Behind("more than f16 rounds", ("f16",), 0.1, False),
    Behind("rounded to bf16", ("bf16",), 2e-2, True),
    Behind("rounded to f16 before it was f32", ("f16", "f32"), 2e-3, True),
    Behind("rounded to whole numbers since", ("f16", "i32"), 2e-3, False),
]


@pytest.mark.parametrize("row", BEHIND, ids=lambda row: row.name)
def test_the_tolerance_follows_what_a_layer_is_computed_from(
    row: Behind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = Net()
    tensor = net.layer("Exp", [net.parameter("2,3", name="x")])
    for name in row.types:
        attributes, outputs = (
            f'destination_type="{name}"',
            [f"{irshape.ElementType.of(name).precision}:2,3"],
        )
        tensor = net.layer("Convert", [tensor], attributes, outputs=outputs)
    last = net.layer("Convert", [tensor], 'destination_type="f32"')
    net.result(last)
    falsified(monkeypatch, last, by=row.by)
    found = irshape.crosscheck(net.load(tmp_path))
    departing = {r.layer.id for r in found.rows if r.value_verdict == "differs"}
    assert departing == (set() if row.ok else {last})


@pytest.mark.parametrize("narrow", ["constant", "input", "shape"])
def test_what_is_narrow_and_not_rounded_allows_no_more(
    narrow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An f16 constant and input are as they are; of a shape only the sizes count."""
    net = Net()
    x = net.parameter("2,3", "f16" if narrow == "input" else "f32", name="x")
    if narrow == "constant":
        half = net.layer(
            "Convert", [net.constant([1, 2, 3])], 'destination_type="f16"', outputs=["FP16:3"]
        )
        wide = net.layer("Convert", [half], 'destination_type="f32"')
        last = net.layer("Add", [x, wide], 'auto_broadcast="numpy"')
    elif narrow == "input":
        last = net.layer("Convert", [x], 'destination_type="f32"')
    else:
        half = net.layer("Convert", [x], 'destination_type="f16"', outputs=["FP16:2,3"])
        sizes = net.layer(
            "ShapeOf", [half], 'output_type="i64"', version="opset3", outputs=["I64:2"]
        )
        last = net.layer("Convert", [sizes], 'destination_type="f32"', outputs=["FP32:2"])
    net.result(last)
    falsified(monkeypatch, last, by=2e-3)
    found = irshape.crosscheck(net.load(tmp_path))
    assert any(row.layer.id == last and row.value_verdict == "differs" for row in found.rows)


@pytest.mark.parametrize(("mask", "found"), [(-3.4e38, True), (-1e30, True), (-1e9, False)])
def test_masks_hide_no_errors(
    mask: float, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for infinity is no measure of the others; a number that may be one of many is."""
    net = Net()
    scores = net.layer("Sin", [net.parameter("2,3", name="x")])
    net.result(
        net.layer(
            "Add",
            [scores, net.constant([0.0, mask, 0.0], "f32")],
            'auto_broadcast="numpy"',
            name="masked",
        )
    )
    falsified(monkeypatch, "3")
    report = irshape.crosscheck(net.load(tmp_path))
    assert (report.blamed is not None) == found


def test_where_nan_comes_from_is_said(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("2,3", name="x")
    low = net.layer(
        "Multiply",
        [
            net.layer("Add", [net.layer("Abs", [x]), net.constant([1.0], "f32")]),
            net.constant([-float("inf")], "f32"),
        ],
        name="low",
    )
    net.result(
        net.layer("ReLU", [net.layer("SoftMax", [low], 'axis="1"', name="soft")], name="relu")
    )
    status, output = said("crosscheck", net.load(tmp_path).path)
    assert "NaN comes from SoftMax 'soft'" in output
    assert "everything is masked" in output
    assert status in (0, 1)

    def no_json(text: str) -> None:
        raise AssertionError(f"{text} is no JSON")

    for arguments in (
        ["crosscheck"],
        ["run", "--random", "--stats"],
        ["run", "--random", "--simulate", "bf16"],
    ):
        json.loads(
            said(*arguments, str(tmp_path / "m.xml"), "-f", "json")[1], parse_constant=no_json
        )


def test_narrow_integers_of_the_device_are_explained(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("3", name="x")
    grown = net.layer("Multiply", [net.layer("Abs", [x]), net.constant([1e30], "f32")], name="grow")
    net.result(
        net.layer("Convert", [grown], 'destination_type="i64"', outputs=["I64:3"], name="whole")
    )
    status, output = said("crosscheck", net.load(tmp_path).path)
    assert status == 0
    assert "computes i64 as i32" in output


def test_a_model_whose_constants_lie_in_no_file_is_checked_with_them(tmp_path: Path) -> None:
    """A graph that was put together, what `reduce` tries, and a model behind a URL."""
    import fsspec

    path = EXAMPLES / "compressed.xml"
    memory = fsspec.filesystem("memory")
    for suffix in (".xml", ".bin"):
        memory.pipe_file(f"/compressed{suffix}", path.with_suffix(suffix).read_bytes())
    expected = len(irshape.crosscheck(path).rows)
    tried: list[int] = []

    def fails(model: irshape.Model) -> bool:
        comparison = irshape.crosscheck(model)
        assert not comparison.problems
        tried.append(len(comparison.rows))
        return len(tried) == 1

    irshape.reduce(path, fails, max_tries=2)
    assert tried[0] == expected
    for model in (irshape.Graph.load(path), "memory://compressed.xml"):
        comparison = irshape.crosscheck(model)
        assert (comparison.ok, len(comparison.rows)) == (True, expected)


def test_too_little_memory_for_a_comparison_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("irshape.comparison.crosscheck_run.Tolerance.difference", exhausted)
    model = chain(tmp_path)
    comparison = irshape.crosscheck(model)
    assert not comparison.ok
    assert "not enough memory" in str(comparison)
    status, told = said("crosscheck", str(model.path))
    assert (status, "not enough memory" in told) == (1, True)


@pytest.mark.parametrize("type", ["ReduceMax", "ReduceMin"])
def test_the_greatest_of_nothing_is_left_open(type: str, tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("?,2", name="x")
    net.result(net.layer("Abs", [net.layer(type, [x, net.constant([0])], 'keep_dims="false"')]))
    empty = np.zeros((0, 2), np.float32)
    assert irshape.crosscheck(net.load(tmp_path), {"x": empty}).ok
