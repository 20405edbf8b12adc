"""Times `irshape.Session.run` beside OpenVINO's CPU plugin (f32); prints a table, asserts nothing.

Where an .onnx lies beside the model, onnx's ReferenceEvaluator is timed too.

python tests/benchmark_run.py [--runs N] MODEL [NAME=SHAPE...] [MODEL ...]

Without a model, the examples are timed.

Each run of one is followed by one of the other; the medians of the runs, and of the ratios of the
pairs. Memory: the peak of a process that loads the model and runs it once, and what its weights
take.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import irshape
from irshape.execution.inputs import random_inputs

ONCE = """
import sys, irshape
from irshape.execution.inputs import random_inputs
model = irshape.load(sys.argv[1])
shapes = dict(pair.split("=", 1) for pair in sys.argv[2:])
irshape.Session(model).run(random_inputs(model, shapes=shapes))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def with_openvino(
    path: Path, model: irshape.Model, inputs: dict[str, np.ndarray], threads: int = 0
) -> Callable[[], Any] | None:
    """A run of the CPU plugin; with `threads` in so many, else in as many as it chooses."""
    try:
        import openvino as ov
    except ImportError:
        return None
    core = ov.Core()
    read = core.read_model(path)
    by_name = {layer.name: inputs[layer.id] for layer in model.parameters}
    arrays = [
        by_name.get(parameter.get_friendly_name(), given)
        for parameter, given in zip(read.get_parameters(), inputs.values(), strict=True)
    ]
    read.reshape({position: list(array.shape) for position, array in enumerate(arrays)})
    settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32"}
    if threads:
        settings["INFERENCE_NUM_THREADS"] = threads
    compiled = core.compile_model(read, "CPU", settings)
    request = compiled.create_infer_request()
    return lambda: request.infer(arrays)


def with_onnx(
    path: Path, model: irshape.Model, inputs: dict[str, np.ndarray]
) -> Callable[[], Any] | None:
    graph = path.with_suffix(".onnx")
    if not graph.exists():
        return None
    try:
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        return None
    evaluator = ReferenceEvaluator(str(graph))
    arrays = dict(
        zip(evaluator.input_names, (inputs[layer.id] for layer in model.parameters), strict=True)
    )
    return lambda: evaluator.run(None, arrays)


def measure(path: Path, shapes: dict[str, str], runs: int) -> str:
    model = irshape.load(path)
    inputs = random_inputs(model, shapes=shapes)
    session = irshape.Session(model)

    def ours() -> Any:
        session.reset()
        return session.run(inputs)

    ours()
    fed = " ".join(str(list(array.shape)).replace(" ", "") for array in inputs.values())
    cells = [
        f"{path.stem[:22]:<22}",
        f"{fed[:30]:<30}",
        f"{len(model.net.layers):>6}",
    ]
    theirs = with_openvino(path, model, inputs)
    if theirs is None:
        pairs = [(timed(ours), float("nan")) for _ in range(runs)]
    else:
        theirs()
        pairs = [(timed(ours), timed(theirs)) for _ in range(runs)]
    cells += [f"{statistics.median(pair[side] for pair in pairs) * 1000:>10.1f}" for side in (0, 1)]
    cells.append(f"{statistics.median(a / b for a, b in pairs):>7.1f}")
    reference = with_onnx(path, model, inputs)
    if reference is not None:
        reference()
        pairs = [(timed(ours), timed(reference)) for _ in range(runs)]
        cells.append(
            f"{statistics.median(pair[1] for pair in pairs) * 1000:>10.0f} "
            f"{statistics.median(b / a for a, b in pairs):>7.1f}"
        )
    else:
        cells.append(f"{'-':>10} {'-':>7}")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            ONCE,
            str(path),
            *(f"{name}={shape}" for name, shape in shapes.items()),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=paths(),
    )
    peak = int(done.stdout) / 1024 if done.returncode == 0 else float("nan")
    weights = path.with_suffix(".bin")
    cells += [
        f"{peak:>9.0f}",
        f"{weights.stat().st_size / (1 << 20) if weights.exists() else 0:>12.0f}",
    ]
    return " ".join(cells)


def resnet50(folder: Path) -> Path:
    """ResNet-50 with random weights as ONNX, which irshape and the ReferenceEvaluator both read."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    generator = np.random.default_rng(0)
    nodes: list[Any] = []
    weights: list[Any] = []

    def convolution(
        source: str, taken: int, made: int, kernel: int, stride: int = 1, *, active: bool = True
    ) -> str:
        name = f"conv{len(weights)}"
        filters = generator.standard_normal((made, taken, kernel, kernel), np.float32) * np.float32(
            (1.0 / (taken * kernel * kernel)) ** 0.5
        )
        weights.append(numpy_helper.from_array(filters, f"{name}_w"))
        pads = [kernel // 2] * 4
        nodes.append(
            helper.make_node(
                "Conv",
                [source, f"{name}_w"],
                [name],
                kernel_shape=[kernel] * 2,
                strides=[stride] * 2,
                pads=pads,
            )
        )
        if active:
            nodes.append(helper.make_node("Relu", [name], [f"{name}_r"]))
        return f"{name}_r" if active else name

    at = convolution("image", 3, 64, 7, 2)
    nodes.append(
        helper.make_node(
            "MaxPool", [at], ["pool"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]
        )
    )
    at, taken = "pool", 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            stride = 2 if width > 64 and block == 0 else 1
            inner = convolution(convolution(at, taken, width, 1), width, width, 3, stride)
            long = convolution(inner, width, 4 * width, 1, active=False)
            short = convolution(at, taken, 4 * width, 1, stride, active=False) if block == 0 else at
            at, taken = f"{long}_out", 4 * width
            nodes.append(helper.make_node("Add", [long, short], [f"{long}_sum"]))
            nodes.append(helper.make_node("Relu", [f"{long}_sum"], [at]))
    weights.append(
        numpy_helper.from_array(
            generator.standard_normal((2048, 1000), np.float32) * np.float32(0.02), "head_w"
        )
    )
    nodes += [
        helper.make_node("GlobalAveragePool", [at], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
    ]
    nodes.append(helper.make_node("MatMul", ["flat", "head_w"], ["logits"]))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("image", [1, 3, 224, 224]), ("logits", [1, 1000]))
    ]
    graph = helper.make_graph(nodes, "resnet50", ends[:1], ends[1:], weights)
    path = folder / "resnet50.onnx"
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10),
        str(path),
    )
    return path


def paths() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL|NAME=SHAPE",
        help="a model, and the shapes of its dynamic inputs behind it",
    )
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument(
        "--resnet50-onnx",
        action="store_true",
        help="a ResNet-50 with random weights as an ONNX model, made for this (needs onnx)",
    )
    options = parser.parse_args()
    asked: list[tuple[Path, dict[str, str]]] = []
    for word in options.models:
        if word.endswith((".xml", ".onnx")):
            asked.append((Path(word), {}))
        else:
            name, _, shape = word.partition("=")
            asked[-1][1][name] = shape
    if options.resnet50_onnx:
        kept = tempfile.TemporaryDirectory()
        asked.append((resnet50(Path(kept.name)), {}))
    asked = asked or [
        (path, {}) for path in sorted((Path(__file__).parent.parent / "examples").glob("*.xml"))
    ]
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, "
        f"{platform.machine()}; medians of {options.runs} paired runs"
    )
    print(
        f"{'model':<22} {'inputs':<30} {'layers':>6} {'irshape ms':>10} {'CPU ms':>10} "
        f"{'ratio':>7} {'onnx ms':>10} {'onnx/us':>7} {'peak MiB':>9} {'weights MiB':>12}"
    )
    for path, shapes in asked:
        print(measure(path, shapes, options.runs), flush=True)


if __name__ == "__main__":
    main()
