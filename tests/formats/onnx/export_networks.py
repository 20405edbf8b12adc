"""Exports networks of random weights from torch and transformers to ONNX, by both exporters.

Usage: `python export_networks.py FOLDER`.

Needs torch, transformers, onnx and onnxscript. The files in `networks/` are some of it, without
what exporters note of their sources (`stripped`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple


class Network(NamedTuple):
    """A network, its inputs, and their names and those of the outputs."""

    module: Any
    given: tuple[Any, ...]
    inputs: list[str]
    outputs: list[str]


def networks() -> dict[str, Network]:
    import torch
    import transformers as t

    small = {
        "num_hidden_layers": 2,
        "hidden_size": 32,
        "num_attention_heads": 4,
        "intermediate_size": 64,
    }
    torch.manual_seed(0)
    ids, image = torch.randint(0, 100, (1, 9)), torch.randn(1, 3, 32, 32)
    bert = t.BertConfig(vocab_size=100, max_position_embeddings=32, **small)
    gpt2 = t.GPT2Config(vocab_size=100, n_positions=32, n_embd=32, n_layer=2, n_head=4)
    gpt2.use_cache = False
    vit = t.ViTConfig(image_size=32, patch_size=8, **small)
    resnet = t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 2])
    masks = torch.ones_like(ids), torch.zeros_like(ids)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    pixels, logits = ["pixel_values"], ["logits"]
    return {
        "resnet50": Network(t.ResNetForImageClassification(resnet), (image,), pixels, logits),
        "bert": Network(t.BertModel(bert), (ids, *masks), names, ["hidden", "pooled"]),
        "gpt2": Network(t.GPT2LMHeadModel(gpt2), (ids,), names[:1], logits),
        "vit": Network(t.ViTForImageClassification(vit), (image,), pixels, logits),
    }


def export(folder: Path) -> None:
    import torch

    class Tuple(torch.nn.Module):
        def __init__(self, network: Network) -> None:
            super().__init__()
            self.module, self.network = network.module.eval(), network

        def forward(self, *arguments: Any) -> Any:
            given = dict(zip(self.network.inputs, arguments, strict=True))
            return tuple(self.module(**given, return_dict=False))[: len(self.network.outputs)]

    for name, network in networks().items():
        module = Tuple(network).eval()
        for exporter in ("script", "dynamo"):
            path = folder / f"{name}_small_{exporter}.onnx"
            with torch.no_grad():
                torch.onnx.export(
                    module,
                    network.given,
                    str(path),
                    input_names=network.inputs,
                    output_names=network.outputs,
                    dynamo=exporter == "dynamo",
                    **({} if exporter == "dynamo" else {"opset_version": 17}),
                )
            stripped(path)
            print(path)


def stripped(path: Path) -> None:
    """Takes out of a file what exporters note of their sources, and its data in."""
    import onnx

    model = onnx.load(path)
    for part in (
        model,
        model.graph,
        *model.graph.node,
        *model.graph.input,
        *model.graph.output,
        *model.graph.value_info,
        *model.graph.initializer,
    ):
        del part.metadata_props[:]
    onnx.save(model, path)


if __name__ == "__main__":
    export(Path(sys.argv[1]))
