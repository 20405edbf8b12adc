"""A decoder with past key values is made stateful, as by optimum-intel, and proven token by token.

    python -m tests.graph.stateful_decoder MODEL.xml …

MODEL.xml takes `input_ids`, `attention_mask`, `position_ids` and `past_key_values.N.key` and
`.value`, and gives `logits` and `present.N.key` and `.value`. Three models run in OpenVINO side by
side: the original, whose cache the caller keeps and reorders; that of `Graph.make_stateful`; and
that of OpenVINO's own transformation with the Gather and the initial states that optimum-intel
adds.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import openvino.opset13 as ops
from openvino._offline_transformations import apply_make_stateful_transformation

from irshape import Graph

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
STEPS = ((3, None), (1, [0, 1]), (1, [1, 0]), (1, [0, 0]), (2, [1, 1]), (1, [0, 1]))
"""How many tokens each step has, and which sequence of the last step each one goes on from."""


def by_irshape(source: Path, target: Path) -> None:
    graph = Graph.load(source)
    pasts = [layer.name for layer in graph.parameters if layer.name.startswith("past_key_values")]
    pairs = {name: name.replace("past_key_values", "present") for name in pasts}
    graph.make_stateful(pairs, beam_idx="beam_idx", batch_from="input_ids")
    graph.save(target)


def by_openvino(source: Path) -> ov.Model:
    model = ov.Core().read_model(source)
    pairs = {}
    beam_idx = ops.parameter([-1], ov.Type.i32, "beam_idx")
    beam_idx.output(0).get_tensor().set_names({"beam_idx"})
    model.add_parameters([beam_idx])
    for port in list(model.inputs):
        name = port.get_any_name()
        if not name.startswith("past_key_values"):
            continue
        pairs[name] = name.replace("past_key_values", "present")
        users = port.get_node().output(0).get_target_inputs()
        gather = ops.gather(port.get_node(), beam_idx, ops.constant(np.int64(0)))
        for user in users:
            user.replace_source_output(gather.output(0))
    model.validate_nodes_and_infer_types()
    apply_make_stateful_transformation(model, pairs)
    shape = ops.shape_of(model.input("input_ids"), output_type="i64")
    batch = ops.gather(shape, ops.constant([0]), ops.constant(0))
    for node in model.get_ops():
        if node.get_type_name() != "ReadValue":
            continue
        sizes = [
            0 if dim.is_dynamic else dim.get_length() for dim in node.get_output_partial_shape(0)
        ]
        dims: list[Any] = [ops.constant(np.array([size], np.int64)) for size in sizes]
        dims[0] = batch
        initial = ops.broadcast(ops.constant(np.float32(0)), ops.concat(dims, 0))
        node.set_arguments([initial])
    model.validate_nodes_and_infer_types()
    return model


def compared(source: Path, seed: int = 0) -> list[float]:
    """The largest difference of the logits in each step, relative to the original's largest."""
    core = ov.Core()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "stateful.xml"
        by_irshape(source, target)
        stateful = [core.compile_model(each, "CPU", EXACT).create_infer_request()
                    for each in (core.read_model(target), by_openvino(source))]  # fmt: skip
    stateless = core.compile_model(source, "CPU", EXACT)
    pasts = [port for port in stateless.inputs if port.get_any_name().startswith("past")]
    rng = np.random.default_rng(seed)
    cache = {}
    for port in pasts:
        heads, size = (port.get_partial_shape()[axis].get_length() for axis in (1, 3))
        cache[port.get_any_name()] = np.zeros((2, heads, 0, size), np.float32)
    length, differences = 0, []
    for count, beams in STEPS:
        order = np.array([0, 1] if beams is None else beams, np.int32)
        length += count
        feed = {
            "input_ids": rng.integers(0, 200, (2, count)),
            "attention_mask": np.ones((2, length), np.int64),
            "position_ids": np.tile(np.arange(length - count, length), (2, 1)),
        }
        given = [port.get_any_name() for port in stateless.inputs]
        feed = {name: value for name, value in feed.items() if name in given}
        kept = {name: value[order] for name, value in cache.items()}
        outputs = stateless({**feed, **kept})
        expected = outputs["logits"]
        cache = {name: outputs[name.replace("past_key_values", "present")] for name in cache}
        for request in stateful:
            logits = request.infer({**feed, "beam_idx": order})["logits"]
            differences.append(float(np.abs(logits - expected).max() / np.abs(expected).max()))
    return differences


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(path, [f"{difference:.1e}" for difference in compared(Path(path))])
