"""Exports networks of random weights from torch and transformers to ONNX, by both exporters.

Usage: `python export_networks.py FOLDER [full]`.

Needs torch, transformers, onnx and onnxscript. The files in `networks/` are small ones of it,
without what exporters note of their sources (`stripped`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def transformers_network(
    name: str, full: bool
) -> tuple[Any, tuple[Any, ...], list[str], list[str]]:
    """A network, its inputs, and their names and those of the outputs."""
    import torch
    import transformers as t

    small = {
        "num_hidden_layers": 2,
        "hidden_size": 32,
        "num_attention_heads": 4,
        "intermediate_size": 64,
    }
    torch.manual_seed(0)
    length = 128 if full else 9
    if name == "bert":
        config = (
            t.BertConfig()
            if full
            else t.BertConfig(vocab_size=100, max_position_embeddings=32, **small)
        )
        ids = torch.randint(0, config.vocab_size, (1, length))
        return (
            t.BertModel(config),
            (ids, torch.ones_like(ids), torch.zeros_like(ids)),
            ["input_ids", "attention_mask", "token_type_ids"],
            ["hidden", "pooled"],
        )
    if name == "gpt2":
        config = (
            t.GPT2Config()
            if full
            else t.GPT2Config(vocab_size=100, n_positions=32, n_embd=32, n_layer=2, n_head=4)
        )
        config.use_cache = False
        return (
            t.GPT2LMHeadModel(config),
            (torch.randint(0, config.vocab_size, (1, length)),),
            ["input_ids"],
            ["logits"],
        )
    if name == "vit":
        config = t.ViTConfig() if full else t.ViTConfig(image_size=32, patch_size=8, **small)
        return (
            t.ViTForImageClassification(config),
            (torch.randn(1, 3, config.image_size, config.image_size),),
            ["pixel_values"],
            ["logits"],
        )
    config = (
        t.ResNetConfig()
        if full
        else t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 2])
    )
    return (
        t.ResNetForImageClassification(config),
        (torch.randn(1, 3, *((224, 224) if full else (32, 32))),),
        ["pixel_values"],
        ["logits"],
    )


def export(folder: Path, full: bool) -> None:
    import torch

    class Tuple(torch.nn.Module):
        def __init__(self, network: Any, names: list[str], outputs: int) -> None:
            super().__init__()
            self.network, self.names, self.outputs = network, names, outputs

        def forward(self, *arguments: Any) -> Any:
            made = self.network(**dict(zip(self.names, arguments, strict=True)), return_dict=False)
            return tuple(made)[: self.outputs]

    for name in ("resnet50", "bert", "gpt2", "vit"):
        network, arguments, inputs, outputs = transformers_network(name, full)
        module = Tuple(network.eval(), inputs, len(outputs)).eval()
        for dynamo in (False, True):
            path = (
                folder
                / f"{name}_{'full' if full else 'small'}_{'dynamo' if dynamo else 'script'}.onnx"
            )
            try:
                with torch.no_grad():
                    torch.onnx.export(
                        module,
                        arguments,
                        str(path),
                        input_names=inputs,
                        output_names=outputs,
                        dynamo=dynamo,
                        **({} if dynamo else {"opset_version": 17}),
                    )
            except Exception as problem:
                print(
                    f"{path.name}: {type(problem).__name__}: {str(problem)[:300]}", file=sys.stderr
                )
            else:
                if not full:
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
    export(Path(sys.argv[1]), sys.argv[2:] == ["full"])
