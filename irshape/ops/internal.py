"""OpenVINO's internal operations, which `save_model` can leave in an IR.

They come from compiled or transformed models, and belong to no opset. `read_model` of OpenVINO
2026.4 knows none of them. Exception: it knows `EXTENSIONS` after the CPU plugin is loaded, for
example by `compile_model(path)`. irshape describes what they compute, and uses the types and shapes
that their ports declare.

Source: the classes of OpenVINO that declare them (`OPENVINO_OP`), in `openvino/op`, in `ov_ops` of
its transformations, and in the opsets of its plugins.
"""

from __future__ import annotations

from typing import Final

ORIGINS: Final = {
    "ie_internal_opset": "OpenVINO's transformations insert it before a device compiles the model",
    "type_relaxed_opset": (
        "OpenVINO's quantization makes it from an operation of an opset, with other element types"
    ),
    "cpu_plugin_opset": "the CPU plugin inserts it while it compiles the model",
    "gpu_opset": "the GPU plugin inserts it while it compiles the model",
    "SnippetsOpset": "the CPU plugin generates code from it",
}
"""Maps the versions of internal operations to clauses that say which part of OpenVINO uses them."""

EXTENSIONS: Final = {
    "PagedAttentionExtension": "attention over a cache of keys and values in blocks",
    "PagedCausalConv1D": "a causal convolution with a paged state",
    "PagedGatedDeltaNet": "linear attention by the gated delta rule, with a paged state",
    "PagedSelectiveSSM": "a selective state space model with a paged state",
}
"""Operations of version `extension` that OpenVINO's passes for paged attention insert. Their number
of inputs depends on the release. Measured: PagedAttentionExtension has 21 inputs in 2025.4, 26 in
2026.1, and 28 in 2026.2 to 2026.4."""

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
    "NonMaxSuppressionIEInternal": "NonMaxSuppression with outputs of a fixed shape",
    "Placeholder": "an optional input that is absent",
    "QKVProjection": "the projections to queries, keys and values",
    "RMS": "normalization by the root mean square",
    "RoPE": "rotary position embedding",
}
"""Maps the types of internal operations to descriptions of what they compute."""


def is_unconverted(type_name: str, version: str) -> bool:
    """Returns whether the layer stands for an operation that a frontend could not convert."""
    return version == "util" and type_name.endswith("FrameworkNode")


def internal_operation(type_name: str, version: str) -> str | None:
    """Returns a sentence about an internal operation of OpenVINO; None for other operations."""
    meaning = MEANINGS.get(type_name)
    if version == "extension" and type_name in EXTENSIONS:
        origin = "OpenVINO's pass for paged attention inserts it"
        reading = "read_model knows it only after OpenVINO has loaded the CPU plugin"
    elif is_unconverted(type_name, version):
        origin = "a frontend leaves it in place of an operation that it cannot convert"
        reading = "no OpenVINO release reads it from a file"
    elif version in ORIGINS:
        origin = ORIGINS[version]
        reading = "no OpenVINO release reads it from a file"
    else:
        return None
    what = "" if meaning is None else f" ({meaning})"
    return (
        f"{type_name} of '{version}' is an internal operation of OpenVINO{what}: {origin}; "
        f"{reading}"
    )
