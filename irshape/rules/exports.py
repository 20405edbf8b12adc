"""IR66x: folders that optimum-intel exports for OpenVINO GenAI. Their models must match."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from ..faults import Stated
from ..model.graph import Finding, Layer
from ..spelling import counted, with_noun
from .base import Rule
from .export_folders import (
    CONFIGURATIONS,
    DECODERS,
    DETOKENIZER,
    ENCODER,
    LANGUAGE_MODELS,
    TEXT_EMBEDDINGS,
    TOKENIZER,
    VISION_EMBEDDINGS,
    Export,
    Member,
    channels,
    embedding_rows,
    last_size,
    models_of,
)

SPECIAL_TOKENS = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")


def check_export(export: Export) -> Iterator[tuple[Member, Finding]]:
    """Yields the findings on an exported folder, each with the model at which it is reported."""
    for rule in _ExportRule.__subclasses__():
        yield from rule.check_export(export)


class _ExportRule(Rule):
    """A rule about an exported folder, not about a single model."""

    @classmethod
    def check_export(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        return iter(())

    @classmethod
    def about(
        cls,
        member: Member,
        message: str,
        layer: Layer | None = None,
        **facts: Unpack[Stated],
    ) -> tuple[Member, Finding]:
        """Returns a finding at a layer or, for the whole model, at its first input."""
        place = layer or next(iter(member.model.parameters), None)
        return member, cls.finding(message, 0 if place is None else place.offset, layer, **facts)


class ExportMismatch(_ExportRule):
    """Two models of an exported folder do not fit together.

    ## What it does
    In a folder that optimum-intel exported, compares the outputs of one model with the inputs of
    the next. For the tokenizer and the language model, it compares the element types and shapes of
    `input_ids`, `attention_mask` and other tensors. For other pairs (embeddings and language model,
    encoder and decoder, text encoders and denoiser, denoiser and VAE), it compares the size of the
    last axis or the number of channels. If a model of an image pipeline has a config.json, the rule
    also compares the sizes in this file with the model; a difference is a warning.

    ## Why it matters
    Each model is valid by itself, but the pipeline fails on its first request.

    ## What OpenVINO does
    Reads every model; OpenVINO GenAI fails when the pipeline runs.

    ## Example
    ```xml
    <!-- openvino_model.xml, beside a tokenizer that outputs i64 -->
    <layer id="0" name="input_ids" type="Parameter" version="opset1">
        <data shape="?,?" element_type="i32"/>
    </layer>
    ```

    ## How to fix it
    Export all models of the folder from one original.
    """

    @classmethod
    def check_export(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        tokenizer = export.members.get(TOKENIZER)
        language = export.embedding
        if tokenizer is not None and language is not None:
            given = tokenizer.outputs()
            for name, taken in language.inputs().items():
                tensor = given.get(name)
                if tensor is None:
                    continue
                same_type = tensor.element_type is taken.element_type
                if not same_type or not tensor.shape.compatible(taken.shape):
                    message = (
                        f"the input `{name}` is {taken.element_type}{taken.shape}, but the "
                        f"tokenizer outputs {tensor.element_type}{tensor.shape}"
                    )
                    yield cls.about(language, message)
        for source, target in (
            ((TEXT_EMBEDDINGS, "inputs_embeds"), (LANGUAGE_MODELS[0], "inputs_embeds")),
            ((VISION_EMBEDDINGS, "last_hidden_state"), (LANGUAGE_MODELS[0], "inputs_embeds")),
            ((_DENOISER, "out_sample"), _DECODER),
            *(((ENCODER, "last_hidden_state"), (name, _ENCODED)) for name in DECODERS),
        ):
            yield from cls._sizes(export, source, target)
        yield from cls._text_encoders(export)
        yield from cls._latents(export)
        for part, key, side, label in STATED_SIZES:
            yield from cls._stated(export, part, key, side, label)

    @classmethod
    def _text_encoders(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        """Yields a finding if the denoiser's input `encoder_hidden_states` has another number of
        elements per token than the text encoders output together."""
        encoders = [
            member
            for name in ("text_encoder", "text_encoder_2")
            if (member := export.members.get(f"{name}/openvino_model.xml")) is not None
        ]
        denoiser = export.members.get(_DENOISER)
        sizes = [last_size(member.outputs().get("last_hidden_state")) for member in encoders]
        taken = None if denoiser is None else denoiser.inputs().get("encoder_hidden_states")
        given = sum(size or 0 for size in sizes)
        wanted = last_size(taken)
        if denoiser is None or not sizes or None in sizes or wanted in (None, given):
            return
        names = " and ".join(member.name for member in encoders)
        output = "output" if len(encoders) > 1 else "outputs"
        message = (
            f"the input `encoder_hidden_states` has {with_noun(wanted, 'element')} per token, "
            f"but {names} {output} {given}"
        )
        yield cls.about(denoiser, message)

    @classmethod
    def _latents(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        """Yields a finding if the channels of the VAE's encoder and decoder differ in number.

        The encoder may also output twice this number, for means and variances.
        """
        decoder = export.members.get(_DECODER[0])
        encoder = export.members.get("vae_encoder/openvino_model.xml")
        if decoder is None or encoder is None:
            return
        taken = channels(decoder.inputs().get(_DECODER[1]))
        for name, tensor in encoder.outputs().items():
            given = channels(tensor)
            if name.startswith("latent") and given and taken and given not in (taken, 2 * taken):
                message = (
                    f"the input `{_DECODER[1]}` has {taken} channels, but `{name}` of "
                    f"{encoder.name} has {given}"
                )
                yield cls.about(decoder, message)

    @classmethod
    def _stated(
        cls, export: Export, part: str, key: str, side: str, label: str
    ) -> Iterator[tuple[Member, Finding]]:
        """Yields a finding if an input or output has another size than config.json states."""
        for name, member in export.members.items():
            folder = name.rpartition("/")[0]
            stated = export.configurations.get(f"{folder}/config.json", {}).get(key)
            if folder.rstrip("_0123456789") != part or not isinstance(stated, int):
                continue
            tensor = (member.inputs() if side == "input" else member.outputs()).get(label)
            seen = channels(tensor)
            if seen is not None and seen != stated:
                message = (
                    f"`{key}` of {folder}/config.json is {stated}, but `{label}` of the "
                    f"model has {seen}"
                )
                yield cls.about(member, message, severity="warning")

    @classmethod
    def _sizes(
        cls, export: Export, source: tuple[str, str], target: tuple[str, str]
    ) -> Iterator[tuple[Member, Finding]]:
        """Yields a finding if an output and the input that it feeds differ in `channels`."""
        giving, taking = export.members.get(source[0]), export.members.get(target[0])
        if giving is None or taking is None:
            return
        given, taken = giving.outputs().get(source[1]), taking.inputs().get(target[1])
        if given is None or taken is None or given.rank != taken.rank:
            return
        if channels(given) != channels(taken) and None not in (channels(given), channels(taken)):
            message = (
                f"the input `{target[1]}` has shape {taken.shape}, but `{source[1]}` of "
                f"{giving.name} has shape {given.shape}"
            )
            yield cls.about(taking, message)


_ENCODED = "encoder_hidden_states"
_DENOISER = "unet/openvino_model.xml"
_DECODER = ("vae_decoder/openvino_model.xml", "latent_sample")
STATED_SIZES = (
    ("text_encoder", "hidden_size", "output", "last_hidden_state"),
    ("unet", "in_channels", "input", "sample"),
    ("unet", "out_channels", "output", "out_sample"),
    ("unet", "cross_attention_dim", "input", "encoder_hidden_states"),
    ("transformer", "in_channels", "input", "hidden_states"),
    ("transformer", "joint_attention_dim", "input", "encoder_hidden_states"),
    ("transformer", "pooled_projection_dim", "input", "pooled_projections"),
    ("vae_encoder", "in_channels", "input", "sample"),
    ("vae_decoder", "latent_channels", "input", "latent_sample"),
    ("vae_decoder", "out_channels", "output", "sample"),
)
"""Each row: a model, a key of its config.json, and the input or output whose size it states."""


class ExportVocabulary(_ExportRule):
    """The vocabularies of an exported folder have different sizes.

    ## What it does
    Compares the number of rows of the embedding table with the vocabulary of the tokenizer and the
    detokenizer, with the last axis of `logits`, and with `vocab_size` of config.json. A vocabulary
    with more entries than rows is an error. More rows than entries are common padding.

    ## Why it matters
    For a token beyond the end of the table, the model reads other memory or stops. With the wrong
    tokenizer, it writes text without meaning.

    ## What OpenVINO does
    Reads every model, and runs them.

    ## Example
    ```xml
    <!-- openvino_model.xml, beside a tokenizer of 151,665 entries -->
    <layer id="3" name="embed_tokens.weight" type="Const" version="opset1">
        <data element_type="f16" shape="32000,2048" offset="0" size="131072000"/>
    </layer>
    ```

    ## How to fix it
    Convert the tokenizer that belongs to the model.
    """

    @classmethod
    def check_export(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        for name, member in export.members.items():
            folder, _, file = name.rpartition("/")
            if folder.startswith("text_encoder") and file == "openvino_model.xml":
                tokenizer = folder.replace("text_encoder", "tokenizer", 1)
                rows = embedding_rows(member)
                yield from cls._entries(export, f"{tokenizer}/{TOKENIZER}", member, rows)
        language, rows = export.embedding, export.rows
        if language is None or rows is None:
            return
        for name in (TOKENIZER, DETOKENIZER):
            yield from cls._entries(export, name, language, rows)
        whole = export.language
        logits = None if whole is None else last_size(whole.outputs().get("logits"))
        stated = export.number("vocab_size")
        for what, size in (("`logits` has", logits), ("`vocab_size` of config.json is", stated)):
            if size is not None and size != rows:
                table = counted(rows, "row")
                message = f"{what} {size:,}, but the embedding table has {table}"
                yield cls.about(language, message, severity="warning")

    @classmethod
    def _entries(
        cls, export: Export, name: str, language: Member, rows: int | None
    ) -> Iterator[tuple[Member, Finding]]:
        """Yields a finding if a tokenizer has more entries than a model's table has rows."""
        member = export.members.get(name)
        if member is None or rows is None:
            return
        for type_name, position in VOCABULARIES.items():
            for layer, tensors in member.inputs_of(type_name):
                entries = last_size(tensors[position]) if len(tensors) > position else None
                if entries is not None and entries > rows:
                    message = (
                        f"the vocabulary has {entries:,} entries, but the embedding table of "
                        f"{language.name} has {counted(rows, 'row')}"
                    )
                    expected = f"{rows} or fewer"
                    yield cls.about(member, message, layer, expected=expected, actual=f"{entries}")


VOCABULARIES = {
    "BPETokenizer": 5,
    "WordpieceTokenizer": 5,
    "UnigramTokenizer": 5,
    "VocabDecoder": 1,
}
"""Maps each operation with a vocabulary to the position of the first input with vocabulary data."""


class ExportSpecialToken(_ExportRule):
    """A special token in a configuration lies outside the embedding table.

    ## What it does
    Compares `bos_token_id`, `eos_token_id`, `pad_token_id` and `decoder_start_token_id` of
    config.json and generation_config.json with the rows of the embedding table.

    ## Why it matters
    If the model cannot produce the end token, generation does not end at it. If the model cannot
    look up a token, generation fails.

    ## What OpenVINO does
    OpenVINO GenAI uses the token ids without checking them.

    ## Example
    ```json
    {"eos_token_id": 151645, "vocab_size": 32000}
    ```

    ## How to fix it
    Use the configuration that belongs to the model.
    """

    @classmethod
    def check_export(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        language, rows = export.embedding, export.rows
        if language is None or rows is None:
            return
        for name, configuration in export.configurations.items():
            for key in SPECIAL_TOKENS:
                value = configuration.get(key)
                for token in value if isinstance(value, list) else [value]:
                    if isinstance(token, int) and token >= rows:
                        message = (
                            f"`{key}` of {name} is {token}, but the embedding table has "
                            f"{counted(rows, 'row')}"
                        )
                        yield cls.about(
                            language, message, expected=f"0 to {rows - 1}", actual=str(token)
                        )


class ExportCache(_ExportRule):
    """The key and value cache of a language model does not match its configuration.

    ## What it does
    Compares the states (ReadValue) of a language model that have the shape [batch, heads, length,
    size] with config.json. Each of `num_hidden_layers` layers has two or four states, with
    `num_key_value_heads` heads of `head_dim` elements (or `hidden_size` / `num_attention_heads`).

    ## Why it matters
    OpenVINO GenAI plans the memory of the cache with these numbers.

    ## What OpenVINO does
    Reads the model.

    ## Example
    ```json
    {"num_hidden_layers": 24, "num_key_value_heads": 2, "num_attention_heads": 14}
    ```

    ## How to fix it
    Use the configuration with which the model was exported.
    """

    @classmethod
    def check_export(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        language = export.language
        if language is None or export.number("num_hidden_layers") is None:
            return
        caches = [
            (layer, language.inference.outputs(layer)[0].shape)
            for layer in language.model.layers
            if layer.is_read_value and language.inference.outputs(layer)[0].rank == 4
        ]
        layers = export.number("num_hidden_layers") or 0
        if caches and len(caches) != 2 * layers and len(caches) != 4 * layers:
            message = (
                f"the model has {len(caches)} states for keys and values, but `num_hidden_layers` "
                f"of config.json is {layers}"
            )
            yield cls.about(language, message, caches[0][0])
        attention_heads = export.number("num_attention_heads")
        heads = export.number("num_key_value_heads") or attention_heads
        size, hidden = export.number("head_dim"), export.number("hidden_size")
        if size is None and hidden and attention_heads:
            size = hidden // attention_heads
        for layer, shape in caches:
            for axis, wanted, key in ((1, heads, "heads"), (3, size, "elements per head")):
                if wanted is not None and not shape[axis].contains(wanted):
                    message = f"the state has shape {shape}; config.json requires {wanted} {key}"
                    yield cls.about(language, message, layer)
                    return


class ExportConfiguration(_ExportRule):
    """A configuration of an exported folder cannot be read.

    ## What it does
    Reports a config.json, generation_config.json or model_index.json that is not a JSON object or
    is larger than 4 MiB.

    ## Why it matters
    OpenVINO GenAI and optimum-intel read this file.

    ## What OpenVINO does
    OpenVINO GenAI refuses the folder.

    ## Example
    ```json
    {"architectures": ["Qwen2ForCausalLM"],
    ```

    ## How to fix it
    Copy the file from the original again.
    """

    @classmethod
    def check_export(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        for name, fault in export.faults.items():
            yield export.main, cls.finding(f"{name} cannot be read: {fault}", 0)


class ExportIncomplete(_ExportRule):
    """A folder lacks a part of an export.

    ## What it does
    Names the files that are missing in a folder with a language model: tokenizer, config.json and,
    if the model outputs `logits`, detokenizer and generation_config.json. Also names each part of
    model_index.json for which the folder has no model.

    ## Why it matters
    OpenVINO GenAI needs the missing files. A program with its own tokenizer needs neither tokenizer
    nor detokenizer.

    ## What OpenVINO does
    OpenVINO GenAI refuses the folder when it needs the missing file.

    ## Example
    ```sh
    ls
    # config.json  openvino_model.bin  openvino_model.xml
    irshape validate .
    ```

    ## How to fix it
    `convert_tokenizer MODEL --with-detokenizer -o FOLDER` writes tokenizer and detokenizer;
    `optimum-cli export openvino` writes the whole folder.
    """

    @classmethod
    def check_export(cls, export: Export) -> Iterator[tuple[Member, Finding]]:
        language = export.language
        lacking: list[str] = []
        if language is not None:
            names = language.inputs().keys() | language.outputs().keys()
            if "input_ids" in names or "inputs_embeds" in names:
                lacking += [TOKENIZER] if TOKENIZER not in export.members else []
                generates = "logits" in names
                if generates and DETOKENIZER not in export.members:
                    lacking.append(DETOKENIZER)
                wanted = CONFIGURATIONS[: 1 + generates]
                present = export.configurations.keys() | export.faults.keys()
                lacking += [name for name in wanted if name not in present]
        index = export.configurations.get("model_index.json", {})
        for part in index:
            wanted_models = models_of(part)
            if isinstance(index[part], list) and index[part] and index[part][0] is not None:
                lacking += [name for name in wanted_models if name not in export.members]
        if lacking:
            message = f"the folder lacks {', '.join(lacking)}"
            yield export.main, cls.finding(message, 0)
