"""Cross-checks with a device that does not run the model as it is: what it runs is compared."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from ir import Net

import irshape
from irshape.cli import cli
from irshape.comparison import runtime

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def chain(tmp_path: Path, element_type: str) -> Path:
    """x -> Abs -> Sin -> Exp -> Negative, of which Sin feeds an output of the model, too."""
    net = Net()
    size = net.layer("Abs", [net.parameter("3", element_type, name="x")], name="size")
    turn = net.layer("Sin", [size], name="turn")
    net.result(net.layer("Negative", [net.layer("Exp", [turn], name="grow")], name="last"))
    net.result(turn)
    return net.save(tmp_path)


class Refusal(NamedTuple):
    """A device that does not run models in which some text is.

    says: its message. model: a chain whose input has that element type, or an example. wrong: the
    layer whose output it gets wrong. missing: the layers that are not compared. note: what is said.
    runs: how often it is asked.
    """

    text: str
    says: str = "it cannot"
    model: str = "f32"
    wrong: str | None = None
    missing: tuple[str, ...] = ()
    note: str = ""
    runs: int = 2


REFUSALS = {
    "a layer with bodies": Refusal(
        'type="Loop"',
        model="control_flow",
        missing=("nested", "wide_or_narrow"),
        note="without Loop 'nested' (id 5), If 'wide_or_narrow' (id 10);",
    ),
    "a layer that it names": Refusal(
        'type="Sin"',
        "Unsupported operation of type: Sin name: 2",
        missing=("turn",),
        note="without Sin 'turn' (id 2);",
    ),
    "a fault elsewhere": Refusal(
        'type="Sin"', "in file.cpp:3: node '2' fails", wrong="grow", missing=("turn",), runs=3
    ),
    "an input of any type": Refusal(
        'element_type="dynamic"', model="dynamic", note="compares the model with f32"
    ),
    "an input and a layer": Refusal(
        'type="Sin"', "Operation: 2 of type Sin", model="dynamic", missing=("turn",), runs=3
    ),
    "any model": Refusal("<layer", model="control_flow", missing=("trips",)),
    "a layer that nobody names": Refusal('type="Sin"', missing=("size", "grow"), runs=1),
}


@pytest.mark.parametrize("case", REFUSALS.values(), ids=REFUSALS.keys())
def test_what_a_device_runs_is_compared(
    case: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = EXAMPLES / f"{case.model}.xml"
    if case.model != "control_flow":
        path = chain(tmp_path, case.model)
    model = irshape.load(path)
    wrong = [layer.id for layer in model.layers if layer.name == case.wrong]
    real = runtime.ask
    asked: list[bool] = []

    def ask(folder: Path, request: dict[str, object]) -> runtime.Answer:
        refuses = case.text in Path(str(request["xml"])).read_text()
        asked.append(refuses)
        answer = real(folder, request)
        if refuses:
            return answer._replace(values={}, problem=case.says)
        for (name, _), tensor in answer.values.items():
            if name in wrong:
                tensor.file.write_bytes((np.fromfile(tensor.file, np.float32) + 1).tobytes())
        return answer

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)
    recording = tmp_path / "kept.npz"
    inputs = None if case.model == "control_flow" else [np.array([0.3, -1, 2], np.float32)]
    comparison = irshape.crosscheck(model, inputs, record=recording)
    assert not comparison.ok
    assert any(case.says in problem for problem in comparison.problems)
    assert any(case.note in note for note in comparison.notes) or not case.note
    assert len(asked) == case.runs
    assert (None if comparison.blamed is None else comparison.blamed.layer.name) == case.wrong
    rows = {row.layer.name: row.value_verdict for row in comparison.rows}
    assert {rows[name] for name in case.missing} <= {"not compared"}
    if not all(asked):
        assert "equal" in rows.values()
        assert comparison.count("differs", values=False) == 0
    monkeypatch.setattr("irshape.comparison.runtime.ask", None)
    assert irshape.crosscheck(model, replay=recording).to_dict() == comparison.to_dict()
    done = CliRunner().invoke(cli, ["crosscheck", str(path), "--replay", str(recording)])
    assert done.exit_code == 1
    assert case.note in done.output
