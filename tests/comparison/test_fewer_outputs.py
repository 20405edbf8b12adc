"""Cross-checks of a device that gives other values where it is asked for inner tensors.

What is right in the model as it stands is not blamed; what is wrong there is.
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

OPERATIONS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "first": ("Sin", np.sin),
    "grow": ("Exp", np.exp),
    "turn": ("Cos", np.cos),
    "size": ("Abs", np.abs),
    "shrink": ("Tanh", np.tanh),
    "again": ("Exp", np.exp),
    "last": ("Negative", np.negative),
}
"""A chain of layers: by name, the type, and what NumPy calls it."""


class Fault(NamedTuple):
    """A layer that the device computes wrongly.

    asked: for which tensor it must be asked, for the fault to appear; None if it always does, also
    for the layer alone.
    """

    layer: str
    asked: str | None


class Case(NamedTuple):
    """faults: of the device. blamed: the layers to blame. explained: those that are not.

    output: a layer of the chain that is an output of the model, too. questions: how often the whole
    model is run on the device.
    """

    faults: tuple[Fault, ...]
    blamed: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()
    output: str | None = None
    questions: int = 2


CASES = {
    "asked for": Case((Fault("grow", "grow"),), explained=("grow",)),
    "asked for the next one": Case((Fault("grow", "turn"),), explained=("grow",), questions=3),
    "asked for an output": Case((Fault("grow", "last"),), ("grow",), questions=3),
    "always": Case((Fault("grow", None),), ("grow",), questions=1),
    "an output, asked for the next one": Case(
        (Fault("grow", "turn"),), explained=("grow",), output="grow"
    ),
    "an output, asked for an output": Case((Fault("grow", "last"),), ("grow",), output="grow"),
    "two of them": Case(
        (Fault("grow", "grow"), Fault("again", "again")), explained=("grow", "again")
    ),
    "two of them, asked for others": Case(
        (Fault("grow", "first"), Fault("again", "shrink")), explained=("grow", "again"), questions=3
    ),
    "neighbours": Case(
        (Fault("grow", "grow"), Fault("turn", "turn")), explained=("turn",), questions=3
    ),
    "a fault behind": Case((Fault("grow", "grow"), Fault("size", None)), ("size",), ("grow",)),
    "a fault of the same type": Case(
        (Fault("grow", "grow"), Fault("again", None)), ("again",), ("grow",)
    ),
    "a fault before": Case((Fault("first", None), Fault("turn", "turn")), ("first",), ("turn",)),
}


def network(tmp_path: Path, output: str | None) -> tuple[irshape.Model, dict[str, str]]:
    """The chain, and the names of its layers by id."""
    net = Net()
    source = net.parameter("4", name="x")
    names: dict[str, str] = {}
    for name, (operation, _) in OPERATIONS.items():
        source = net.layer(operation, [source], name=name)
        names[source] = name
        if name in (output, "last"):
            net.result(source)
    return net.load(tmp_path), names


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_departs_only_where_the_device_is_asked_for_it(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, names = network(tmp_path, case.output)
    x = np.array([0.3, 0.9, 1.4, 2.1], np.float32)
    real = runtime.ask
    whole: list[set[str]] = []
    """For what the device was not asked, each time that it ran the whole model."""
    alone: list[str] = []

    def ask(folder: Path, request: dict[str, object]) -> runtime.Answer:
        answer = real(folder, request)
        if request["layers"] != "all":
            for (name, _), tensor in answer.values.items():
                alone.append(names[name])
                if Fault(names[name], None) in case.faults:
                    tensor.file.write_bytes((tensor.array() + np.float32(0.25)).tobytes())
            return answer
        asked = {names[name] for name, _ in answer.values if name in names}
        whole.append(OPERATIONS.keys() - asked)
        value = x
        files = {names[name]: tensor.file for (name, _), tensor in answer.values.items()}
        for name, (_, function) in OPERATIONS.items():
            value = function(value)
            if any(fault.layer == name and fault.asked in (None, *asked) for fault in case.faults):
                value = value + np.float32(0.25)
            if name in files:
                files[name].write_bytes(value.tobytes())
        return answer

    monkeypatch.setattr("irshape.comparison.runtime.ask", ask)
    recording = tmp_path / "kept.npz"
    comparison = irshape.crosscheck(model, {"x": x}, record=recording)
    rows = {row.layer.name: row for row in comparison.rows}
    blamed = tuple(name for name, row in rows.items() if row.own_verdict == "differs")
    assert (blamed, comparison.ok) == (case.blamed, not case.blamed), str(comparison)
    for name in case.explained:
        assert rows[name].own_verdict == rows[name].value_verdict == "explained"
        assert "requested tensors inside" in (rows[name].reason or "")
    for name in case.blamed:
        right_alone = Fault(name, None) not in case.faults
        said = "does not request" if right_alone else "the layer gives the same"
        assert said in (rows[name].own_reason or "")
    assert len(whole) == case.questions, whole
    assert not whole[0]
    assert len(alone) <= 6
    monkeypatch.setattr("irshape.comparison.runtime.ask", None)
    assert irshape.crosscheck(model, replay=recording).to_dict() == comparison.to_dict()
