"""The same tasks with irshape, onnx-graphsurgeon, onnx-ir and OpenVINO's own Python API.

    pip install onnx onnx-ir onnx-graphsurgeon onnxruntime openvino
    python -m tests.graph.compare_graph_tools

Every function below does one task with one package, given the opened model; imports, loading and
saving are left out. Each is run, what it makes is run in onnxruntime or OpenVINO, and its outputs
are compared with what they have to be. Printed are tables of the lines that each function has,
and of what becomes of the same mistake.
"""

from __future__ import annotations

import copy
import inspect
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import onnx_ir as ir
import onnxruntime
import openvino as ov
import openvino.opset13 as ops
from onnx import helper, numpy_helper
from openvino import passes, preprocess

import irshape
from irshape import Graph, op

CHANCE = np.random.default_rng(0)
WEIGHTS = CHANCE.standard_normal((4, 3, 3, 3)).astype(np.float32)
BIAS, FACTOR = np.arange(4, dtype=np.float32).reshape(4, 1, 1), np.float32(0.5)
HEAD = CHANCE.standard_normal((4, 5)).astype(np.float32)
X = CHANCE.standard_normal((2, 3, 8, 8)).astype(np.float32)
GAIN = np.array([2.0], np.float32)


def model() -> onnx.ModelProto:
    """x [n,3,8,8] -> Conv 'conv' -> Add of a constant product -> Relu 'relu' -> ReduceMean 'mean'
    -> Mul by the input gain [1] -> y [n,4]."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Mul", ["bias", "factor"], ["s"], "scale"),
        helper.make_node("Add", ["c", "s"], ["t"], "shift"),
        helper.make_node("Relu", ["t"], ["r"], "relu"),
        helper.make_node("ReduceMean", ["r", "axes"], ["m"], "mean", keepdims=0),
        helper.make_node("Mul", ["m", "gain"], ["y"], "gained"),
    ]
    arrays = {"w": WEIGHTS, "bias": BIAS, "factor": FACTOR, "axes": np.array([2, 3])}
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "net",
        [value("x", 1, ["n", 3, 8, 8]), value("gain", 1, [1])],
        [value("y", 1, ["n", 4])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def head() -> onnx.ModelProto:
    """features [n,4] -> MatMul -> logits [n,5]."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["features", "h"], ["logits"], "matmul")],
        "head",
        [value("features", 1, ["n", 4])],
        [value("logits", 1, ["n", 5])],
        [numpy_helper.from_array(HEAD, "h")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


# what is to come out


def conv(x: Any, w: Any = WEIGHTS) -> Any:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w)


def shifted(x: Any = X, w: Any = WEIGHTS) -> Any:
    return conv(x, w) + BIAS * FACTOR


def mean(x: Any, gain: Any = GAIN) -> Any:
    return x.mean((2, 3)) * gain


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


PLAIN = mean(relu(shifted()))
WHOLE = np.ones((1, 3, 16, 16), np.float32)


class Task(NamedTuple):
    title: str
    feed: dict[str, Any]
    expected: dict[str, Any]
    """What the outputs have to be, by name."""


FED = {"x": X, "gain": GAIN}
E_X = np.exp(PLAIN - PLAIN.max(1, keepdims=True))
SOFT = E_X / E_X.sum(1, keepdims=True)
TASKS = {
    "rename": Task(
        "Rename an input and an output", {"image": X, "gain": GAIN}, {"features": PLAIN}
    ),
    "reshape": Task(
        "Give an input another shape", {"x": WHOLE, "gain": GAIN}, {"y": mean(relu(shifted(WHOLE)))}
    ),
    "extract": Task("Extract a part", {"t": shifted()}, {"r": relu(shifted())}),
    "insert": Task(
        "Insert a layer", FED, {"y": mean(relu(np.clip(conv(X), 0, 1) + BIAS * FACTOR))}
    ),
    "remove": Task("Remove a layer", FED, {"y": mean(shifted())}),
    "replace": Task("Replace a layer", FED, {"y": mean(np.tanh(shifted()))}),
    "output": Task("Make an intermediate tensor an output", FED, {"y": PLAIN, "t": shifted()}),
    "attribute": Task(
        "Change an attribute",
        FED,
        {"y": relu(shifted()).mean((2, 3), keepdims=True) * GAIN},
    ),
    "weights": Task("Change weights", FED, {"y": mean(relu(shifted(w=WEIGHTS / 2)))}),
    "fold": Task("Fold constants", FED, {"y": PLAIN}),
    "merge": Task("Put one model behind another", FED, {"logits": PLAIN @ HEAD}),
    "bind": Task("Replace an input by a value", {"x": X}, {"y": mean(relu(shifted()), 3.0)}),
    "normalize": Task(
        "Take images that are not normalized",
        {"x": X * 2 + 1, "gain": GAIN},
        {"y": PLAIN},
    ),
    "append": Task("Add a product and make it the output", FED, {"z": PLAIN @ HEAD}),
    "top": Task(
        "Add a softmax and the most likely class",
        FED,
        {"score": SOFT.max(1, keepdims=True), "class": SOFT.argmax(1)[:, None]},
    ),
}


# irshape


def irshape_rename(graph: Graph) -> Any:
    graph.rename({"x": "image", "y": "features"})


def irshape_reshape(graph: Graph) -> Any:
    graph.reshape({"x": "[1,3,16,16]"})


def irshape_extract(graph: Graph) -> Any:
    return graph.extract(["t"], ["r"])


def irshape_insert(graph: Graph) -> Any:
    graph.tensor("c").insert_after("Clamp", min=0, max=1)


def irshape_remove(graph: Graph) -> Any:
    graph["relu"].remove(bypass=0)


def irshape_replace(graph: Graph) -> Any:
    graph.tensor("r").replace_uses(op.tanh(graph.tensor("t")))
    graph.clean()


def irshape_output(graph: Graph) -> Any:
    graph.add_output("t")


def irshape_attribute(graph: Graph) -> Any:
    graph["mean"].set(keep_dims=True)


def irshape_weights(graph: Graph) -> Any:
    graph.tensor("w").replace_uses(graph.constant(graph["w"].value / 2))
    graph.clean()


def irshape_fold(graph: Graph) -> Any:
    graph.fold()


def irshape_merge(graph: Graph, second: Graph) -> Any:
    return irshape.merge(graph, second, {"y": "features"})


def irshape_bind(graph: Graph) -> Any:
    graph.bind("gain", [3.0])


def irshape_normalize(graph: Graph) -> Any:
    graph.preprocess("x", mean=1.0, scale=2.0)


def irshape_append(graph: Graph) -> Any:
    graph.result(graph.tensor("y") @ HEAD, "z")
    graph.drop_output("y")


def irshape_top(graph: Graph) -> Any:
    scores = op.softmax(graph.tensor("y"), axis=1)
    score, index = op.topk(scores, 1, axis=1, mode="max", sort="value")
    graph.drop_output("y")
    graph.result(score, "score")
    graph.result(index, "class")


# onnx-graphsurgeon


def gs_rename(graph: Any) -> Any:
    graph.inputs[0].name = "image"
    graph.outputs[0].name = "features"


def gs_reshape(graph: Any) -> Any:
    graph.inputs[0].shape = [1, 3, 16, 16]
    graph.outputs[0].shape = [1, 4]


def gs_extract(graph: Any) -> Any:
    tensors = graph.tensors()
    graph.inputs = [tensors["t"].to_variable(np.float32, ["n", 4, 8, 8])]
    graph.outputs = [tensors["r"].to_variable(np.float32, ["n", 4, 8, 8])]
    tensors["t"].inputs.clear()
    graph.cleanup()


def gs_insert(graph: Any) -> Any:
    c = graph.tensors()["c"]
    clipped = gs.Variable("clipped", np.float32, ["n", 4, 8, 8])
    for user in list(c.outputs):
        user.inputs[user.inputs.index(c)] = clipped
    bounds = [gs.Constant(str(n), np.array(n, np.float32)) for n in (0, 1)]
    graph.nodes.append(gs.Node("Clip", "clip", inputs=[c, *bounds], outputs=[clipped]))
    graph.toposort()


def gs_remove(graph: Any) -> Any:
    node = next(node for node in graph.nodes if node.name == "relu")
    for user in list(node.outputs[0].outputs):
        user.inputs[user.inputs.index(node.outputs[0])] = node.inputs[0]
    node.outputs.clear()
    graph.cleanup()


def gs_replace(graph: Any) -> Any:
    node = next(node for node in graph.nodes if node.name == "relu")
    node.op = "Tanh"


def gs_output(graph: Any) -> Any:
    t = graph.tensors()["t"]
    t.dtype, t.shape = np.dtype(np.float32), ["n", 4, 8, 8]
    graph.outputs.append(t)


def gs_attribute(graph: Any) -> Any:
    node = next(node for node in graph.nodes if node.name == "mean")
    node.attrs["keepdims"] = 1
    graph.outputs[0].shape = ["n", 4, 1, 1]


def gs_weights(graph: Any) -> Any:
    w = graph.tensors()["w"]
    w.values = w.values / 2


def gs_fold(graph: Any) -> Any:
    graph.fold_constants().cleanup()


def gs_merge(graph: Any, second: Any) -> Any:
    y, features = graph.outputs[0], second.inputs[0]
    for user in list(features.outputs):
        user.inputs[user.inputs.index(features)] = y
    graph.nodes.extend(second.nodes)
    graph.outputs = second.outputs


def gs_bind(graph: Any) -> Any:
    graph.tensors()["gain"].to_constant(np.array([3.0], np.float32))
    graph.inputs = [tensor for tensor in graph.inputs if tensor.name != "gain"]


def gs_normalize(graph: Any) -> Any:
    x = graph.inputs[0]
    centred = gs.Variable("centred", np.float32, x.shape)
    scaled = gs.Variable("scaled", np.float32, x.shape)
    for user in list(x.outputs):
        user.inputs[user.inputs.index(x)] = scaled
    one, two = [gs.Constant(str(n), np.array(n, np.float32)) for n in (1, 2)]
    graph.nodes.append(gs.Node("Sub", "centre", inputs=[x, one], outputs=[centred]))
    graph.nodes.append(gs.Node("Div", "normalize", inputs=[centred, two], outputs=[scaled]))
    graph.toposort()


def gs_append(graph: Any) -> Any:
    z = gs.Variable("z", np.float32, ["n", 5])
    inputs = [graph.outputs[0], gs.Constant("head", HEAD)]
    graph.nodes.append(gs.Node("MatMul", "product", inputs=inputs, outputs=[z]))
    graph.outputs = [z]


def gs_top(graph: Any) -> Any:
    soft = gs.Variable("soft", np.float32, ["n", 4])
    best = [gs.Variable("score", np.float32, ["n", 1]), gs.Variable("class", np.int64, ["n", 1])]
    node = gs.Node("Softmax", "softmax", {"axis": 1}, [graph.outputs[0]], [soft])
    one = gs.Constant("one", np.array([1]))
    graph.nodes.extend([node, gs.Node("TopK", "top", {"axis": 1}, [soft, one], best)])
    graph.outputs = best


# onnx-ir


def ir_rename(opened: Any) -> Any:
    opened.graph.inputs[0].name = "image"
    opened.graph.outputs[0].name = "features"


def ir_reshape(opened: Any) -> Any:
    opened.graph.inputs[0].shape = ir.Shape([1, 3, 16, 16])
    opened.graph.outputs[0].shape = ir.Shape([1, 4])


def ir_extract(opened: Any) -> Any:
    t = opened.graph.node("shift").outputs[0]
    t.type, t.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(["n", 4, 8, 8])
    r = opened.graph.node("relu").outputs[0]
    r.type, r.shape = t.type, t.shape
    return ir.convenience.extract(opened.graph, [t], [r])


def ir_insert(opened: Any) -> Any:
    graph = opened.graph
    c = graph.node("conv").outputs[0]
    bounds = [ir.Value(name=str(n), const_value=ir.tensor(np.float32(n))) for n in (0, 1)]
    for bound in bounds:
        graph.register_initializer(bound)
    clip = ir.node("Clip", [c, *bounds], name="clip")
    uses = [(node, at) for node, at in c.uses() if node is not clip]
    for node, at in uses:
        node.replace_input_with(at, clip.outputs[0])
    graph.insert_after(graph.node("conv"), clip)


def ir_remove(opened: Any) -> Any:
    node = opened.graph.node("relu")
    ir.convenience.replace_all_uses_with(node.outputs[0], node.inputs[0])
    opened.graph.remove(node, safe=True)


def ir_replace(opened: Any) -> Any:
    opened.graph.node("relu").op_type = "Tanh"


def ir_output(opened: Any) -> Any:
    t = opened.graph.node("shift").outputs[0]
    t.type, t.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(["n", 4, 8, 8])
    opened.graph.outputs.append(t)


def ir_attribute(opened: Any) -> Any:
    opened.graph.node("mean").attributes["keepdims"] = ir.AttrInt64("keepdims", 1)
    opened.graph.outputs[0].shape = ir.Shape(["n", 4, 1, 1])


def ir_weights(opened: Any) -> Any:
    w = opened.graph.initializers["w"]
    w.const_value = ir.tensor(w.const_value.numpy() / 2, name="w")


def ir_fold(opened: Any) -> Any:
    return "does not: it is a pass of onnxscript"


def ir_merge(opened: Any, second: Any) -> Any:
    graph, other = opened.graph, second.graph
    ir.convenience.replace_all_uses_with(other.inputs[0], graph.outputs[0])
    nodes, outputs, weights = list(other), list(other.outputs), list(other.initializers.values())
    other.outputs.clear()
    other.initializers.clear()
    other.remove(nodes)
    for weight in weights:
        graph.register_initializer(weight)
    graph.extend(nodes)
    graph.outputs[:] = outputs


def ir_bind(opened: Any) -> Any:
    gain = opened.graph.inputs.pop(1)
    gain.const_value = ir.tensor(np.array([3.0], np.float32), name="gain")
    opened.graph.register_initializer(gain)


def ir_normalize(opened: Any) -> Any:
    graph = opened.graph
    x = graph.inputs[0]
    users = list(x.uses())
    numbers = [ir.Value(name=str(n), const_value=ir.tensor(np.float32(n))) for n in (1, 2)]
    for number in numbers:
        graph.register_initializer(number)
    centre = ir.node("Sub", [x, numbers[0]])
    scale = ir.node("Div", [centre.outputs[0], numbers[1]])
    for node, at in users:
        node.replace_input_with(at, scale.outputs[0])
    graph.insert_before(graph[0], [centre, scale])


def ir_append(opened: Any) -> Any:
    weights = ir.Value(name="head", const_value=ir.tensor(HEAD))
    opened.graph.register_initializer(weights)
    product = ir.node("MatMul", [opened.graph.outputs[0], weights])
    opened.graph.append(product)
    z = product.outputs[0]
    z.name, z.type, z.shape = "z", ir.TensorType(ir.DataType.FLOAT), ir.Shape(["n", 5])
    opened.graph.outputs[:] = [z]


def ir_top(opened: Any) -> Any:
    one = ir.Value(name="one", const_value=ir.tensor(np.array([1])))
    opened.graph.register_initializer(one)
    softmax = ir.node("Softmax", [opened.graph.outputs[0]], {"axis": 1})
    top = ir.node("TopK", [softmax.outputs[0], one], {"axis": 1}, num_outputs=2)
    opened.graph.extend([softmax, top])
    for value, name in zip(top.outputs, ("score", "class"), strict=True):
        value.name, value.shape = name, ir.Shape(["n", 1])
        value.type = ir.TensorType(ir.DataType["INT64" if name == "class" else "FLOAT"])
    opened.graph.outputs[:] = top.outputs


# OpenVINO


def _named(opened: Any, name: str) -> Any:
    """Left out of the counts: the API finds layers by a loop only."""
    return next(node for node in opened.get_ops() if node.friendly_name == name)


def ov_rename(opened: Any) -> Any:
    opened.input("x").tensor.set_names({"image"})
    opened.output("y").tensor.set_names({"features"})


def ov_reshape(opened: Any) -> Any:
    opened.reshape({"x": [1, 3, 16, 16]})


def ov_extract(opened: Any) -> Any:
    node = _named(opened, "relu")
    start = ops.parameter(node.input(0).get_partial_shape(), node.get_input_element_type(0), "t")
    start.output(0).tensor.set_names({"t"})
    node.input(0).replace_source_output(start.output(0))
    return ov.Model([node], [start])


def ov_insert(opened: Any) -> Any:
    node = _named(opened, "conv")
    users = node.output(0).get_target_inputs()
    clamp = ops.clamp(node, 0, 1)
    for user in users:
        user.replace_source_output(clamp.output(0))


def ov_remove(opened: Any) -> Any:
    node = _named(opened, "relu")
    for user in node.output(0).get_target_inputs():
        user.replace_source_output(node.input_value(0))


def ov_replace(opened: Any) -> Any:
    node = _named(opened, "relu")
    tanh = ops.tanh(node.input_value(0))
    for user in node.output(0).get_target_inputs():
        user.replace_source_output(tanh.output(0))


def ov_output(opened: Any) -> Any:
    opened.add_outputs("t")


def ov_attribute(opened: Any) -> Any:
    _named(opened, "mean").set_attribute("keep_dims", True)
    opened.validate_nodes_and_infer_types()


def ov_weights(opened: Any) -> Any:
    node = _named(opened, "w")
    half = ops.constant(node.data / 2)
    for user in node.output(0).get_target_inputs():
        user.replace_source_output(half.output(0))


def ov_fold(opened: Any) -> Any:
    manager = passes.Manager()
    manager.register_pass(passes.ConstantFolding())
    manager.run_passes(opened)


def ov_merge(opened: Any, second: Any) -> Any:
    y = opened.output("y").get_node().input_value(0)
    for user in second.input("features").get_target_inputs():
        user.replace_source_output(y)
    return ov.Model(second.get_results(), opened.get_parameters())


def ov_bind(opened: Any) -> Any:
    gain = opened.input("gain").get_node()
    value = ops.constant(np.array([3.0], np.float32))
    for user in gain.output(0).get_target_inputs():
        user.replace_source_output(value.output(0))
    opened.remove_parameter(gain)


def ov_normalize(opened: Any) -> Any:
    steps = preprocess.PrePostProcessor(opened)
    steps.input("x").preprocess().mean(1.0).scale(2.0)
    return steps.build()


def ov_append(opened: Any) -> Any:
    product = ops.matmul(opened.output("y").get_node().input_value(0), HEAD, False, False)
    product.output(0).tensor.set_names({"z"})
    return ov.Model([product], opened.get_parameters())


def ov_top(opened: Any) -> Any:
    soft = ops.softmax(opened.output("y").get_node().input_value(0), 1)
    top = ops.topk(soft, 1, 1, "max", "value")
    top.output(0).tensor.set_names({"score"})
    top.output(1).tensor.set_names({"class"})
    results = [ops.result(top.output(0)), ops.result(top.output(1))]
    return ov.Model(results, opened.get_parameters())


# running them


class Tool(NamedTuple):
    name: str
    prefix: str
    open: Callable[[onnx.ModelProto, Path], Any]
    run: Callable[[Any, dict[str, Any], Path], dict[str, Any]]


def _saved(proto: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "in.onnx"
    onnx.save(proto, path)
    return path


def _by_onnxruntime(proto: onnx.ModelProto, feed: dict[str, Any]) -> dict[str, Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


def _by_openvino(opened: Any, feed: dict[str, Any]) -> dict[str, Any]:
    compiled = ov.compile_model(opened, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    outputs = compiled(feed)
    return {port.any_name: outputs[port] for port in compiled.outputs}


def _run_irshape(graph: Graph, feed: dict[str, Any], folder: Path) -> dict[str, Any]:
    graph.save(folder / "out.xml")
    return _by_openvino(ov.Core().read_model(folder / "out.xml"), feed)


def _run_ir(opened: Any, feed: dict[str, Any], folder: Path) -> dict[str, Any]:
    if isinstance(opened, ir.Graph):
        opened = ir.Model(opened, ir_version=9)
    return _by_onnxruntime(ir.to_proto(opened), feed)


TOOLS = (
    Tool("irshape", "irshape", lambda m, f: Graph.load(_saved(m, f)), _run_irshape),
    Tool(
        "onnx-graphsurgeon",
        "gs",
        lambda m, f: gs.import_onnx(copy.deepcopy(m)),
        lambda g, feed, f: _by_onnxruntime(gs.export_onnx(g), feed),
    ),
    Tool("onnx-ir", "ir", lambda m, f: ir.from_proto(copy.deepcopy(m)), _run_ir),
    Tool(
        "OpenVINO",
        "ov",
        lambda m, f: ov.Core().read_model(_saved(m, f)),
        lambda m, feed, f: _by_openvino(m, feed),
    ),
)


def lines(function: Callable[..., Any]) -> int:
    """The lines of a function below its head."""
    source = inspect.getsource(function).split("\n")
    start = next(at for at, line in enumerate(source) if line.rstrip().endswith("-> Any:"))
    return sum(1 for line in source[start + 1 :] if line.strip())


def done(tool: Tool, name: str) -> str:
    """The lines of a task if its result is right; else what became of it."""
    task, function = TASKS[name], globals()[f"{tool.prefix}_{name}"]
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        opened = tool.open(model(), folder)
        more = [tool.open(head(), folder)] if name == "merge" else []
        changed = function(opened, *more)
        if isinstance(changed, str):
            return changed
        try:
            outputs = tool.run(opened if changed is None else changed, task.feed, folder)
        except Exception as error:
            return f"fails: {' '.join(str(error).split())[:200]}"
    for output, expected in task.expected.items():
        if output not in outputs:
            return f"no output {output} among {', '.join(outputs)}"
        if outputs[output].shape != expected.shape:
            return f"{output} has shape {outputs[output].shape}"
        if not np.allclose(outputs[output], expected, 1e-3, 1e-4):
            return f"{output} is wrong"
    return str(lines(function))


# mistakes

WRONG_HEAD = np.ones((5, 6), np.float32)
WRONG_BIAS = np.ones((5, 1, 1), np.float32)
MISTAKES = {
    "columns": "Weights of [5,6] behind [n,4]",
    "channels": "A bias of 5 channels where there are 4",
    "input": "An input of 5 channels for weights of 3",
    "seam": "A second model that takes [n,6] behind [n,4]",
    "axis": "A mean over axis 7 of a tensor of rank 4",
}


def irshape_columns(graph: Graph) -> Any:
    graph.result(graph.tensor("y") @ WRONG_HEAD, "z")


def irshape_channels(graph: Graph) -> Any:
    graph.tensor("c").insert_after("Add", WRONG_BIAS)


def irshape_input(graph: Graph) -> Any:
    graph.reshape({"x": "[1,5,8,8]"})


def irshape_seam(graph: Graph, second: Graph) -> Any:
    return irshape.merge(graph, second, {"y": "features"})


def irshape_axis(graph: Graph) -> Any:
    graph["mean"].inputs[1].source = graph.constant([7])


def gs_columns(graph: Any) -> Any:
    z = gs.Variable("z", np.float32, ["n", 6])
    inputs = [graph.outputs[0], gs.Constant("head", WRONG_HEAD)]
    graph.nodes.append(gs.Node("MatMul", "product", inputs=inputs, outputs=[z]))
    graph.outputs = [z]


def gs_channels(graph: Any) -> Any:
    graph.tensors()["bias"].values = WRONG_BIAS


def gs_input(graph: Any) -> Any:
    graph.inputs[0].shape = [1, 5, 8, 8]


gs_seam = gs_merge


def gs_axis(graph: Any) -> Any:
    graph.tensors()["axes"].values = np.array([7])


def ir_columns(opened: Any) -> Any:
    weights = ir.Value(name="head", const_value=ir.tensor(WRONG_HEAD))
    opened.graph.register_initializer(weights)
    product = ir.node("MatMul", [opened.graph.outputs[0], weights])
    opened.graph.append(product)
    z = product.outputs[0]
    z.name, z.type, z.shape = "z", ir.TensorType(ir.DataType.FLOAT), ir.Shape(["n", 6])
    opened.graph.outputs[:] = [z]


def ir_channels(opened: Any) -> Any:
    opened.graph.initializers["bias"].const_value = ir.tensor(WRONG_BIAS, name="bias")


def ir_input(opened: Any) -> Any:
    opened.graph.inputs[0].shape = ir.Shape([1, 5, 8, 8])


ir_seam = ir_merge


def ir_axis(opened: Any) -> Any:
    opened.graph.initializers["axes"].const_value = ir.tensor(np.array([7]), name="axes")


def ov_columns(opened: Any) -> Any:
    product = ops.matmul(opened.output("y").get_node().input_value(0), WRONG_HEAD, False, False)
    return ov.Model([product], opened.get_parameters())


def ov_channels(opened: Any) -> Any:
    node = _named(opened, "shift")
    node.input(1).replace_source_output(ops.constant(WRONG_BIAS).output(0))


def ov_input(opened: Any) -> Any:
    opened.reshape({"x": [1, 5, 8, 8]})


ov_seam = ov_merge


def ov_axis(opened: Any) -> Any:
    _named(opened, "mean").input(1).replace_source_output(ops.constant([7]).output(0))


def told(tool: Tool, name: str) -> str:
    """What becomes of a mistake: the first step that raises, and how it says so."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        opened = tool.open(model(), folder)
        wrong = head()
        wrong.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.ones((6, 5), "f4"), "h"))
        wrong.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 6
        more = [tool.open(wrong, folder)] if name == "seam" else []
        steps: list[tuple[str, Callable[[Any], Any]]] = [
            ("the line", lambda x: globals()[f"{tool.prefix}_{name}"](x, *more) or x)
        ]
        if tool.prefix == "ov":
            steps += [("saving", lambda m: ov.save_model(m, folder / "x.xml") or m)]
            steps += [("compiling", lambda m: ov.compile_model(m, "CPU"))]
        elif tool.prefix != "irshape":
            export = gs.export_onnx if tool.prefix == "gs" else ir.to_proto
            steps += [
                ("saving", export),
                ("onnx.checker", lambda m: onnx.checker.check_model(m) or m),
                (
                    "strict shape inference",
                    lambda m: onnx.shape_inference.infer_shapes(m, strict_mode=True) and m,
                ),
                ("loading", lambda m: onnxruntime.InferenceSession(m.SerializeToString())),
            ]
        state: Any = opened
        for step, action in steps:
            try:
                state = action(state)
            except Exception as error:
                lines_said = [line.strip() for line in str(error).split("\n") if line.strip()]
                said = next((each for each in lines_said if "[" in each[1:]), lines_said[0])
                return f"{step}: `{said[:150]}`"
    return "nothing says so before it runs"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("| Task | " + " | ".join(tool.name for tool in TOOLS) + " |\n" + "|---" * 5 + "|")
    for name, task in TASKS.items():
        print(f"| {task.title} | " + " | ".join(done(tool, name) for tool in TOOLS) + " |")
    print("\n| Mistake | " + " | ".join(tool.name for tool in TOOLS) + " |\n" + "|---" * 5 + "|")
    for name, title in MISTAKES.items():
        print(f"| {title} | " + " | ".join(told(tool, name) for tool in TOOLS) + " |")
