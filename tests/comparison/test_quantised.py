"""Cross-checks of quantised and compressed networks.

Nothing is blamed that only inherits a level at a tie, is decompressed in f32, or is merged by the
device; what is wrong is blamed all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from ir import Net

import irshape
from irshape.comparison import runtime
from irshape.comparison.answers import StoredTensor, from_bytes

Values = dict[str, np.ndarray]
NUMPY = 'auto_broadcast="numpy"'


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each run of irshape's or the device's, whether it was the device's."""
    runs: list[bool] = []
    run = irshape.Session.run

    def counted(self: irshape.Session, *args: object, **options: object) -> dict[str, np.ndarray]:
        runs.append(False)
        return run(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("irshape.execution.session.Session.run", counted)
    return runs


def falsified(
    monkeypatch: pytest.MonkeyPatch,
    asked: list[bool],
    alter: Callable[[Values], None],
    precision: str = "f32",
) -> None:
    """Lets the device give other values for the whole model; `alter` changes them in place.

    They do not depend on what the device is asked for. precision: in which it says it computes.
    Where the plugin crashes on this kind of CPU, irshape's own values are altered instead.
    """
    real = runtime.ask

    def ask(folder: Path, request: dict[str, Any]) -> runtime.Answer:
        asked.append(True)
        unasked = request.pop("unasked", ())
        answer = real(folder, request)
        if answer.crashed is not None and request["layers"] == "all":
            answer = answer._replace(crashed=None, values=own_values(folder, request))
        if request["layers"] == "all":
            tensors = {name: tensor for (name, _), tensor in answer.values.items()}
            values = {name: tensor.array().copy() for name, tensor in tensors.items()}
            alter(values)
            for name, tensor in tensors.items():
                tensor.file.write_bytes(values[name].tobytes())
        left = {key: tensor for key, tensor in answer.values.items() if key[0] not in unasked}
        return answer._replace(values=left, precision=precision)

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)


def own_values(folder: Path, request: dict[str, Any]) -> dict[tuple[str, int], StoredTensor]:
    """irshape's values of all layers of a model whose inputs and outputs are f32."""
    model = irshape.load(request["xml"], weights=request["bin"] or "none")
    inputs = {
        f"id:{id}": from_bytes(element_type, shape, (folder / file).read_bytes())
        for id, (element_type, shape, file) in request["inputs"].items()
    }
    values = irshape.run(model, inputs, outputs="all")
    tensors = {}
    for layer in model.net.layers:
        if layer.inputs and layer.outputs:
            file, array = folder / f"own{layer.id}.bin", values[layer.name]
            file.write_bytes(array.tobytes())
            tensors[layer.name, 0] = StoredTensor("f32", list(array.shape), file)
    return tensors


class Tie(NamedTuple):
    """What the device makes of x -> FakeQuantize -> Multiply by 3 -> Abs.

    moved: the element of the FakeQuantize that is one level off. scale: what Multiply is done with.
    blamed: the name of the layer to blame.
    """

    moved: int
    scale: float
    blamed: str | None


TIES = {
    "at a tie": Tie(0, 3.0, None),
    "not at a tie": Tie(1, 3.0, "quantize"),
    "a fault behind a tie": Tie(0, 3.5, "scale"),
}


@pytest.mark.parametrize("row", TIES.values(), ids=TIES.keys())
def test_what_inherits_a_level_at_a_tie(
    row: Tie, tmp_path: Path, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    net = Net()
    limits = [net.constant([limit], "f32") for limit in (0.0, 255.0)] * 2
    source = net.parameter("3", name="x")
    quantized = net.layer(
        "FakeQuantize", [source, *limits], f'levels="256" {NUMPY}', name="quantize"
    )
    scaled = net.layer("Multiply", [quantized, net.constant([3.0], "f32")], NUMPY, name="scale")
    positive = net.layer("Abs", [scaled])
    net.result(positive)

    def alter(values: Values) -> None:
        values[quantized][row.moved] += 1
        values[scaled] = values[quantized] * np.float32(row.scale)
        values[positive] = values[scaled]

    falsified(monkeypatch, asked, alter)
    comparison = irshape.crosscheck(
        net.load(tmp_path), {"x": np.array([2.5, 7.25, 9.0], np.float32)}
    )
    blamed = None if comparison.blamed is None else comparison.blamed.layer.name
    assert (blamed, comparison.ok) == (row.blamed, row.blamed is None)
    assert len(asked) <= 14
    reasons = {output.layer.id: output.reason or "" for output in comparison.rows}
    if row.blamed is None:
        assert "from the middle" in reasons[quantized]
        assert "inherited from FakeQuantize layers" in reasons[scaled]
        assert "inherited from FakeQuantize layers" in reasons[positive]


class LeftOut(NamedTuple):
    """A FakeQuantize of 65,536 levels, which the device leaves out, between Abs and Multiply by 3.

    added: to the products, by the device. output: whether the FakeQuantize is an output, too.
    """

    added: float = 0.0
    output: bool = False


LEFT_OUT = {"inside": LeftOut(), "an output": LeftOut(output=True), "a fault behind": LeftOut(0.01)}


@pytest.mark.parametrize("layers", ["all", "outputs"])
@pytest.mark.parametrize("row", LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_a_fake_quantize_that_the_device_leaves_out(
    row: LeftOut,
    layers: Literal["all", "outputs"],
    tmp_path: Path,
    asked: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The device neither rounds nor clamps there, and gives no tensor for it."""
    net = Net()
    limits = [net.constant([limit], "f32") for limit in (-3.2768, 3.2767)] * 2
    positive = net.layer("Abs", [net.parameter("4", name="x")])
    quantized = net.layer("FakeQuantize", [positive, *limits], f'levels="65536" {NUMPY}')
    scaled = net.layer("Multiply", [quantized, net.constant([3.0], "f32")], NUMPY, name="scale")
    behind = net.layer("Relu", [scaled])
    net.result(behind)
    if row.output:
        net.result(quantized)
    x = np.array([-0.50004, 1.25, 4.0, 1.33333], np.float32)

    def alter(values: Values) -> None:
        values[scaled] += np.float32(row.added)
        values[behind] += np.float32(row.added)

    falsified(monkeypatch, asked, alter)
    comparison = irshape.crosscheck(net.load(tmp_path), {"x": x}, layers=layers)
    blamed = None if comparison.blamed is None else comparison.blamed.layer.name
    assert (blamed, comparison.ok) == (("scale", False) if row.added else (None, True))
    (left_out, *_) = comparison.explanations
    assert quantized in [each.layer.id for each in left_out.rows]
    reasons = {output.layer.id: output.reason or "" for output in comparison.rows}
    assert "65,536 levels" in reasons[quantized]
    if not row.added:
        assert "65,536 levels" in reasons[scaled]


def test_weights_from_a_codebook(
    tmp_path: Path, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table in f16, its indices, a scale in f16: the device rounds none of the products."""
    table, scales = (np.float16(values).tolist() for values in ([0.1, 0.7, 0.3], [0.16]))
    indices = [2, 0, 1, 1]
    net = Net()
    half = [
        net.layer(
            "Convert", [net.constant(values, "f32")], 'destination_type="f16"', outputs=["FP16"]
        )
        for values in (table, scales)
    ]
    index = net.layer(
        "Convert", [net.constant(indices, "u8")], 'destination_type="i32"', outputs=["I32"]
    )
    picked = net.layer(
        "Gather", [half[0], index, net.constant(0)], version="opset8", outputs=["FP16"]
    )
    scaled = net.layer("Multiply", [picked, half[1]], NUMPY, outputs=["FP16"])
    weights = net.layer("Convert", [scaled], 'destination_type="f32"', name="weights")
    product = net.layer("Multiply", [net.parameter("4", name="x"), weights], NUMPY)
    net.result(product)
    x = np.array([1, 2, 3, 4], np.float32)

    def alter(values: Values) -> None:
        exact = np.float32(table)[indices] * np.float32(scales)
        values[weights] = exact
        values[product] = x * exact

    falsified(monkeypatch, asked, alter)
    comparison = irshape.crosscheck(net.load(tmp_path), {"x": x})
    assert comparison.ok, str(comparison)
    row = next(row for row in comparison.rows if row.layer.id == weights)
    assert row.value_verdict == "explained"
    assert "decompresses weights in f32" in (row.reason or "")


BLOCKS = 24


class Fault(NamedTuple):
    """A layer that the device computes wrongly, by its name without the number of its block."""

    kind: str
    block: int


FAULTS = {
    "none": None,
    "the merged layer": Fault("turn", 0),
    "the merged layer, later": Fault("turn", 11),
    "right behind the first merged layer": Fault("size", 0),
    "right behind a later merged layer": Fault("size", 11),
    "two layers behind": Fault("gate", 11),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_one_probe_speaks_for_every_merged_layer_of_a_pattern(
    fault: Fault | None, tmp_path: Path, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each block Sin is merged with Abs: its tensor is not what Abs was computed from.

    What the device computes wrongly, all layers behind it inherit.
    """
    net = Net()
    source = net.parameter("5", name="x")
    functions = {"turn": np.sin, "size": np.abs, "gate": np.tanh}
    layers: list[tuple[str, str, int]] = []
    for block in range(BLOCKS):
        for kind, operation in (("turn", "Sin"), ("size", "Abs"), ("gate", "Tanh")):
            source = net.layer(operation, [source], name=f"{kind}{block}")
            layers.append((source, kind, block))
    net.result(source)
    x = np.linspace(0.3, 2.9, 5, dtype=np.float32)

    def alter(values: Values) -> None:
        value = x
        for layer, kind, block in layers:
            value = functions[kind](value)
            wrong = fault == Fault(kind, block)
            value = value + np.float32(0.25) if wrong else value
            # a tensor of a merged layer is another, unless what is behind it was given that
            values[layer] = value + np.float32(0.5) if kind == "turn" and not wrong else value

    falsified(monkeypatch, asked, alter)
    comparison = irshape.crosscheck(net.load(tmp_path), {"x": x})
    assert len(asked) <= 14
    blamed = [row.layer.name for row in comparison.rows if row.own_verdict == "differs"]
    if fault is None:
        assert comparison.ok, str(comparison)
        verdicts = {row.own_verdict for row in comparison.rows if row.layer.type == "Sin"}
        assert verdicts == {"explained"}
    else:
        assert blamed == [f"{fault.kind}{fault.block}"]


class Step(NamedTuple):
    """What the device makes of x -> Multiply by 3 -> a whole number -> Convert to i32.

    function: of that whole number, and what NumPy calls it. added: to the products, by the device.
    wrong: what it adds to the first whole number by mistake. blamed: the layer to blame.
    """

    function: tuple[str, Callable[[np.ndarray], np.ndarray]]
    added: float
    wrong: float = 0.0
    blamed: str | None = None


STEPS = {
    "floor": Step(("Floor", np.floor), -1e-6),
    "ceiling": Step(("Ceiling", np.ceil), 1e-6),
    "round": Step(("Round", np.rint), 1e-6),
    "an input that departs": Step(("Floor", np.floor), -0.5, blamed="product"),
    "a wrong step": Step(("Floor", np.floor), -1e-6, 2.0, "whole"),
    "a wrong step at a tie": Step(("Round", np.rint), 0.0, 1.0, "whole"),
}


@pytest.mark.parametrize("row", STEPS.values(), ids=STEPS.keys())
def test_what_a_step_makes_of_the_least_error(
    row: Step, tmp_path: Path, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Next to a step, an input that agrees may come out one off, and so may what inherits that."""
    net = Net()
    source = net.parameter("4", name="x")
    product = net.layer("Multiply", [source, net.constant([1.0], "f32")], NUMPY, name="product")
    type_name, function = row.function
    version = "opset5" if type_name == "Round" else "opset1"
    whole = net.layer(type_name, [product], version=version, name="whole")
    narrow = net.layer("Convert", [whole], 'destination_type="i32"', outputs=["I32"], name="narrow")
    scaled = net.layer("Multiply", [whole, net.constant([0.5], "f32")], NUMPY, name="scaled")
    net.result(narrow)
    net.result(scaled)
    first = {"floor": 3.0, "ceil": 4.0, "rint": 2.5}[function.__name__]
    x = np.array([first, 7.25, -1.75, 250.3], np.float32)

    def alter(values: Values) -> None:
        values[product] = x + np.float32(row.added)
        values[whole] = function(values[product])
        values[whole][0] += np.float32(row.wrong)
        values[narrow] = values[whole].astype(np.int32)
        values[scaled] = values[whole] * np.float32(0.5)

    falsified(monkeypatch, asked, alter)
    comparison = irshape.crosscheck(net.load(tmp_path), {"x": x})
    blamed = None if comparison.blamed is None else comparison.blamed.layer.name
    assert (blamed, comparison.ok) == (row.blamed, row.blamed is None), str(comparison)
    if row.blamed is None:
        reasons = {output.layer.id: output.reason or "" for output in comparison.rows}
        assert "1 of 4 elements" in reasons[whole]
        assert "one step off" in reasons[narrow]
        assert "next to a step" in reasons[scaled]


class Level(NamedTuple):
    """What the device makes of x -> Multiply by 1 -> FakeQuantize -> Multiply by 0.5.

    added: to the products, by the device. wrong: what it adds to the first level by mistake.
    """

    added: float
    wrong: float = 0.0
    blamed: str | None = None


LEVELS = {
    "an input that agrees": Level(2e-4),
    "an input that departs": Level(0.5, blamed="product"),
    "two levels": Level(2e-4, 1.0, "quantize"),
    "half a level": Level(2e-4, -0.5, "quantize"),
}


@pytest.mark.parametrize("row", LEVELS.values(), ids=LEVELS.keys())
def test_what_a_level_makes_of_errors_that_came_before(
    row: Level, tmp_path: Path, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The input agrees, but is farther from a tie than the roundings of the FakeQuantize itself."""
    net = Net()
    limits = [net.constant([limit], "f32") for limit in (0.0, 255.0)] * 2
    source = net.parameter("4", name="x")
    product = net.layer("Multiply", [source, net.constant([1.0], "f32")], NUMPY, name="product")
    quantized = net.layer(
        "FakeQuantize", [product, *limits], f'levels="256" {NUMPY}', name="quantize"
    )
    scaled = net.layer("Multiply", [quantized, net.constant([0.5], "f32")], NUMPY, name="scaled")
    net.result(scaled)
    x = np.array([2.4999, 7.25, 9.0, 250.3], np.float32)

    def alter(values: Values) -> None:
        values[product] = x + np.float32(row.added)
        values[quantized] = np.rint(values[product])
        values[quantized][0] += np.float32(row.wrong)
        values[scaled] = values[quantized] * np.float32(0.5)

    falsified(monkeypatch, asked, alter)
    comparison = irshape.crosscheck(net.load(tmp_path), {"x": x})
    blamed = None if comparison.blamed is None else comparison.blamed.layer.name
    assert (blamed, comparison.ok) == (row.blamed, row.blamed is None), str(comparison)
    assert len(asked) <= 14
    if row.blamed is None:
        reasons = {output.layer.id: output.reason or "" for output in comparison.rows}
        assert "1 of 4 elements" in reasons[quantized]
        assert "inherited from FakeQuantize layers" in reasons[scaled]


class OnLevels(NamedTuple):
    """What the device makes of x -> FakeQuantize -> GroupNormalization -> Multiply by 0.5.

    weight: of epsilon. factor: what the device multiplies the normalized numbers with by mistake.
    precision: in which the device computes.
    """

    weight: float
    factor: float = 1.0
    blamed: str | None = None
    precision: str = "f32"


ON_LEVELS = {
    "as it is written": OnLevels(1.0),
    "of levels": OnLevels(0.0),
    "of levels, and wrong": OnLevels(0.0, 1.01, "norm"),
    "of levels in bf16": OnLevels(0.0, precision="bf16"),
    "of levels in bf16, and wrong": OnLevels(0.0, 1.2, "norm", "bf16"),
}


@pytest.mark.parametrize("row", ON_LEVELS.values(), ids=ON_LEVELS.keys())
def test_a_normalization_of_levels(
    row: OnLevels, tmp_path: Path, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of levels, which are as large as 255, epsilon makes no difference."""
    net = Net()
    limits = [net.constant([limit], "f32") for limit in (-0.128, 0.127)] * 2
    source = net.parameter("1,2,4", name="x")
    quantized = net.layer("FakeQuantize", [source, *limits], f'levels="256" {NUMPY}', name="levels")
    ones, zeros = net.constant([1.0, 1.0], "f32"), net.constant([0.0, 0.0], "f32")
    norm = net.layer(
        "GroupNormalization",
        [quantized, ones, zeros],
        'num_groups="1" epsilon="0.001"',
        version="opset12",
        name="norm",
    )
    scaled = net.layer("Multiply", [norm, net.constant([0.5], "f32")], NUMPY, name="scaled")
    net.result(scaled)
    x = np.linspace(-0.05, 0.09, 8, dtype=np.float32).reshape(1, 2, 4)

    def alter(values: Values) -> None:
        numbers = values[quantized].astype(np.float64)
        deviation = np.sqrt(numbers.var() + row.weight * 0.001)
        values[norm] = ((numbers - numbers.mean()) / deviation * row.factor).astype(np.float32)
        values[scaled] = values[norm] * np.float32(0.5)

    falsified(monkeypatch, asked, alter, row.precision)
    comparison = irshape.crosscheck(net.load(tmp_path), {"x": x})
    blamed = None if comparison.blamed is None else comparison.blamed.layer.name
    assert (blamed, comparison.ok) == (row.blamed, row.blamed is None), str(comparison)
    if not row.weight and row.blamed is None:
        reasons = {output.layer.id: output.reason or "" for output in comparison.rows}
        assert "normalizes the quantized integers" in reasons[norm]
        assert "normalizes the quantized integers" in reasons[scaled]


@pytest.mark.parametrize(("given", "blamed"), [(0.0, None), (0.02, "levels")])
def test_a_level_is_as_exact_as_its_limits(
    given: float,
    blamed: str | None,
    tmp_path: Path,
    asked: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The level next to 0 may come out as 0, or as a rounding error of limits that are large."""
    net = Net()
    limits = [net.constant([limit], "f32") for limit in (-238.222, 236.361)] * 2
    source = net.parameter("2", name="x")
    quantized = net.layer("FakeQuantize", [source, *limits], f'levels="256" {NUMPY}', name="levels")
    net.result(net.layer("Abs", [quantized]))

    def alter(values: Values) -> None:
        values[quantized][:] = given

    falsified(monkeypatch, asked, alter)
    comparison = irshape.crosscheck(net.load(tmp_path), {"x": np.array([0.3, -0.2], np.float32)})
    assert (None if comparison.blamed is None else comparison.blamed.layer.name) == blamed
