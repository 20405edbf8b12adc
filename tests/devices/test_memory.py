"""`irshape inspect --device`: what is known of memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from irshape.cli import cli

ROOT = Path(__file__).resolve().parents[2]
DECODER = str(ROOT / "examples" / "decoder.xml")
CLASSIFIER = str(ROOT / "examples" / "classifier.xml")


def memory(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["inspect", "-f", "json", *arguments])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    jsonschema.validate(
        document, json.loads((ROOT / "schemas" / "inspect.schema.json").read_text())
    )
    section: dict[str, Any] = document["device_memory"]
    return section


def test_the_caches_grow_with_the_context() -> None:
    """Four states of f16 [?,2,?,16], of batch 1: 64 bytes a token each."""
    short, long = (memory(DECODER, "--device", "gpu", "--context", n) for n in ("1", "1000"))
    assert [cache["per_token"] for cache in short["caches"]] == [64] * 4
    assert short["per_token"] == short["cached"] == 256
    assert long["cached"] == 256_000
    assert long["largest_buffer"]["bytes"] == 64_000
    assert memory(DECODER, "--device", "gpu")["cached"] is None


@pytest.mark.parametrize(
    ("device", "fits"), [("gpu", None), ("gpu:16GiB", True), ("gpu:1KiB", False)]
)
def test_it_does_not_fit_if_what_is_known_does_not(device: str, fits: bool | None) -> None:
    section = memory(CLASSIFIER, "--device", device)
    assert section["fits"] is fits
    assert section["known"] == section["weights"] + section["activations"]["bytes"]
    assert section["activations"]["exact"]


@pytest.mark.parametrize(
    "arguments", [("--device", "tpu"), ("--device", "gpu:much"), ("--context", "8")]
)
def test_usage(arguments: tuple[str, ...]) -> None:
    assert CliRunner().invoke(cli, ["inspect", CLASSIFIER, *arguments]).exit_code == 2


@pytest.mark.parametrize(("model", "grows"), [(DECODER, True), (CLASSIFIER, False)])
def test_a_context_without_effect_is_said(model: str, grows: bool) -> None:
    done = CliRunner().invoke(cli, ["inspect", model, "--device", "gpu", "--context", "64"])
    assert (done.exit_code, "--context changes nothing" in done.stderr) == (0, not grows)


def test_it_says_what_is_not_known() -> None:
    done = CliRunner().invoke(cli, ["inspect", DECODER, "--device", "gpu:1GiB", "--context", "64"])
    assert "not known: scratch" in done.stdout
    assert "by irshape's plan" in done.stdout
