"""Functions that the example scripts share: they make constants and common layers, and write IRs.

Each run of a script writes the same bytes. Weights come from `numpy.random.default_rng` with a
fixed seed, and nodes that the script does not name get names from their type and their place in
the graph.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino as ov
from numpy.typing import ArrayLike
from openvino import opset13 as op

HERE = Path(__file__).resolve().parent


def floats(value: ArrayLike) -> ov.Node:
    """An f32 constant."""
    return op.constant(np.asarray(value, dtype=np.float32))


def halves(value: ArrayLike) -> ov.Node:
    """An f16 constant with a Convert to f32."""
    return op.convert(op.constant(np.asarray(value, dtype=np.float16)), "f32")


def ints(value: ArrayLike) -> ov.Node:
    """An i64 constant: shapes, axes, indices."""
    return op.constant(np.asarray(value, dtype=np.int64))


def normal(rng: np.random.Generator, *shape: int, scale: float | None = None) -> np.ndarray:
    """Random f32 weights. With the default scale, a product with them keeps the variance."""
    if scale is None:
        scale = 1.0 / float(np.sqrt(np.prod(shape[1:])))
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def dense(
    rng: np.random.Generator, x: ov.Node, inputs: int, outputs: int, name: str, *, bias: bool = True
) -> ov.Node:
    """A fully connected layer: MatMul with a transposed weight, then the bias."""
    y = op.matmul(x, floats(normal(rng, outputs, inputs)), False, True, name=name)
    return (
        op.add(y, floats(normal(rng, 1, 1, outputs, scale=0.1)), name=f"{name}/bias") if bias else y
    )


def dimension(x: ov.Node, axis: int) -> ov.Node:
    """The size of `x` along `axis` as a tensor [1], read at run time: ShapeOf, then Gather."""
    return op.gather(op.shape_of(x, "i64"), ints([axis]), ints(0))


def result(x: ov.Node | ov.Output, name: str) -> ov.Node:
    """An output of the model. `name` becomes the name of the tensor and of the layer."""
    output = x if isinstance(x, ov.Output) else x.output(0)
    output.set_names({name})
    node = op.result(output)
    node.friendly_name = name
    return node


def name_nodes(model: ov.Model) -> None:
    """Names unnamed nodes, also in bodies. OpenVINO's names contain a counter that never resets."""
    for place, node in enumerate(model.get_ordered_ops()):
        if node.friendly_name == node.name:
            node.friendly_name = f"{node.get_type_name()}_{place}"
        if node.get_type_name() == "If":
            name_nodes(node.get_then_body())
            name_nodes(node.get_else_body())
        elif node.get_type_name() in ("Loop", "TensorIterator"):
            name_nodes(node.get_function())


def write(
    build: Callable[[], ov.Model], compress_to_fp16: bool = False, version: str = "UNSPECIFIED"
) -> None:
    """Builds a model and writes it beside its script, as <name of the model>.xml and .bin."""
    model = build()
    name_nodes(model)
    path = HERE / f"{model.friendly_name}.xml"
    if compress_to_fp16:
        ov.save_model(model, path, compress_to_fp16=True)
    else:
        ov.serialize(model, path, path.with_suffix(".bin"), version)
    text, weights = path.read_bytes(), path.with_suffix(".bin").stat().st_size
    print(f"{path.stem:12} {text.count(b'<layer '):4} layers, {len(text):7} + {weights:6} bytes")
