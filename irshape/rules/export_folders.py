"""Reads folders that optimum-intel exports: their models and configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..inference.result import Inference
from ..model.graph import Layer, Model
from ..ops.tensors import Tensor

TOKENIZER = "openvino_tokenizer.xml"
DETOKENIZER = "openvino_detokenizer.xml"
LANGUAGE_MODELS = (
    "openvino_language_model.xml",
    "openvino_model.xml",
    "openvino_decoder_model.xml",
)
ENCODER = "openvino_encoder_model.xml"
DECODERS = ("openvino_decoder_model.xml", "openvino_decoder_with_past_model.xml")
TOKENS = {"input_ids", "decoder_input_ids"}
"""The names that the input for tokens may have."""
TEXT_EMBEDDINGS = "openvino_text_embeddings_model.xml"
VISION_EMBEDDINGS = "openvino_vision_embeddings_model.xml"
CONFIGURATIONS = ("config.json", "generation_config.json", "model_index.json")


class Member(NamedTuple):
    """A model with its inferred types and shapes. name: its path in the exported folder."""

    name: str
    model: Model
    inference: Inference

    def inputs(self) -> dict[str, Tensor]:
        """Maps every name of every model input to the input's tensor."""
        named: dict[str, Tensor] = {}
        for layer in self.model.parameters:
            (tensor,) = self.inference.outputs(layer)
            for name in layer.outputs[0].tensor_names or [layer.name]:
                named[name] = tensor
        return named

    def outputs(self) -> dict[str, Tensor]:
        """Maps every name of every model output to the output's tensor."""
        named: dict[str, Tensor] = {}
        result = self.inference.result
        layers = result.body.layers
        for layer, sources in zip(layers, result.wiring.sources, strict=True):
            if layer.is_result and sources and sources[0] is not None:
                producer, port = layers[sources[0][0]], sources[0][1]
                tensor = self.inference.outputs(producer)[port]
                for name in producer.outputs[port].tensor_names or [producer.name]:
                    named[name] = tensor
        return named

    def inputs_of(self, type_name: str) -> list[tuple[Layer, tuple[Tensor | None, ...]]]:
        """Returns the layers of a type, each with its input tensors."""
        inputs = self.inference.result.inputs
        return [
            (layer, inputs.get(position, ()))
            for position, layer in enumerate(self.model.layers)
            if layer.folded_type == type_name.lower()
        ]


class Export(NamedTuple):
    """An exported folder: models that belong together, and their configurations.

    members: the models by name.
    configurations: the content of config.json and other JSON files, by path in the folder.
    faults: the reason why a JSON file cannot be used, by path in the folder.
    """

    members: Mapping[str, Member]
    configurations: Mapping[str, Mapping[str, Any]]
    faults: Mapping[str, str]

    @property
    def language(self) -> Member | None:
        """The language model; None if the folder has none."""
        return next((self.members[name] for name in LANGUAGE_MODELS if name in self.members), None)

    @property
    def embedding(self) -> Member | None:
        """The model with the embedding table; None if the folder has none."""
        return self.members.get(TEXT_EMBEDDINGS) or self.language

    @property
    def rows(self) -> int | None:
        """The number of rows of the embedding table; None if it is unknown."""
        return None if self.embedding is None else embedding_rows(self.embedding)

    @property
    def main(self) -> Member:
        """The model at which findings about the whole folder are reported."""
        return self.language or next(iter(self.members.values()))

    def number(self, name: str) -> int | None:
        """Returns an integer from config.json, or from its `text_config`; None if there is none."""
        config = self.configurations.get("config.json", {})
        for part in (config, config.get("text_config")):
            value = part.get(name) if isinstance(part, Mapping) else None
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None


def last_size(tensor: Tensor | None) -> int | None:
    """Returns the size of the last axis; None if it is unknown."""
    if tensor is None or not tensor.shape.dims or tensor.shape[-1].is_dynamic:
        return None
    return tensor.shape[-1].low


def channels(tensor: Tensor | None) -> int | None:
    """Returns the size of the channel axis (axis 1 for rank 4, else the last); None if unknown."""
    if tensor is None or len(tensor.shape.dims or ()) != 4:
        return last_size(tensor)
    return tensor.shape[1].low if tensor.shape[1].is_static else None


def embedding_rows(member: Member) -> int | None:
    """Returns the number of rows of the token embedding table; None if no table is found."""
    result = member.inference.result
    carried: set[int] = set()
    for position, layer in enumerate(result.body.layers):
        if layer.is_parameter and TOKENS & {*layer.outputs[0].tensor_names, layer.name}:
            carried.add(position)
    for position in result.wiring.order:
        layer, sources = result.body.layers[position], result.wiring.sources[position]
        fed = [source is not None and source[0] in carried for source in sources]
        if layer.folded_type == "gather" and len(fed) > 1 and fed[1]:
            table = result.inputs[position][0] if position in result.inputs else None
            if table is not None and table.rank == 2 and table.shape[0].is_static:
                return table.shape[0].low
        elif any(fed[:1]) and layer.folded_type in ("convert", "reshape", "unsqueeze", "squeeze"):
            carried.add(position)
    return None


def models_of(part: str) -> tuple[str, ...]:
    """Returns the models that a part in model_index.json needs, e.g. `unet/openvino_model.xml`."""
    kind = part.rstrip("_0123456789")
    if kind == "vae":
        return "vae_encoder/openvino_model.xml", "vae_decoder/openvino_model.xml"
    if kind == "tokenizer":
        return (f"{part}/{TOKENIZER}",)
    models = ("unet", "transformer", "text_encoder", "vae_encoder", "vae_decoder")
    return (f"{part}/openvino_model.xml",) if kind in models else ()
