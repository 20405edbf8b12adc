"""Kernels of another back end compute some operations, the declarations all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir import Net

import irshape
from irshape.execution.session import ExecutionError, Session
from irshape.ops.activation import Gelu_2, Gelu_7, ReLU
from irshape.ops.declaration import Operation
from irshape.ops.kernels import Kernels
from irshape.ops.reduction import ReduceMean

Array = np.ndarray[Any, np.dtype[Any]]

DATA = np.array([[1, 2, -3], [4, -5, 6]], np.float32)

LOOP = """<port_map>
<input external_port_id="2" internal_layer_id="0"/>
<output external_port_id="3" internal_layer_id="3"/>
<output external_port_id="-1" internal_layer_id="5" purpose="execution_condition"/>
</port_map>
<back_edges><edge from-layer="3" to-layer="0"/></back_edges>
<body><layers>
<layer id="0" name="in" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="1" name="axes" type="Const" version="opset1">
<data element_type="i64" shape="1" offset="0" size="8"/>
<output><port id="0" precision="I64"><dim>1</dim></port></output></layer>
<layer id="2" name="mean" type="ReduceMean" version="opset1"><data keep_dims="true"/>
<input><port id="0"/><port id="1"/></input>
<output><port id="2" precision="FP32"><dim>1</dim><dim>3</dim></port></output></layer>
<layer id="6" name="less" type="Subtract" version="opset1">
<input><port id="0"/><port id="1"/></input>
<output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="3" name="out" type="Result" version="opset1"><input><port id="0"/></input></layer>
<layer id="4" name="go" type="Const" version="opset1">
<data element_type="boolean" shape="" offset="8" size="1"/>
<output><port id="0" precision="BOOL"/></output></layer>
<layer id="5" name="on" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="0" from-port="0" to-layer="6" to-port="0"/>
<edge from-layer="2" from-port="2" to-layer="6" to-port="1"/>
<edge from-layer="6" from-port="2" to-layer="3" to-port="0"/>
<edge from-layer="4" from-port="0" to-layer="5" to-port="0"/>
</edges></body>"""


def halving() -> tuple[Kernels, list[tuple[int, ...]]]:
    """ReduceMean as half of the mean, so that its use is seen; and the shapes that it was given."""
    kernels, shapes = Kernels(), []

    @kernels.register(ReduceMean)
    def mean(operation: ReduceMean, data: Array, axes: Array) -> Array:
        shapes.append(data.shape)
        return np.mean(data, tuple(axes.ravel()), keepdims=operation.keep_dims) / 2

    return kernels, shapes


def test_a_kernel_replaces_the_evaluation_of_one_operation(tmp_path: Path) -> None:
    net = Net()
    axes = net.constant([1])
    mean = net.layer("ReduceMean", [net.parameter("2,3"), axes], 'keep_dims="true"')
    net.result(net.layer("ReduceMax", [mean, axes], 'keep_dims="false"'), "top")
    model = net.load(tmp_path)
    kernels, shapes = halving()
    (ours,) = Session(model, kernels=kernels).run([DATA]).values()
    (theirs,) = irshape.run(model, [DATA]).values()
    np.testing.assert_allclose(ours, DATA.mean(1) / 2)
    np.testing.assert_allclose(theirs, DATA.mean(1))
    assert shapes == [(2, 3)]


def test_a_loop_uses_the_kernels_in_its_body(tmp_path: Path) -> None:
    """Loop itself stays as it is declared."""
    net = Net()
    net.constant([0])  # the constants of the body lie at 0 and 8
    start, count = net.constant(True, "boolean"), net.constant(3)
    loop = net.layer(
        "Loop",
        [count, start, net.parameter("2,3")],
        version="opset5",
        inside=LOOP,
        outputs=["FP32:2,3"],
    )
    net.result(loop)
    kernels, shapes = halving()
    (values,) = Session(net.load(tmp_path), kernels=kernels).run([DATA]).values()
    expected = DATA
    for _ in range(3):
        expected = expected - expected.mean(0, keepdims=True) / 2
    np.testing.assert_allclose(values, expected, rtol=1e-6)
    assert shapes == [(2, 3)] * 3


def test_a_kernel_belongs_to_the_versions_that_it_names() -> None:
    kernels = Kernels()
    kernels.register(Gelu_2)(lambda operation, data: data)
    assert Gelu_2() in kernels
    assert Gelu_7() not in kernels  # inherits from Gelu_2
    with pytest.raises(ValueError, match="Gelu of opset2"):
        kernels.register(Gelu_7, Gelu_2)(lambda operation, data: data)
    assert Gelu_7() not in kernels


def test_a_kernel_computes_what_the_declaration_cannot() -> None:
    class Unevaluated(Operation):
        since = 1

    kernels, operation = Kernels(), Unevaluated()
    assert kernels.of(operation) is None
    kernels.register(Unevaluated)(lambda operation: 3)
    kernel = kernels.of(operation)
    assert kernel is not None
    assert kernel() == 3


def test_a_failure_of_a_kernel_names_the_layer(tmp_path: Path) -> None:
    net = Net()
    net.result(net.layer("ReLU", [net.parameter("2,3")], name="middle"))
    kernels = Kernels()

    @kernels.register(ReLU)
    def relu(operation: ReLU, data: Array) -> Array:
        raise ValueError("no device")

    with pytest.raises(ExecutionError, match=r"ReLU 'middle' .*no device"):
        Session(net.load(tmp_path), kernels=kernels).run([DATA])
