"""What devices make of models: verdicts, layers, and every door through which they come."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import jsonschema
import pytest
from calling import call
from models import custom, saved, variable_alone

import irshape
from irshape.devices.facts import DEVICES, VERDICTS, Condition, facts_of
from irshape.ops.registry import type_names, versions

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def codes(*arguments: str) -> list[tuple[str, str]]:
    """Code and type of the layer of each finding about devices."""
    document = json.loads(call("validate", "-f", "json", *arguments)[1])
    return [
        (found["code"], found["layer"]["type"])
        for file in document["files"]
        for found in file["diagnostics"]
        if found["code"].startswith("IR8")
    ]


@pytest.mark.parametrize("device", DEVICES)
def test_every_fact_is_about_an_operation_of_openvino(device: str) -> None:
    """A fact under a name that no operation has would never hold."""
    facts = facts_of(device)
    found = {
        fact
        for name in type_names()
        for each in versions(name)
        for fact in facts.about(each.type_name(), str(each.since))
        if fact.conditions_on(each.type_name(), str(each.since)) is not None
    }
    assert {fact for facts in facts.layers.values() for fact in facts} == found


@pytest.mark.parametrize(
    ("model", "cpu", "gpu", "npu"),
    [
        ("plain", "clear", "clear", "clear"),
        ("no_rank", "fails Parameter", "fails Parameter", "likely Parameter"),
        ("unbounded", "clear", "clear", "likely Parameter"),
        ("bounded", "clear", "clear", "clear"),
        ("parts", "clear", "clear", "clear"),
        ("finite", "clear", "clear", "likely IsFinite"),
        ("no_elements", "unknown", "unknown", "clear"),
        ("axes_of_an_input", "clear", "fails ReduceMean", "clear"),
        ("axes_that_are_folded", "clear", "clear", "clear"),
        ("axes_of_a_static_shape", "clear", "clear", "clear"),
        ("local_response", "likely LRN", "likely LRN", "likely LRN"),
        ("integers_to_a_sine", "clear", "likely Sinh", "clear"),
        ("compressed_weights", "clear", "clear", "likely Parameter Const"),
        ("convolution_of_integers", "clear", "clear", "clear"),
        ("inverse", "clear", "fails Inverse", "clear"),
        ("inverse_of_constants", "clear", "fails Inverse", "clear"),
        ("many_axes", "unknown", "likely Tile", "clear"),
        ("variable", "clear", "clear", "clear"),
    ],
)
def test_verdicts(tmp_path: Path, model: str, cpu: str, gpu: str, npu: str) -> None:
    folder = tmp_path / "some models"
    folder.mkdir()
    path = saved(model, folder)
    devices = irshape.requires(path).devices
    seen = [
        " ".join([devices[name].verdict, *(layer.type for layer in devices[name].layers)])
        for name in DEVICES
    ]
    assert seen == [cpu, gpu, npu]
    for judged in devices.values():
        for each in judged.obstacles:
            assert each.reason
            assert each.source
            assert each.cure.text
            if each.cure.command is not None:
                assert shlex.split(each.cure.command)[2] == str(path)


@pytest.mark.parametrize(
    "model",
    [
        "plain",
        "axes_of_an_input",
        "no_rank",
        "compressed_weights",
        "convolution_of_integers",
        "inverse_of_constants",
    ],
)
def test_the_cpu_says_so_too(tmp_path: Path, model: str) -> None:
    openvino = pytest.importorskip("openvino")
    path = saved(model, tmp_path)
    verdict = irshape.requires(path).devices["CPU"].verdict
    if verdict == "clear":
        openvino.Core().compile_model(path, "CPU")
    else:
        with pytest.raises(RuntimeError):
            openvino.Core().compile_model(path, "CPU")


def test_the_spelling_of_types_makes_no_difference(tmp_path: Path) -> None:
    models = (saved(name, tmp_path) for name in ("inverse_of_constants", "compressed_weights"))
    for path in (*models, variable_alone(tmp_path)):
        verdicts = [judged.verdict for judged in irshape.requires(path).devices.values()]
        # only under its exact type a Const has data
        path.write_text(
            re.sub(r' type="(?!Const)\w+"', lambda type: type[0].lower(), path.read_text())
        )
        small = irshape.requires(path).devices.values()
        assert [judged.verdict for judged in small] == verdicts, path.name


def test_an_unknown_operation_is_not_judged(tmp_path: Path) -> None:
    devices = irshape.requires(custom(tmp_path)).devices
    assert {name: judged.verdict for name, judged in devices.items()} == dict.fromkeys(
        DEVICES, "unknown"
    )
    assert [layer.type for layer in devices["GPU"].unjudged] == ["Mine"]


def test_a_variable_without_its_pair(tmp_path: Path) -> None:
    devices = irshape.requires(variable_alone(tmp_path)).devices
    assert [devices[name].verdict for name in DEVICES] == ["clear", "clear", "likely"]


@pytest.mark.parametrize(
    ("limit", "expected"), [("4GiB", []), ("16", [("IR802", "Parameter"), ("IR802", "ReLU")])]
)
def test_a_buffer_past_the_limit(
    tmp_path: Path, limit: str, expected: list[tuple[str, str]]
) -> None:
    path = str(saved("plain", tmp_path))
    assert codes("--device", "gpu", "--max-alloc", limit, path) == expected


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((), 0),
        (("--device", "gpu"), 1),
        (("--device", "cpu"), 0),
        (("--device", "npu", "--device", "cpu"), 0),
        (("--device", "tpu"), 2),
        (("--device", "gpu", "--ignore", "IR801"), 0),
        (("--device", "gpu", "--max-alloc", "much"), 2),
        (("--max-alloc", "1GiB"), 2),  # of no device
    ],
)
def test_exit_status(tmp_path: Path, arguments: tuple[str, ...], status: int) -> None:
    assert call("validate", *arguments, str(saved("axes_of_an_input", tmp_path)))[0] == status


def test_severities(tmp_path: Path) -> None:
    paths = [str(saved("inverse", tmp_path)), str(saved("local_response", tmp_path))]
    assert codes("--device", "gpu", *paths) == [("IR801", "Inverse"), ("IR802", "LRN")]
    extension = ("--extension", "Mine@mine")
    assert codes("--device", "gpu", *extension, str(custom(tmp_path))) == [("IR803", "Mine")]
    assert call("validate", "--device", "gpu", "--fail-level", "warning", paths[1])[0] == 1


def test_the_configuration_names_devices(tmp_path: Path) -> None:
    path = saved("axes_of_an_input", tmp_path)
    config = tmp_path / "irshape.toml"
    config.write_text('[devices]\ncheck = ["gpu"]\nmax-alloc = "1GiB"\n')
    assert codes("--config", str(config), str(path)) == [("IR801", "ReduceMean")]
    config.write_text('[devices]\ncheck = ["tpu"]\n')
    assert call("validate", "--config", str(config), str(path))[0] == 2


def test_requires_prints_a_table_of_80_columns(tmp_path: Path) -> None:
    for path in (saved("axes_of_an_input", tmp_path), EXAMPLES / "reductions.xml"):
        status, output, _ = call("requires", str(path))
        assert status == 0
        assert max(map(len, output.splitlines()[1:])) <= 80
        assert [line.split()[0] for line in output.splitlines() if line[2:5].strip()][-3:] == [
            *DEVICES
        ]


def test_requires_as_json(tmp_path: Path) -> None:
    schema = json.loads((ROOT / "schemas" / "requires.schema.json").read_text())
    for model in ("axes_of_an_input", "no_rank", "inverse"):
        document = json.loads(call("requires", "-f", "json", str(saved(model, tmp_path)))[1])
        jsonschema.validate(document, schema)
    assert document["devices"]["GPU"]["verdict"] == "fails"
    assert [layer["type"] for layer in document["devices"]["GPU"]["moved"]] == ["Inverse"]


def test_ask_puts_the_answer_of_the_device_beside(tmp_path: Path) -> None:
    pytest.importorskip("openvino")
    path = str(saved("inverse", tmp_path))
    document = json.loads(call("requires", "--ask", "-f", "json", path)[1])
    assert document["devices"]["CPU"]["asked"] == "compiles"


def test_the_page_and_model_explorer_show_devices(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    path = str(saved("axes_of_an_input", tmp_path))
    assert call("view", path, "--device", "gpu", "-o", str(page))[0] == 0
    text = page.read_text()
    assert '"device-gpu"' in text
    assert '"device-cpu"' not in text  # nothing stands against it


@pytest.mark.parametrize("device", DEVICES)
def test_tables(device: str) -> None:
    facts = facts_of(device)
    assert (device == "NPU") == ("nothing measured" in facts.source)
    for fact in (*facts.model.values(), *(each for row in facts.layers.values() for each in row)):
        assert fact.verdict in VERDICTS
        assert device != "NPU" or fact.verdict != "fails"
        assert fact.verdict != "fails" or (fact.refused and not fact.compiled)
        assert fact.reason or fact.verdict == "clear"


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("in0.type=f64|f32", "f32", True),
        ("in0.type=f64|f32", "i32", False),
        ("in0.type!=f64", "i32", True),
        ("in0.rank>5", "6", True),
        ("in0.rank>5", "?", False),
        ("in0.rank<=5", "5", True),
        ("in0.rank<=5", "6", False),
        ("in0.rank<=5", "?", True),
        ("@mode=", "", True),
    ],
)
def test_conditions(text: str, value: str, holds: bool) -> None:
    condition = Condition.parse(text)
    assert condition.holds(lambda key: value if key == condition.key else "-") is holds
