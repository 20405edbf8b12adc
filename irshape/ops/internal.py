"""Operations that OpenVINO puts into models itself, and that `save_model` of a compiled or
transformed model can leave in an IR. They belong to no opset and `read_model` of OpenVINO 2026.4
knows none of them, but for `EXTENSIONS` once the CPU plugin is loaded, as by `compile_model(path)`;
irshape knows what they are, and takes what their ports declare.

Source: the classes of OpenVINO that name them (`OPENVINO_OP`), in `openvino/op`, `ov_ops` of its
transformations, and the opsets of its plugins.
"""

from __future__ import annotations

from typing import Final

ORIGINS: Final = {
    "ie_internal_opset": "OpenVINO's transformations put it in before a device compiles the model",
    "type_relaxed_opset": (
        "OpenVINO lets an operation of an opset have other element types while it quantizes"
    ),
    "cpu_plugin_opset": "the CPU plugin puts it in while it compiles the model",
    "gpu_opset": "the GPU plugin puts it in while it compiles the model",
    "SnippetsOpset": "the CPU plugin generates code from it",
}
"""Versions of internal operations, with where they come from."""

EXTENSIONS: Final = {
    "PagedAttentionExtension": "attention over a cache of keys and values in blocks",
    "PagedCausalConv1D": "a causal convolution whose state lies in blocks",
    "PagedGatedDeltaNet": "linear attention by the gated delta rule whose state lies in blocks",
    "PagedSelectiveSSM": "a selective state space model whose state lies in blocks",
}
"""Operations under the version `extension` that the passes for paged attention put in. Releases
differ in their number of inputs: measured, PagedAttentionExtension is read by 2025.4 with 21, by
2026.1 with 26, by 2026.2 to 2026.4 with 28.
"""

MEANINGS: Final = EXTENSIONS | {
    "AUGRUCell": "a GRU cell with an attention score",
    "AUGRUSequence": "a sequence of GRU cells with attention scores",
    "DynamicQuantize": "quantization of activations at run time",
    "FullyConnected": "a MatMul with constant weights",
    "FullyConnectedCompressed": "a MatMul with compressed weights",
    "FullyConnectedQuantized": "a MatMul with quantized weights",
    "GatedDeltaNet": "linear attention by the gated delta rule",
    "GatherCompressed": "a Gather from compressed weights",
    "GLU": "a gated linear unit",
    "LLMMLP": "the feed-forward block of a language model",
    "LoraSubgraph": "low-rank adapters of weights",
    "MOE": "a mixture of experts",
    "MOECompressed": "a mixture of experts with compressed weights",
    "MOEExpert": "one expert of a mixture",
    "MSDA": "deformable attention at several scales",
    "NonMaxSuppressionIEInternal": "NonMaxSuppression with results of one shape",
    "Placeholder": "an input that is not there",
    "QKVProjection": "the projections to queries, keys and values",
    "RMS": "normalization by the root mean square",
    "RoPE": "rotary position embedding",
}
"""What internal operations compute, by type."""


def is_unconverted(type_name: str, version: str) -> bool:
    """Whether a frontend of OpenVINO left it in place of an operation that it could not convert."""
    return version == "util" and type_name.endswith("FrameworkNode")


def internal_operation(type_name: str, version: str) -> str | None:
    """A sentence on an operation that OpenVINO puts into models itself; None for any other."""
    meaning = MEANINGS.get(type_name)
    if version == "extension" and type_name in EXTENSIONS:
        origin = "OpenVINO's pass for paged attention puts it in"
        reading = "read_model knows it only once the CPU plugin is loaded, in the same release"
    elif is_unconverted(type_name, version):
        origin = "a frontend leaves it in place of an operation that it cannot convert"
        reading = "no OpenVINO reads it from a file"
    elif version in ORIGINS:
        origin = ORIGINS[version]
        reading = "no OpenVINO reads it from a file"
    else:
        return None
    what = "" if meaning is None else f" ({meaning})"
    return (
        f"{type_name} of '{version}' is an internal operation of OpenVINO{what}: {origin}; "
        f"{reading}"
    )
