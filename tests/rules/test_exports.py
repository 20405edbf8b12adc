"""Folders that optimum-intel exports: what does not go together is found, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import irshape
from irshape.cli import cli

TOKENIZERS = Path(__file__).parents[1] / "tokenizers"
ENTRIES = 1200
CONFIG = {
    "vocab_size": ENTRIES,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "hidden_size": 8,
    "eos_token_id": 0,
    "pad_token_id": None,
}


def save_language_model(
    path: Path, *, rows: int = ENTRIES, heads: int = 2, ids: str = "i64", outputs: int | None = None
) -> None:
    """Writes a language model of one layer, with states for keys and values."""
    import openvino
    from openvino import opset15 as opset
    from openvino.op.util import Variable, VariableInfo

    def parameter(name: str, element_type: str, rank: int) -> Any:
        node = opset.parameter([-1] * rank, getattr(openvino.Type, element_type), name)
        node.output(0).get_tensor().set_names({name})
        return node

    tokens = parameter("input_ids", ids, 2)
    mask = parameter("attention_mask", "i64", 2)
    beams = parameter("beam_idx", "i32", 1)
    table = opset.constant(np.zeros((rows, 8), np.float32))
    embedded = opset.gather(table, tokens, opset.constant(0))
    head = opset.constant(np.zeros((8, outputs or rows), np.float32))
    logits = opset.matmul(embedded, head, False, False)
    logits.output(0).get_tensor().set_names({"logits"})
    sinks = []
    for name in ("key", "value"):
        info = VariableInfo()
        info.data_shape = openvino.PartialShape([-1, heads, -1, 4])
        info.data_type = openvino.Type.f32
        info.variable_id = f"past_key_values.0.{name}"
        variable = Variable(info)
        initial = opset.broadcast(
            opset.constant(np.float32(0)), opset.constant(np.array([1, heads, 0, 4]))
        )
        read = opset.read_value(initial, variable)
        sinks.append(opset.assign(opset.gather(read, beams, opset.constant(0)), variable))
    used = opset.add(logits, opset.convert(opset.unsqueeze(mask, opset.constant([2])), "f32"))
    used.output(0).get_tensor().set_names({"logits"})
    logits.output(0).get_tensor().set_names({"raw"})
    model = openvino.Model([opset.result(used)], sinks, [tokens, mask, beams], "language_model")
    openvino.save_model(model, path, compress_to_fp16=False)


def make_export(
    folder: Path,
    *,
    model: dict[str, Any] | None = None,
    config: dict[str, Any] | str | None = None,
    without: tuple[str, ...] = (),
) -> Path:
    """Makes a folder; model and config: what differs from a sound one."""
    folder.mkdir()
    save_language_model(folder / "openvino_model.xml", **(model or {}))
    for part in ("tokenizer", "detokenizer"):
        for ending in ("xml", "bin"):
            source = TOKENIZERS / f"bpe_{part}.{ending}"
            shutil.copy(source, folder / f"openvino_{part}.{ending}")
    text = config if isinstance(config, str) else json.dumps(CONFIG | (config or {}))
    (folder / "config.json").write_text(text)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [0, 1]}))
    for name in without:
        (folder / name).unlink()
    return folder


def findings(folder: Path) -> list[tuple[str, str, str]]:
    """Code, severity and message of the findings of this family."""
    result = CliRunner().invoke(cli, ["validate", "--format", "json", "--exit-zero", str(folder)])
    assert result.exit_code == 0, result.output
    return [
        (each["code"], each["severity"], each["message"])
        for file in json.loads(result.stdout)["files"]
        for each in file["diagnostics"]
        if each["code"].startswith("IR66")
    ]


def test_a_sound_export_has_no_findings(tmp_path: Path) -> None:
    folder = make_export(tmp_path / "export")
    assert findings(folder) == []
    report = irshape.validate(sorted(folder.glob("*.xml")))
    assert {one.severity for one in report.diagnostics} == {"info"}


@pytest.mark.parametrize(
    ("model", "config", "without", "expected"),
    [
        pytest.param(
            {"rows": 900},
            {"vocab_size": 900},
            (),
            [
                ("IR662", "error", "1,200 entries, but the embedding table"),
                ("IR662", "error", "1,200 entries, but the embedding table"),
            ],
            id="another tokenizer",
        ),
        pytest.param(
            {}, {"vocab_size": 32000}, (), [("IR662", "warning", "32,000")], id="vocab_size"
        ),
        pytest.param(
            {}, {"eos_token_id": [1200]}, (), [("IR663", "error", "`eos_token_id` of config.json")],
            id="special token",
        ),
        pytest.param({"ids": "i32"}, {}, (), [("IR661", "error", "`input_ids` is "
        "i32")], id="type"),
        pytest.param(
            {"heads": 4}, {}, (), [("IR664", "warning", "requires 2 heads")],
            id="heads",
        ),
        pytest.param(
            {}, {"num_hidden_layers": 3}, (), [("IR664", "warning", "2 states for keys")],
            id="layers",
        ),
        pytest.param({}, "{", (), [("IR665", "warning", "config.json cannot be read")], id="json"),
        pytest.param(
            {}, "[]", (), [("IR665", "warning", "it is not a JSON object")], id="json list"
        ),
        pytest.param(
            {},
            {},
            ("openvino_detokenizer.xml", "generation_config.json"),
            [("IR666", "info", "lacks openvino_detokenizer.xml, generation_config.json")],
            id="lacks",
        ),
        pytest.param(
            {},
            {},
            ("openvino_detokenizer.xml", "openvino_tokenizer.xml", "generation_config.json"),
            [("IR666", "info", "lacks openvino_tokenizer.xml, openvino_detokenizer.xml")],
            id="the model alone",
        ),
    ],
)  # fmt: skip
def test_what_does_not_go_together(
    tmp_path: Path,
    model: dict[str, Any],
    config: dict[str, Any] | str,
    without: tuple[str, ...],
    expected: list[tuple[str, str, str]],
) -> None:
    folder = make_export(tmp_path / "export", model=model, config=config, without=without)
    seen = findings(folder)
    assert [each[:2] for each in seen] == [each[:2] for each in expected]
    for (_, _, message), (_, _, part) in zip(seen, expected, strict=True):
        assert part in message


def test_a_folder_that_is_no_export_is_not_one(tmp_path: Path) -> None:
    save_language_model(tmp_path / "openvino_model.xml")
    save_language_model(tmp_path / "other.xml", rows=5)
    assert findings(tmp_path) == []


HIDDEN = 32
IMAGE_CONFIGS: dict[str, dict[str, Any]] = {
    "text_encoder": {"vocab_size": ENTRIES, "hidden_size": HIDDEN},
    "unet": {"in_channels": 4, "out_channels": 4, "cross_attention_dim": HIDDEN},
    "vae_encoder": {"in_channels": 3, "latent_channels": 4, "out_channels": 3},
    "vae_decoder": {"in_channels": 3, "latent_channels": 4, "out_channels": 3},
}


def save_part(part: str, folder: Path, sizes: dict[str, int]) -> None:
    """A model with the inputs and outputs that optimum-intel gives a part of an image pipeline.

    sizes: `rows` and `hidden` of a text encoder, `tokens` that the denoiser takes, channels as
    `vae_encoder` and `vae_decoder` give and take them.
    """
    import openvino
    from openvino import opset15 as opset

    def parameter(name: str, shape: list[int], element_type: str = "f32") -> Any:
        node = opset.parameter(shape, getattr(openvino.Type, element_type), name)
        node.output(0).get_tensor().set_names({name})
        return node

    def convolved(data: Any, into: int, out: int) -> Any:
        kernel = opset.constant(np.zeros((out, into, 1, 1), np.float32))
        return opset.convolution(data, kernel, [1, 1], [0, 0], [0, 0], [1, 1])

    if part.startswith("text_encoder"):
        inputs = [parameter("input_ids", [-1, 77], "i64")]
        table = opset.constant(np.zeros((sizes["rows"], sizes["hidden"]), np.float32))
        result, name = opset.gather(table, inputs[0], opset.constant(0)), "last_hidden_state"
    elif part == "unet":
        inputs = [
            parameter("sample", [-1, 4, -1, -1]),
            parameter("timestep", []),
            parameter("encoder_hidden_states", [-1, -1, sizes["tokens"]]),
        ]
        total = opset.reduce_sum(inputs[2], opset.constant([0, 1, 2]))
        context = opset.multiply(inputs[1], total)
        result, name = opset.add(convolved(inputs[0], 4, 4), context), "out_sample"
    elif part == "vae_encoder":
        inputs = [parameter("sample", [-1, 3, -1, -1])]
        result, name = convolved(inputs[0], 3, sizes["vae_encoder"]), "latent_parameters"
    else:
        inputs = [parameter("latent_sample", [-1, sizes["vae_decoder"], -1, -1])]
        result, name = convolved(inputs[0], sizes["vae_decoder"], 3), "sample"
    result.output(0).get_tensor().set_names({name})
    model = openvino.Model([opset.result(result)], inputs, part)
    openvino.save_model(model, folder / "openvino_model.xml")


def make_image_export(
    folder: Path,
    sizes: dict[str, int],
    configs: dict[str, dict[str, Any]],
    without: tuple[str, ...],
    encoders: int,
) -> Path:
    """The folder of an image pipeline. sizes, configs: what differs from a sound one."""
    sound = {"rows": ENTRIES, "hidden": HIDDEN, "tokens": HIDDEN * encoders}
    sizes = sound | {"vae_encoder": 8, "vae_decoder": 4} | sizes
    numbered = ["", *(f"_{number}" for number in range(2, encoders + 1))]
    parts = [f"text_encoder{number}" for number in numbered] + ["unet", "vae_encoder"]
    for part in [*parts, "vae_decoder"]:
        (folder / part).mkdir(parents=True)
        save_part(part, folder / part, sizes)
        kind = part.rstrip("_2")
        stated = IMAGE_CONFIGS[kind] | configs.get(kind, {})
        if kind == "unet":
            stated = {"cross_attention_dim": HIDDEN * encoders} | configs.get(kind, {})
        (folder / part / "config.json").write_text(json.dumps(stated))
    index: dict[str, Any] = {
        "_class_name": "OVStableDiffusionPipeline",
        "safety_checker": [None] * 2,
    }
    for part in [*parts, "vae_decoder"]:
        index[part] = ["optimum", "OVModel"]
    for number in numbered:
        tokenizer = folder / f"tokenizer{number}"
        tokenizer.mkdir()
        for ending in ("xml", "bin"):
            source = TOKENIZERS / f"bpe_tokenizer.{ending}"
            shutil.copy(source, tokenizer / f"openvino_tokenizer.{ending}")
        index[tokenizer.name] = ["transformers", "CLIPTokenizer"]
    (folder / "model_index.json").write_text(json.dumps(index))
    for name in without:
        (folder / name).unlink()
    return folder


@pytest.mark.parametrize("encoders", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "configs", "without", "expected"),
    [
        pytest.param({}, {}, (), [], id="sound"),
        pytest.param({"vae_encoder": 4}, {}, (), [], id="no variances"),
        pytest.param(
            {"tokens": 24}, {"unet": {"cross_attention_dim": 24}}, (),
            [("IR661", "error", "`encoder_hidden_states` has 24 elements")],
            id="text encoder and denoiser",
        ),
        pytest.param(
            {"vae_decoder": 16, "vae_encoder": 32}, {"vae_decoder": {"latent_channels": 16}}, (),
            [("IR661", "error", "`latent_sample` has shape [?,16,?,?]")],
            id="denoiser and decoder",
        ),
        pytest.param(
            {"vae_encoder": 6}, {}, (),
            [("IR661", "error", "`latent_parameters` of vae_encoder/openvino_model.xml has 6")],
            id="encoder and decoder",
        ),
        pytest.param(
            {}, {"vae_decoder": {"out_channels": 1}}, (),
            [("IR661", "warning", "`out_channels` of vae_decoder/config.json is 1")],
            id="a stated size",
        ),
        pytest.param(
            {}, {}, ("vae_decoder/openvino_model.xml", "tokenizer/openvino_tokenizer.xml"),
            [("IR666", "info", "lacks ")],
            id="lacks",
        ),
    ],
)  # fmt: skip
def test_an_image_pipeline(
    tmp_path: Path,
    sizes: dict[str, int],
    configs: dict[str, dict[str, Any]],
    without: tuple[str, ...],
    expected: list[tuple[str, str, str]],
    encoders: int,
) -> None:
    folder = make_image_export(tmp_path / "export", sizes, configs, without, encoders)
    seen = findings(folder)
    assert [each[:2] for each in seen] == [each[:2] for each in expected], seen
    for (_, _, message), (_, _, part) in zip(seen, expected, strict=True):
        assert part in message
        assert all(name in message for name in without)


def test_the_vocabulary_of_a_text_encoder(tmp_path: Path) -> None:
    folder = make_image_export(tmp_path / "export", {"rows": 900}, {}, (), 2)
    seen = findings(folder)
    assert [each[:2] for each in seen] == [("IR662", "error")] * 2
    assert "text_encoder/openvino_model.xml has 900" in seen[0][2]
    assert "text_encoder_2/openvino_model.xml has 900" in seen[1][2]


def test_the_configuration_of_a_part_that_cannot_be_read(tmp_path: Path) -> None:
    folder = make_image_export(tmp_path / "export", {}, {}, (), 1)
    (folder / "unet" / "config.json").write_text("{")
    ((code, severity, message),) = findings(folder)
    assert (code, severity) == ("IR665", "warning")
    assert "unet/config.json cannot be read" in message


def make_translation_export(folder: Path, encoded: int, config: dict[str, Any]) -> Path:
    """An encoder that gives `encoded` elements a token, and a decoder that takes 8."""
    folder.mkdir()
    op = irshape.op
    encoder = irshape.Graph(name="encoder")
    features = encoder.parameter("f32", "[?,?,4]", name="input_features")
    encoder.result(op.matmul(features, np.ones((4, encoded), np.float32)), name="last_hidden_state")
    encoder.save(folder / "openvino_encoder_model.xml")
    decoder = irshape.Graph(name="decoder")
    tokens = decoder.parameter("i64", "[?,?]", name="decoder_input_ids")
    states = decoder.parameter("f32", "[?,?,8]", name="encoder_hidden_states")
    embedded = op.gather(np.ones((20, 8), np.float32), tokens, 0)
    decoder.result(op.matmul(embedded, states, transpose_b=True), name="scores")
    decoder.save(folder / "openvino_decoder_model.xml")
    (folder / "config.json").write_text(json.dumps({"vocab_size": 20, **config}))
    return folder


@pytest.mark.parametrize(
    ("encoded", "config", "expected"),
    [
        (8, {}, []),
        (6, {}, [("IR661", "has shape [?,?,6]")]),
        (8, {"vocab_size": 30}, [("IR662", "has 20 rows")]),
        (8, {"decoder_start_token_id": 20}, [("IR663", "`decoder_start_token_id` of")]),
    ],
    ids=["sound", "sizes", "vocabulary", "start"],
)
def test_an_encoder_and_its_decoder(
    encoded: int, config: dict[str, Any], expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    folder = make_translation_export(tmp_path / "export", encoded, config)
    rows = findings(folder)
    assert [code for code, _, _ in rows] == [code for code, _ in expected]
    assert all(text in row[2] for row, (_, text) in zip(rows, expected, strict=True))
