"""The files and variables that the examples of the documents speak of."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from click.testing import CliRunner
from onnx import TensorProto, helper

import irshape
from irshape import Graph, op
from irshape.cli import cli

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def model(name: str = "model") -> Graph:
    """A model with the layers and tensors that the documents name: `x`, `conv_17`, `logits` …"""
    graph = Graph(name=name)
    x = graph.parameter("f32", "[?,3,?,?]", name="x")
    kernel = np.ones((3, 3, 1, 1), np.float32)
    embeddings = op.abs(x, name="embeddings")
    mean = op.reduce_mean(embeddings, [2, 3], keep_dims=True, name="encoder/mean")
    normed = op.subtract(embeddings, mean, name="encoder/norm_1")
    convolved = op.convolution(
        normed,
        kernel,
        strides=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
        dilations=[1, 1],
        name="conv_17",
    )
    encoded = op.relu(convolved, name="encoder/out")
    block = op.relu(op.add(encoded, 1.0), name="block6")
    decoded = op.tanh(block, name="decoder/out")
    boxes, scores = op.sigmoid(decoded, name="boxes"), op.relu(decoded, name="scores")
    graph.result(op.softmax(op.add(boxes, scores), axis=1, name="logits"), "y")
    graph.result(mean, "mean")
    return graph


def one_layer(kind: str, taken: str, given: str, *shape: Any) -> Graph:
    graph = Graph(name=kind)
    x = graph.parameter("f32", list(shape), name=taken)
    graph.result(graph.add(kind, x), given)
    return graph


def language_model() -> Graph:
    """A model whose batch and sequence are dynamic, with the tensors `input_ids` and `logits`."""
    graph = Graph(name="language")
    ids = graph.parameter("i64", "[?,?]", name="input_ids")
    graph.result(op.gather(np.ones((9, 4), np.float32), ids, 0), "logits")
    return graph


def too_large() -> Graph:
    """A model that leaves the range of f16."""
    graph = Graph(name="large")
    x = graph.parameter("f32", "[1,4]", name="x")
    graph.result(op.multiply(x, 1e6, name="big"), "y")
    return graph


def altered(folder: Path) -> None:
    """classifier.xml with other weights in one convolution."""
    graph = Graph.load(EXAMPLES / "classifier.xml")
    constant = graph["block2/conv1"].inputs[1].source
    while constant.layer.type != "Const":
        constant = constant.layer.inputs[0].source
    values = np.full([int(str(size)) for size in constant.shape], 3.0, np.float16)
    constant.replace_uses(graph.constant(values))
    graph.save(folder / "altered.xml")


def network(path: Path) -> None:
    """An ONNX model with an input `x` of rank 4."""
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, "h", "w"]) for name in "xy"
    ]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def furnish(folder: Path) -> None:
    """Puts the files into a folder."""
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("*.py", "*.sh"))
    model().save(folder / "model.xml")
    model("b").save(folder / "a.xml")
    shutil.copy(folder / "a.xml", folder / "b.xml")
    for suffix in ("xml", "bin"):
        for name in ("classifier", "decoder"):
            shutil.copy(EXAMPLES / f"{name}.{suffix}", folder)
        for name, source in (("before", "int8"), ("after", "int8"), ("t5", "compressed")):
            shutil.copy(EXAMPLES / f"{source}.{suffix}", folder / f"{name}.{suffix}")
        for name, source in (("float", "classifier"), ("network", "int8")):
            shutil.copy(EXAMPLES / f"{source}.{suffix}", folder / f"{name}.{suffix}")
    shutil.copy(folder / "after.xml", folder / "int8.xml")
    shutil.copy(folder / "after.bin", folder / "int8.bin")
    shutil.copy(folder / "model.xml", folder / "first.xml")
    text = (folder / "model.xml").read_text(encoding="utf-8")
    (folder / "second.xml").write_text(text.replace('"Tanh"', '"Sin"'), encoding="utf-8")
    for name in ("first", "second"):
        shutil.copy(folder / "model.bin", folder / f"{name}.bin")
    altered(folder)
    too_large().save(folder / "large.xml")
    language_model().save(folder / "language.xml")
    one_layer("Abs", "text", "x", "?", 3, "?", "?").save(folder / "tokenizer.xml")
    one_layer("Abs", "ids", "hidden", 2, 3).save(folder / "encoder.xml")
    one_layer("Tanh", "features", "scores", 2, 3).save(folder / "head.xml")
    (folder / "models").mkdir()
    model().save(folder / "models" / "model.xml")
    shutil.copytree(EXAMPLES / "layers" / "right", folder / "layers")
    network(folder / "model.onnx")
    graph = ROOT / "tests" / "formats" / "onednn" / "graphs" / "abs.json"
    shutil.copy(graph, folder / "graph.json")
    sizes = json.loads(graph.read_text(encoding="utf-8"))["graph"][0]["inputs"][0]["shape"]
    np.save(folder / "x.npy", np.ones((1, 3, 4, 4), np.float32))
    np.save(folder / "t0.npy", np.ones(sizes, np.float32))
    (folder / "irshape.toml").write_text('fail-level = "error"\n', encoding="utf-8")
    for command in ("crosscheck", "run --random --stats"):
        words = [*command.split(), str(folder / "model.xml"), "--format", "json"]
        printed = CliRunner().invoke(cli, words).stdout
        name = "result" if command == "crosscheck" else "stats"
        (folder / f"{name}.json").write_text(printed, encoding="utf-8")
    latency = {"name": "latency", "results": {"y": {"value": 0.3}}}
    (folder / "latency.json").write_text(json.dumps({"main": latency}), encoding="utf-8")
    (folder / "compile.py").write_text("import sys; sys.exit('Conv' in open(sys.argv[1]).read())\n")


def variables() -> dict[str, Any]:
    """What a program of the documents takes for granted."""
    ids = np.ones((1, 4), np.int64)
    return {
        "irshape": irshape,
        "np": np,
        "array": np.ones((1, 3, 4, 4), np.float32),
        "model": irshape.load("model.xml"),
        "paths": ["model.xml", "models/model.xml"],
        "prompt": ids,
        "mask": ids,
        "beams": np.zeros(1, np.int32),
        "token": ids[:, :1],
        "longer": np.ones((1, 5), np.int64),
        "inputs": {"input_ids": ids, "attention_mask": ids, "beam_idx": np.zeros(1, np.int32)},
        "ProcessPoolExecutor": ThreadPoolExecutor,
    }
