"""`irshape ops`: the specification at the terminal."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from irshape.cli import cli
from irshape.ops import registry

VERSIONS = sum(len(registry.opset_versions(name)) for name in registry.type_names())
LIBRARY = len(registry.library_type_names())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["ops", *arguments])


def test_listing() -> None:
    result = run()
    assert result.exit_code == 0
    assert f"{VERSIONS} versions" in result.stdout
    assert f"{LIBRARY} operations of openvino_tokenizers" in result.stdout
    assert len(result.stdout.splitlines()) == VERSIONS + LIBRARY + 3


def test_json_has_every_version_with_all_that_is_declared() -> None:
    rows = json.loads(run("--format", "json").stdout)
    assert len({(row["type"], row["version"]) for row in rows}) == len(rows) == VERSIONS + LIBRARY
    assert sum(row["library"] is None for row in rows) == VERSIONS
    for row in rows:
        assert row["documentation"], row["type"]
        assert set(row) == {
            "type",
            "version",
            "since",
            "until",
            "library",
            "introduced",
            "category",
            "documentation",
            "infer",
            "evaluate",
            "attributes",
            "inputs",
            "outputs",
            "constraints",
        }
        assert all(
            found["message"].strip(" …") and found["rule"] for found in row["constraints"]
        ), row["type"]


@pytest.mark.parametrize(
    ("type_name", "shown"),
    [
        ("ReduceMean", ["opset1 to opset16", "keep_dims", "axes", "of its specification"]),
        ("reducemean", ["keep_dims"]),
        ("Relu", ["  0  the element type and shape"]),
        ("TopK", ["Outputs\n  0  inferred from the inputs", "  1  inferred from the inputs"]),
        ("Split", ["Outputs\n  0, perhaps more  inferred from the inputs"]),
        ("Gather", ["opset7", "batch_dims"]),
        ("LSTMSequence", ["direction", "hidden_size"]),
        (
            "RegexSplit",
            ["(openvino_tokenizers 2023.3 and later", "behaviour"],
        ),
        ("SentencepieceTokenizer", ["irshape does not evaluate it", "nbest_size"]),
        ("StringTensorPack", ["of opset15", "of extension"]),
        ("Mish2 --extension Mish2@mine", ["of mine, known only by name"]),
        ("EmbeddingBagPackedSum", ["`bags` must be equal in `indices` and `per_sample_weights`"]),
    ],
)
def test_page(type_name: str, shown: list[str]) -> None:
    result = run(*type_name.split())
    assert result.exit_code == 0
    for text in shown:
        assert text in result.stdout


def test_unknown_operation() -> None:
    result = run("ReduceMedian")
    assert result.exit_code == 2
    assert "ReduceMedian" in result.stderr
