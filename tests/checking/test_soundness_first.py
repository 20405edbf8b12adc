"""No command and no function computes a model that `validate` rejects."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import irshape
from irshape.cli import cli
from tests.ir import Net


def reduction(folder: Path) -> Path:
    net = Net()
    data = net.parameter("2,3", name="x")
    mean = net.layer("ReduceMean", [data, net.constant([1])], 'keep_dims="true"', name="mean")
    net.result(net.layer("Add", [mean, net.constant([1.0, 2.0, 3.0], "f32")], name="sum"))
    return net.save(folder)


def pooling(folder: Path) -> Path:
    net = Net()
    data = net.parameter("1,1,4,4", name="x")
    attributes = (
        'strides="1,1" pads_begin="0,0" pads_end="0,0" kernel="2,2" rounding_type="floor" '
        'auto_pad="explicit"'
    )
    net.result(net.layer("MaxPool", [data], attributes, name="pool"))
    return net.save(folder)


class Fault(NamedTuple):
    """A sound model, an edit of its text, and the finding that stops it."""

    model: Callable[[Path], Path]
    old: str
    new: str
    code: str
    layer: str


FAULTS = {
    "a constant that needs more bytes than its size": Fault(
        reduction, 'shape="3" offset="8" size="12"', 'shape="3" offset="8" size="8"', "IR503", "c3"
    ),
    "a constant past the end of the .bin": Fault(
        reduction, 'offset="8" size="12"', 'offset="12" size="12"', "IR502", "c3"
    ),
    "keep_dims other than the port declares": Fault(
        reduction, 'keep_dims="true"', 'keep_dims="false"', "IR201", "mean"
    ),
    "an attribute that is no boolean": Fault(
        reduction, 'keep_dims="true"', 'keep_dims="maybe"', "IR304", "mean"
    ),
    "a misspelt attribute": Fault(reduction, "keep_dims", "keepdims", "IR302", "mean"),
    "an edge to nowhere": Fault(reduction, 'from-layer="3"', 'from-layer="33"', "IR110", "sum"),
    "an operation that nobody declared": Fault(
        reduction, 'type="Add"', 'type="Addd"', "IR602", "sum"
    ),
    "a kernel larger than what it slides over": Fault(
        pooling, 'kernel="2,2"', 'kernel="1000000,1000000"', "IR401", "pool"
    ),
}


@pytest.fixture(params=FAULTS, ids=lambda name: name.replace(" ", "-"))
def fault(request: pytest.FixtureRequest) -> Fault:
    return FAULTS[request.param]


def spoilt(fault: Fault, folder: Path) -> Path:
    path = fault.model(folder)
    text = path.read_text()
    assert fault.old in text
    path.write_text(text.replace(fault.old, fault.new))
    return path


CALLS: dict[str, Callable[[irshape.Model], object]] = {
    "run": lambda model: irshape.run(model, [np.ones(_shape(model), np.float32)]),
    "session": irshape.Session,
    "crosscheck": irshape.crosscheck,
    "compare": lambda model: irshape.compare(model, model),
}


def _shape(model: irshape.Model) -> tuple[int, ...]:
    return tuple(model.parameters[0].outputs[0].dims or ())


@pytest.mark.parametrize("call", CALLS)
def test_what_validate_rejects_is_not_computed(fault: Fault, call: str, tmp_path: Path) -> None:
    model = irshape.load(spoilt(fault, tmp_path))
    with pytest.raises(irshape.ExecutionError) as refusal:
        CALLS[call](model)
    first = refusal.value.diagnostics[0]
    assert (first.code, first.layer["name"]) == (fault.code, fault.layer)
    assert f"{model.path}:{first.line}:{first.column}" in str(refusal.value)
    reported = {
        (each.code, each.line, each.column, each.message)
        for finding in irshape.validate(model).diagnostics
        for each in finding.whole
    }
    stopping = refusal.value.diagnostics
    assert {(each.code, each.line, each.column, each.message) for each in stopping} <= reported


COMMANDS = {
    "run": ["run", "{model}", "--random"],
    "crosscheck": ["crosscheck", "{model}"],
    "compare": ["compare", "{model}", "{model}"],
    "convert": ["convert", "{model}", "-o", "{out}"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_print_what_validate_prints(
    fault: Fault, command: str, tmp_path: Path
) -> None:
    path = str(spoilt(fault, tmp_path))
    arguments = [part.format(model=path, out=tmp_path / "out.xml") for part in COMMANDS[command]]
    done = CliRunner().invoke(cli, arguments)
    validated = CliRunner().invoke(cli, ["validate", path]).output
    finding = next(part for part in validated.split("\n\n") if f"[{fault.code}]" in part)
    assert done.exit_code == 1
    assert finding in done.output
    assert "--force continues" in done.output
    assert not (tmp_path / "out.xml").exists()


def test_force_goes_on(tmp_path: Path) -> None:
    fault = FAULTS["keep_dims other than the port declares"]
    path = spoilt(fault._replace(new='keep_dims="0"'), tmp_path)
    model = irshape.load(path)
    assert not irshape.validate(model).ok
    data = [np.ones((2, 3), np.float32)]
    with pytest.raises(irshape.ExecutionError, match=r"Add .sum. .*\[3\].*\[2\].*: x="):
        irshape.run(model, data, force=True)
    pool = irshape.load(pooling(tmp_path))
    port = next(layer for layer in pool.layers if layer.name == "pool").outputs[0]
    port.dims = (1, 1, 9, 9)
    data = [np.ones((1, 1, 4, 4), np.float32)]
    with pytest.raises(irshape.ExecutionError, match="IR201"):
        irshape.run(pool, data)
    (forced,) = irshape.run(pool, data, force=True).values()
    (session,) = irshape.Session(pool, force=True).run(data).values()
    assert forced.shape == session.shape == (1, 1, 3, 3)


def test_a_comment_that_silences_a_finding_lets_the_model_run(tmp_path: Path) -> None:
    path = pooling(tmp_path)
    text = re.sub(r'(name="pool"[^>]*>)', r"\1<!-- irshape: disable=IR201 -->", path.read_text())
    path.write_text(
        text.replace(
            "<dim>3</dim><dim>3</dim></port></output>", "<dim>9</dim><dim>9</dim></port></output>"
        )
    )
    (computed,) = irshape.run(path, [np.ones((1, 1, 4, 4), np.float32)]).values()
    assert computed.shape == (1, 1, 3, 3)


class Change(NamedTuple):
    """A change of a model, and the sum that a run of ones then gives; None where it is refused."""

    apply: Callable[[irshape.Model], None]
    total: float | None


def _attribute(model: irshape.Model) -> None:
    layer = _named(model, "scaled")
    layer.attributes = {**layer.attributes, "exclusive": "true"}


def _type(model: irshape.Model) -> None:
    _named(model, "sum").type = "Subtract"


def _edge(model: irshape.Model) -> None:
    edges, target = model.net.edges, _named(model, "sum").id
    at = next(at for at, edge in enumerate(edges) if edge.to_layer == target)
    edges[at] = edges[at]._replace(from_layer=_named(model, "x").id, from_port="0")


def _layer(model: irshape.Model) -> None:
    model.net.layers.remove(_named(model, "scaled"))


def _weights(model: irshape.Model) -> None:
    from irshape.model.weights import Weights

    model.weights = Weights(None, struct.pack("<q3f", 1, 5.0, 5.0, 5.0), "ready")


def _bin(model: irshape.Model) -> None:
    path = Path(model.path).with_suffix(".bin")
    with path.open("r+b") as file:
        file.seek(8)
        file.write(struct.pack("<3f", 7.0, 7.0, 7.0))


def _port(model: irshape.Model) -> None:
    _named(model, "sum").outputs[0].dims = (2, 4)


CHANGES = {
    "an attribute": Change(_attribute, 2 * (0 + 1 + 2) + 12.0),
    "a type": Change(_type, 2 * (1 + 2 + 3) - 12.0),
    "an edge": Change(_edge, 6.0 + 12.0),
    "a layer that is gone": Change(_layer, None),
    "other weights": Change(_weights, 12.0 + 30.0),
    "the .bin itself": Change(_bin, 12.0 + 42.0),
    "a port": Change(_port, None),
}


def _named(model: irshape.Model, name: str) -> irshape.Layer:
    return next(layer for layer in model.layers if layer.name == name)


def sums(folder: Path) -> irshape.Model:
    net = Net()
    data = net.parameter("2,3", name="x")
    scaled = net.layer("CumSum", [data, net.constant(1)], version="opset3", name="scaled")
    net.result(
        net.layer("Add", [scaled, net.constant([1.0, 2.0, 3.0], "f32")], name="sum"), name="out"
    )
    return net.load(folder)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kept", ["run", "session"])
def test_a_changed_model_is_noticed(name: str, kept: str, tmp_path: Path) -> None:
    model = sums(tmp_path)
    data = [np.ones((2, 3), np.float32)]
    session = irshape.Session(model)
    run = session.run if kept == "session" else lambda data: irshape.run(model, data)
    assert float(next(iter(run(data).values())).sum()) == 12.0 + 12.0
    CHANGES[name].apply(model)
    total = CHANGES[name].total
    if total is None:
        with pytest.raises(irshape.ExecutionError) as refusal:
            run(data)
        assert refusal.value.diagnostics
    else:
        assert float(next(iter(run(data).values())).sum()) == total
