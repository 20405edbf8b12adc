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
        pytest.param({"ids": "i32"}, {}, (), [("IR661", "error", "`input_ids` is i32")], id="type"),
        pytest.param(
            {"heads": 4}, {}, (), [("IR664", "warning", "by config.json it has 2 heads")],
            id="heads",
        ),
        pytest.param(
            {}, {"num_hidden_layers": 3}, (), [("IR664", "warning", "2 states of keys and values")],
            id="layers",
        ),
        pytest.param({}, "{", (), [("IR665", "warning", "config.json cannot be read")], id="json"),
        pytest.param(
            {}, "[]", (), [("IR665", "warning", "it is no JSON object")], id="json list"
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
