"""Runs the oneDNN library through ctypes, for the cross-check of a oneDNN graph.

It runs in a separate process, since the library aborts on some graphs. `python -m
irshape.comparison.onednn_runtime` receives folders. In each it reads `request.json` and the inputs,
runs every operation as a partition of its own, and writes `answer.json` and the values. Tensors are
dense, whatever strides the file declares. The numeric constants come from the C interface of oneDNN
3.2.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable
from ctypes import POINTER, byref, c_float, c_int, c_int64, c_size_t, c_uint8, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from .processes import Request, serve

LIBRARY = "libdnnl.so.3"
MAX_DIMS, UNKNOWN_RANK, UNKNOWN_SIZE = 12, -1, -(2**63)
STRIDED, DEBUG_POLICY = 2, 2

_KINDS = """
Abs AbsBackward Add AvgPool AvgPoolBackward BatchNormTrainingBackward BatchNormForwardTraining
BatchNormInference BiasAdd BiasAddBackward Clamp ClampBackward Concat Convolution
ConvolutionBackwardData ConvolutionBackwardWeights ConvTranspose ConvTransposeBackwardData
ConvTransposeBackwardWeights Dequantize Divide DynamicDequantize DynamicQuantize Elu EluBackward
End Exp GELU GELUBackward HardSwish HardSwishBackward Interpolate InterpolateBackward LayerNorm
LayerNormBackward LeakyReLU Log LogSoftmax LogSoftmaxBackward MatMul Maximum MaxPool
MaxPoolBackward Minimum Mish MishBackward Multiply PReLU PReLUBackward Quantize Reciprocal
ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReLU ReLUBackward Reorder
Round Sigmoid SigmoidBackward SoftMax SoftMaxBackward SoftPlus SoftPlusBackward Sqrt
SqrtBackward Square SquaredDifference StaticReshape StaticTranspose Subtract Tanh TanhBackward
TypeCast Wildcard HardSigmoid HardSigmoidBackward Select
"""
KINDS = _KINDS.split()
"""The kinds of operations. The index of a kind is its number in the C interface."""

ATTRIBUTES = {
    name: first + place
    for first, names in (
        (0x1, "alpha beta epsilon max min momentum"),
        (0x20, "scales"),
        (0x30, "axis begin_norm_axis groups"),
        (
            0x40,
            "axes dilations dst_shape kernel order output_padding pads_begin pads_end shape sizes "
            "src_shape strides weights_shape zps",
        ),
        (
            0x60,
            "exclude_pad keep_dims keep_stats per_channel_broadcast special_zero transpose_a "
            "transpose_b use_affine use_dst",
        ),
        (
            0x80,
            "auto_broadcast auto_pad coordinate_transformation_mode data_format mode qtype "
            "rounding_type weights_format",
        ),
    )
    for place, name in enumerate(names.split())
}
"""The numbers of the attributes in the C interface."""

NEWER = {("SoftMax", "mode"): "none", ("GELU", "mode"): "gelu_erf"}
"""Attributes that oneDNN 3.2 does not have, each with the value that 3.2 always computes."""

TYPES = {
    "f16": (1, "float16"),
    "bf16": (2, "uint16"),
    "f32": (3, "float32"),
    "s32": (4, "int32"),
    "s8": (5, "int8"),
    "u8": (6, "uint8"),
    "boolean": (8, "bool"),
}
"""The numbers of the element types, and the NumPy types with the same number of bits."""

_ELEMENTS: dict[str, Any] = {"s64": c_int64, "f32": c_float, "bool": c_uint8}
"""The C types of attributes that are numbers. All other attributes are texts."""

_STATUS = """
success out_of_memory invalid_arguments unimplemented last_impl_reached runtime_error not_required
invalid_graph invalid_graph_op invalid_shape invalid_data_type
"""
STATUS = dict(enumerate(_STATUS.split()))


class LogicalTensor(ctypes.Structure):
    """The C structure dnnl_graph_logical_tensor_t."""

    _fields_ = [
        ("id", c_size_t),
        ("ndims", c_int),
        ("dims", c_int64 * MAX_DIMS),
        ("data_type", c_int),
        ("property", c_int),
        ("layout_type", c_int),
        ("strides", c_int64 * MAX_DIMS),
    ]


class Failed(Exception):
    """Raised when a call of the library does not succeed."""


class Library:
    """The oneDNN library. Each call raises `Failed` if its status is not success.

    A call passes whole numbers as size_t, which also works for int parameters.
    """

    def __init__(self) -> None:
        places = [
            Path(sys.prefix) / "lib" / LIBRARY,
            *(
                Path(part).parents[1] / LIBRARY
                for part in sys.path
                if part.endswith("site-packages")
            ),
        ]
        library_path = next((str(place) for place in places if place.exists()), LIBRARY)
        try:
            self.handle = ctypes.CDLL(library_path)
        except OSError as problem:
            raise ImportError(str(problem)) from None

    def __call__(self, function: str, *arguments: Any) -> None:
        given = [c_size_t(each) if isinstance(each, int) else each for each in arguments]
        status = getattr(self.handle, function)(*given)
        if status:
            raise Failed(f"{function.removeprefix('dnnl_graph_')}: {STATUS.get(status, status)}")

    def version(self) -> str:
        # dnnl_version_t begins with major, minor and patch
        self.handle.dnnl_version.restype = POINTER(c_int * 3)
        return f"oneDNN {'.'.join(map(str, self.handle.dnnl_version().contents))}"


def logical_tensor(entry: dict[str, Any], shape: list[int] | None) -> LogicalTensor:
    """Returns a dense logical tensor. Without a shape, the library has to infer it."""
    if entry["dtype"] not in TYPES:
        raise Failed(f"oneDNN 3.2 has no {entry['dtype']}")
    tensor = LogicalTensor(
        id=entry["id"],
        ndims=UNKNOWN_RANK,
        data_type=TYPES[entry["dtype"]][0],
        property=0,
        layout_type=STRIDED,
    )
    if shape is None:
        for axis in range(MAX_DIMS):
            tensor.dims[axis] = tensor.strides[axis] = UNKNOWN_SIZE
        return tensor
    tensor.ndims = len(shape)
    stride = 1
    for axis in range(len(shape) - 1, -1, -1):
        tensor.dims[axis], tensor.strides[axis] = shape[axis], stride
        stride *= max(shape[axis], 1)
    return tensor


def operation(
    library: Library, entry: dict[str, Any], number: int, tensors: dict[int, LogicalTensor]
) -> c_void_p:
    """Returns an operation with its attributes, inputs and outputs."""
    if entry["kind"] not in KINDS:
        raise Failed(f"oneDNN 3.2 has no {entry['kind']}")
    operation = c_void_p()
    library(
        "dnnl_graph_op_create",
        byref(operation),
        number,
        KINDS.index(entry["kind"]),
        str(entry.get("name", number)).encode(),
    )
    for name, attribute in entry.get("attrs", {}).items():
        if name not in ATTRIBUTES or NEWER.get((entry["kind"], name)) == attribute["value"]:
            continue
        value, type = attribute["value"], attribute["type"].removesuffix("[]")
        elements: Any
        if type in _ELEMENTS:
            values = value if isinstance(value, list) else [value]
            count = len(values)
            elements = (_ELEMENTS[type] * max(count, 1))(*values)
        else:
            type, elements, count = "str", value.encode(), len(value)
        library(f"dnnl_graph_op_set_attr_{type}", operation, ATTRIBUTES[name], elements, count)
    for side in ("input", "output"):
        for tensor in entry.get(f"{side}s", []):
            library(f"dnnl_graph_op_add_{side}", operation, byref(tensors[tensor["id"]]))
    return operation


def run(request: Request, folder: Path, answer: Request, save: Callable[[], None]) -> None:
    """Runs the operations of the graph. Adds the version, the types and the files with the values
    to the answer."""
    library = Library()
    answer["version"] = library.version()
    save()
    graph = json.loads(Path(request["model"]).read_text(encoding="utf-8-sig"))["graph"]
    shapes = {int(key[1:]): shape for key, shape in request["shapes"].items()}
    entries = {
        entry["id"]: entry
        for operation in graph
        for entry in (*operation.get("inputs", []), *operation.get("outputs", []))
    }
    made_by_some = {entry["id"] for operation in graph for entry in operation.get("outputs", [])}
    tensors = {
        number: logical_tensor(entry, None if number in made_by_some else shapes[number])
        for number, entry in entries.items()
    }
    engine, stream, whole = c_void_p(), c_void_p(), c_void_p()
    library("dnnl_engine_create", byref(engine), 1, 0)
    library("dnnl_stream_create", byref(stream), engine, 1)
    library("dnnl_graph_graph_create", byref(whole), 1)
    for number, entry in enumerate(graph):
        try:
            library("dnnl_graph_add_op", whole, operation(library, entry, number, tensors))
        except Failed as problem:
            raise Failed(f"{problem} ({entry['kind']} '{entry.get('name', number)}')") from None
    library("dnnl_graph_graph_finalize", whole)
    library("dnnl_graph_graph_filter", whole, DEBUG_POLICY)  # each operation by itself
    count = c_size_t()
    library("dnnl_graph_graph_get_partition_num", whole, byref(count))
    partitions = (c_void_p * count.value)()
    library("dnnl_graph_graph_get_partitions", whole, count.value, partitions)
    arrays: dict[int, Any] = {}
    for number, file in ((int(key[1:]), file) for key, file in request["inputs"].items()):
        arrays[number] = np.ascontiguousarray(np.load(folder / file, allow_pickle=False))
    waiting = [c_void_p(partition) for partition in partitions]
    while waiting:
        left = []
        for partition in waiting:
            inputs, outputs = (_ports(library, partition, side) for side in ("input", "output"))
            if any(port.id not in arrays for port in inputs):
                left.append(partition)
            else:
                _execute(
                    library, partition, inputs, outputs, engine, stream, arrays, tensors, entries
                )
        if len(left) == len(waiting):
            raise Failed(f"{len(left)} partitions have inputs that no operation computes")
        waiting = left
    computed = sorted(made_by_some & arrays.keys())
    for number in computed:
        np.save(folder / f"value{number}.npy", arrays[number])
    answer["values"] = {f"t{number}": f"value{number}.npy" for number in computed}
    answer["types"] = {f"t{number}": entries[number]["dtype"] for number in computed}


def _ports(library: Library, partition: c_void_p, side: str) -> Any:
    count = c_size_t()
    library(f"dnnl_graph_partition_get_{side}_ports_num", partition, byref(count))
    ports = (LogicalTensor * max(count.value, 1))()
    library(f"dnnl_graph_partition_get_{side}_ports", partition, count.value, ports)
    return list(ports)[: count.value]


def _execute(
    library: Library,
    partition: c_void_p,
    inputs: list[LogicalTensor],
    outputs: list[LogicalTensor],
    engine: c_void_p,
    stream: c_void_p,
    arrays: dict[int, Any],
    tensors: dict[int, LogicalTensor],
    entries: dict[int, dict[str, Any]],
) -> None:
    """Compiles and runs a partition, and adds its outputs to `arrays`."""
    supported = c_uint8()
    library("dnnl_graph_partition_is_supported", partition, byref(supported))
    if not supported.value:
        raise Failed("partition unsupported")
    compiled = c_void_p()
    library("dnnl_graph_compiled_partition_create", byref(compiled), partition)
    given = [POINTER(LogicalTensor)(tensors[port.id]) for port in inputs]
    wanted = [POINTER(LogicalTensor)(tensors[port.id]) for port in outputs]
    pointers = [(POINTER(LogicalTensor) * max(len(part), 1))(*part) for part in (given, wanted)]
    library(
        "dnnl_graph_partition_compile",
        partition,
        compiled,
        len(given),
        pointers[0],
        len(wanted),
        pointers[1],
        engine,
    )
    for port in outputs:
        tensor = tensors[port.id]
        library(
            "dnnl_graph_compiled_partition_query_logical_tensor", compiled, port.id, byref(tensor)
        )
        shape = tuple(tensor.dims[: max(tensor.ndims, 0)])
        arrays[port.id] = np.zeros(shape, TYPES[entries[port.id]["dtype"]][1])
    lists = [
        (c_void_p * max(len(ports), 1))(
            *[_handle(library, engine, tensors[port.id], arrays[port.id]) for port in ports]
        )
        for ports in (inputs, outputs)
    ]
    library(
        "dnnl_graph_compiled_partition_execute",
        compiled,
        stream,
        len(inputs),
        lists[0],
        len(outputs),
        lists[1],
    )
    library("dnnl_stream_wait", stream)


def _handle(library: Library, engine: c_void_p, tensor: LogicalTensor, array: Any) -> c_void_p:
    """Returns a tensor of the library that uses the memory of an array."""
    handle = c_void_p()
    library(
        "dnnl_graph_tensor_create",
        byref(handle),
        byref(tensor),
        engine,
        c_void_p(array.ctypes.data),
    )
    return handle


if __name__ == "__main__":
    os.environ.setdefault("ONEDNN_VERBOSE", "0")
    serve(run)
