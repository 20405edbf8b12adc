"""`irshape crosscheck --record` and `--replay`: a recording is judged as the device itself.

The recordings of several kinds of CPU in `recordings/` stand for hardware that the machine at hand
may not have.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from calling import said
from ir import Net

import irshape
from irshape.comparison import runtime
from irshape.model.weights import array

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*/*.npz"))
AMX = Path(__file__).parent / "recordings" / "avx512_fp16_amx"


@pytest.fixture
def no_openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: object) -> runtime.Answer:
        raise AssertionError("a replay asks no device")

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)


def example(recording: Path) -> Path:
    return EXAMPLES / f"{recording.name.split('.')[0]}.xml"


@pytest.mark.usefixtures("no_openvino")
@pytest.mark.parametrize(
    "recording", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_no_layer_is_blamed_for_what_the_hardware_does(recording: Path) -> None:
    comparison = irshape.crosscheck(example(recording), replay=recording)
    assert comparison.ok, str(comparison)
    assert all("without elements" in note for note in comparison.notes)
    assert comparison.count("equal") > 0


class Explained(NamedTuple):
    """A layer that departs on real f16 hardware, and a part of the reason that is given."""

    recording: str
    layer: str
    reason: str


EXPLAINED = [
    Explained("decoder.f16", "mask", "beyond 65504"),
    Explained("int8.f16", "residual/fq", "one quantization level off"),
]


@pytest.mark.usefixtures("no_openvino")
@pytest.mark.parametrize("row", EXPLAINED, ids=lambda row: row.recording)
def test_what_f16_hardware_does_is_explained(row: Explained) -> None:
    recording = AMX / f"{row.recording}.npz"
    rows = irshape.crosscheck(example(recording), replay=recording).rows
    departing = next(found for found in rows if found.layer.name == row.layer)
    assert departing.own_verdict == "explained"
    assert row.reason in (departing.own_reason or "")


@pytest.mark.usefixtures("no_openvino")
@pytest.mark.parametrize("name", ["encoder.f16", "encoder.bf16", "int8.f16", "int8.bf16"])
def test_an_altered_constant_is_blamed_on_its_layer(name: str, tmp_path: Path) -> None:
    """A recording of the unaltered model is the device's answer to a converter's mistake."""
    recording = AMX / f"{name}.npz"
    model = irshape.load(example(recording))
    constants = [model.constant(layer).offset for layer in model.walk() if layer.is_constant]
    feeders = {edge.to_layer: model.net.by_id[edge.from_layer] for edge in model.net.edges}
    layer = next(
        layer
        for layer in reversed(model.layers)
        if layer.type == "Add"
        and feeders[layer.id].is_constant
        and feeders[layer.id].attribute("element_type") == "f32"
        and constants.count(model.constant(feeders[layer.id]).offset) == 1
    )
    constant = model.constant(feeders[layer.id])
    values = array(constant)
    assert values is not None
    data = bytearray(Path(model.path).with_suffix(".bin").read_bytes())
    data[constant.offset : constant.offset + constant.size] = (values + 3).tobytes()
    shutil.copy(model.path, tmp_path / "altered.xml")
    (tmp_path / "altered.bin").write_bytes(data)
    comparison = irshape.crosscheck(tmp_path / "altered.xml", replay=recording)
    assert comparison.blamed is not None
    assert comparison.blamed.layer.name == layer.name
    assert any("recorded from another model" in note for note in comparison.notes)


LEVELS = Path(__file__).parent / "recordings"


def products_of_levels(tmp_path: Path, *, scale: float = 0.25, top: float = 2.54) -> Path:
    """A product and an attention of tensors with 256 levels.

    scale: of the attention. top: the upper limit of its queries.
    """
    net = Net()
    x = net.parameter("1,2,4,17", name="x")

    def quantize(source: str, low: float, high: float, name: str) -> str:
        limits = [net.constant([limit], "f32") for limit in (low, high, low, high)]
        return net.layer("FakeQuantize", [source, *limits], 'levels="256"', name=name)

    queries = quantize(x, 0.0, 2.55, "queries")
    keys = quantize(net.layer("Negative", [x]), -1.28, 1.27, "keys")
    product = net.layer("MatMul", [queries, keys], 'transpose_b="true"', name="product")
    net.result(net.layer("Relu", [product], name="behind"))
    others = quantize(net.layer("Abs", [x]), -top - 0.02, top, "others")
    seen = quantize(net.layer("Negative", [x]), -1.28, 1.27, "seen")
    moved = [net.layer("Transpose", [each, net.constant([0, 2, 1, 3])]) for each in (others, seen)]
    inputs = [*moved, net.layer("Sigmoid", [moved[0]]), net.constant(0.0, "f32")]
    inputs.append(net.constant(scale, "f32"))
    attention = net.layer(
        "ScaledDotProductAttention", inputs, 'causal="true"', version="opset13", name="attention"
    )
    net.result(attention)
    return net.save(tmp_path)


class Products(NamedTuple):
    """A product of levels that the device has cut to 16 bits.

    model: how it departs from what was recorded. added: to the tensor of the product that was
    recorded. blamed: the layer to blame.
    """

    model: dict[str, float]
    added: float = 0.0
    blamed: str | None = None


PRODUCTS = {
    "as recorded": Products({}),
    "another scale": Products({"scale": 0.26}, blamed="attention"),
    "another limit": Products({"top": 2.5}, blamed="others"),
    "another product": Products({}, 0.01, "product"),
}


@pytest.mark.usefixtures("no_openvino")
@pytest.mark.parametrize("kind", ["avx2", "avx512_core"])
@pytest.mark.parametrize("row", PRODUCTS.values(), ids=PRODUCTS.keys())
def test_sums_that_are_cut_without_vnni(row: Products, kind: str, tmp_path: Path) -> None:
    """What inherits them is explained too, and real faults in the same layers are blamed."""
    model = irshape.load(products_of_levels(tmp_path, **row.model))
    recording = LEVELS / kind / "levels" / "products.f32.npz"
    with np.load(recording) as members:
        index = json.loads(members["recording.json"])
        product = next(layer.id for layer in model.layers if layer.name == "product")
        values = index["questions"][0]["answer"]["values"]
        name = next(value["tensor"] for value in values if value["layer"] == product)
        tensor = members[name]
    tensor[0, 0, 0, 0] += row.added * abs(tensor).max()
    altered = rewritten(recording, tmp_path / "altered.npz", **{name: npy(tensor)})
    comparison = irshape.crosscheck(model, replay=altered)
    blamed = [each.layer.name for each in comparison.rows if each.own_verdict == "differs"]
    assert blamed[:1] == ([] if row.blamed is None else [row.blamed])
    reasons = {each.layer.name: f"{each.own_reason} {each.reason}" for each in comparison.rows}
    if row.blamed is None:
        assert comparison.ok, str(comparison)
        assert "28 of 32 elements of the product" in reasons["product"]
        assert "each sum of two products" in reasons["attention"]
        assert "inherited from sums of products" in reasons["behind"]


def transposed_product(tmp_path: Path, *, top: float = 0.25) -> Path:
    """A product of tensors with 256 levels, of which only the transpose is an output.

    top: the upper limit of the second tensor.
    """
    net = Net()

    def quantize(source: str, high: float, name: str) -> str:
        low = -high * 128 / 127
        limits = [net.constant([limit], "f32") for limit in (low, high, low, high)]
        return net.layer("FakeQuantize", [source, *limits], 'levels="256"', name=name)

    rows = quantize(net.parameter("?,4", name="x"), 0.5, "rows")
    columns = quantize(net.parameter("3,4", name="y"), top, "columns")
    product = net.layer("MatMul", [rows, columns], 'transpose_b="true"', name="product")
    net.result(net.layer("Transpose", [product, net.constant([1, 0])], name="turned"))
    return net.save(tmp_path)


TRANSPOSED = {"as recorded": (0.25, None), "another limit": (0.2, "columns")}


@pytest.mark.usefixtures("no_openvino")
@pytest.mark.parametrize(("top", "blamed"), TRANSPOSED.values(), ids=TRANSPOSED.keys())
def test_a_product_that_is_scaled_twice_where_it_is_asked_for(
    top: float, blamed: str | None, tmp_path: Path
) -> None:
    recording = LEVELS / "avx512_bf16" / "levels" / "transposed.f32.npz"
    comparison = irshape.crosscheck(transposed_product(tmp_path, top=top), replay=recording)
    rows = {row.layer.name: row for row in comparison.rows}
    differing = [name for name, row in rows.items() if row.own_verdict == "differs"]
    assert differing == ([] if blamed is None else [blamed])
    assert "requested tensors inside" in (rows["product"].reason or "")
    if blamed is None:
        assert comparison.ok, str(comparison)
        assert rows["product"].error is not None
        assert rows["product"].error > 0.1
        assert "one quantization level off" in (rows["turned"].reason or "")  # a tie besides


def chain(tmp_path: Path) -> Path:
    """x -> Exp -> Sin -> Multiply by 3 -> Result."""
    net = Net()
    grown = net.layer("Exp", [net.parameter("2,3", name="x")], name="grow")
    turned = net.layer("Sin", [grown], name="turn")
    net.result(net.layer("Multiply", [turned, net.constant([3.0], "f32")], name="scale"))
    return net.save(tmp_path)


@pytest.mark.parametrize("model", ["chain", "control_flow"])
@pytest.mark.parametrize("wrong", [(), ("2", "5")])
def test_a_replay_says_what_the_live_cross_check_said(
    model: str, wrong: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a device that is wrong about some layers, in the model, alone and in bodies."""
    asked = runtime.ask

    def ask(folder: Path, request: dict[str, object]) -> runtime.Answer:
        answer = asked(folder, request)
        for (name, _), (element_type, _, file) in answer.values.items():
            if name in wrong and element_type == "f32":
                file.write_bytes((np.fromfile(file, np.float32) + np.float32(0.5)).tobytes())
        return answer

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)
    path = chain(tmp_path) if model == "chain" else EXAMPLES / "control_flow.xml"
    recording = tmp_path / "kept.npz"
    live = irshape.crosscheck(path, record=recording)
    assert live.ok == (not wrong)
    monkeypatch.setattr("irshape.comparison.runtime.ask", None)
    replayed = irshape.crosscheck(path, replay=recording)
    assert replayed.to_dict() == live.to_dict()
    assert replayed.device_name == live.device_name


def test_the_command(tmp_path: Path) -> None:
    model, file = str(chain(tmp_path)), str(tmp_path / "kept.npz")
    status, live = said("crosscheck", model, "--record", file)
    assert (status, said("crosscheck", model, "--replay", file)) == (0, (0, live))
    assert said("crosscheck", model, "--replay", file, "--record", file)[0] == 2
    assert said("crosscheck", model, "--replay", file, "--shape", "x=[2,3]")[0] == 2
    status, output = said("crosscheck", model, "--replay", file, "--hint", "bf16")
    assert (status, "was recorded with hint None" in output) == (1, True)
    with np.load(file, allow_pickle=False) as members:
        assert any(members[name].shape == (2, 3) for name in members.files if "tensor" in name)


def rewritten(recording: Path, target: Path, /, **members: bytes | None) -> Path:
    """A copy of a recording with other members; None takes one away."""
    with zipfile.ZipFile(recording) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            data = members.get(name.partition(".")[0], source.read(name))
            if data is not None:
                copy.writestr(name, data)
    return target


def npy(value: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=True)
    return buffer.getvalue()


BROKEN = {
    "no index": {"recording": None},
    "no JSON": {"recording": b"{"},
    "another document": {"recording": b"[]"},
    "an index of nothing": {"recording": b"{}"},
    "a later version": {"recording": json.dumps({"recording": 99, "questions": []}).encode()},
    "no questions": {"recording": json.dumps({"recording": 1, "questions": []}).encode()},
    "deep JSON": {"recording": b"[" * 100_000},
    "a tensor is missing": {"tensor0": None},
    "a tensor of another shape": {"tensor0": npy(np.zeros(7, np.float32))},
    "a tensor of another type": {"tensor0": npy(np.zeros((2, 3), np.int8))},
    "a pickle": {"tensor0": npy(np.array([[object()] * 3] * 2))},
    "no tensor": {"tensor0": b"nothing"},
}


@pytest.mark.parametrize("members", BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_is_no_recording(members: dict[str, bytes | None], tmp_path: Path) -> None:
    model = str(chain(tmp_path))
    irshape.crosscheck(model, record=tmp_path / "kept.npz")
    broken = rewritten(tmp_path / "kept.npz", tmp_path / "broken.npz", **members)
    status, output = said("crosscheck", model, "--replay", str(broken))
    assert status == 1
    assert str(broken) in output


def test_a_recording_past_the_limit_of_memory_is_not_read(tmp_path: Path) -> None:
    model = str(chain(tmp_path))
    irshape.crosscheck(model, record=tmp_path / "kept.npz")
    bomb = rewritten(tmp_path / "kept.npz", tmp_path / "bomb.npz", tensor0=bytes(10 << 20))
    status, output = said("crosscheck", model, "--replay", str(bomb), "--max-memory", "1M")
    assert (status, "the 1 MiB allowed" in output) == (1, True)
    (tmp_path / "text.npz").write_text("not a zip")
    assert said("crosscheck", model, "--replay", str(tmp_path / "text.npz"))[0] == 1
