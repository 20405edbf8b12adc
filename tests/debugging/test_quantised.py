"""Cross-checks of quantised and compressed networks.

Nothing is blamed that only inherits a level at a tie, is decompressed in f32, or is merged by the
device; what is wrong is blamed all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from ir import Net

import irshape
from irshape.comparison import runtime

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
    monkeypatch: pytest.MonkeyPatch, asked: list[bool], alter: Callable[[Values], None]
) -> None:
    """Lets the device give other values for the whole model; `alter` changes them in place."""
    real = runtime.ask

    def ask(folder: Path, request: dict[str, object]) -> runtime.Answer:
        asked.append(True)
        answer = real(folder, request)
        if request["layers"] == "all":
            tensors = {name: tensor for (name, _), tensor in answer.values.items()}
            values = {name: tensor.array().copy() for name, tensor in tensors.items()}
            alter(values)
            for name, tensor in tensors.items():
                tensor.file.write_bytes(values[name].tobytes())
        return answer

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)


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
    assert len(asked) <= 10
    reasons = {output.layer.id: output.reason or "" for output in comparison.rows}
    if row.blamed is None:
        assert "at most 0 of a level from the tie" in reasons[quantized]
        assert "inherited from FakeQuantize layers" in reasons[scaled]
        assert "inherited from FakeQuantize layers" in reasons[positive]


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


@pytest.mark.parametrize("wrong", [None, 11], ids=["merged", "one is wrong"])
def test_one_probe_speaks_for_every_merged_layer_of_a_pattern(
    wrong: int | None, tmp_path: Path, asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each block Sin is merged with Abs: its tensor is not what Abs was computed from."""
    net = Net()
    source = net.parameter("5", name="x")
    merged, behind = [], []
    for block in range(BLOCKS):
        merged.append(net.layer("Sin", [source], name=f"turn{block}"))
        source = net.layer("Abs", [merged[-1]])
        source = net.layer("Tanh", [net.layer("Sigmoid", [source])], name=f"gate{block}")
        behind.append(source)
    net.result(source)

    def alter(values: Values) -> None:
        for layer in merged:
            values[layer] += np.float32(0.5)
        if wrong is not None:
            values[behind[wrong]] += np.float32(0.25)

    falsified(monkeypatch, asked, alter)
    comparison = irshape.crosscheck(net.load(tmp_path))
    assert len(asked) <= 10
    if wrong is None:
        assert comparison.ok, str(comparison)
        assert {row.own_verdict for row in comparison.rows if row.layer.type == "Sin"} == {
            "explained"
        }
    else:
        assert comparison.blamed is not None
        assert comparison.blamed.layer.name == f"gate{wrong}"
