"""`irshape requires`, target releases, and extensions that the target has to load."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from calling import call, findings
from ir import Net, network

import irshape
from irshape.releases import (
    ELEMENT_TYPES,
    MINOR_RELEASES,
    OPSETS,
    newest_opset,
    parse_release,
    written,
)

NEWEST = max((year, last) for year, (_, last) in MINOR_RELEASES.items())

TOKENIZERS = Path(__file__).parents[1] / "tokenizers"


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_requires_of_a_model_that_openvino_refuses(tmp_path: Path) -> None:
    path = network("ShapeOf", "opset1").save(tmp_path)
    path.write_text(path.read_text().replace("ShapeOf", "NonMaxSuppression"))
    status, output, errors = call("requires", "--format", "json", str(path))
    assert (status, "NonMaxSuppression" in errors) == (1, True)
    verdicts = [device["verdict"] for device in json.loads(output)["devices"].values()]
    assert verdicts == ["unknown"] * 3


def requires(path: Path) -> tuple[str, list[tuple[str, str, int]]]:
    """The release, and its reasons: release, what, how many layers."""
    status, output, _ = call("requires", "--format", "json", str(path))
    assert status == 0
    found = json.loads(output)
    return found["requires"], [
        (reason["release"], reason["reason"], len(reason["layers"])) for reason in found["reasons"]
    ]


def converted(element_type: str, ir: str = "11") -> Net:
    attributes = f'destination_type="{element_type}"'
    return network("Convert", precision=element_type.upper(), attributes=attributes, ir=ir)


@pytest.mark.parametrize(
    ("net", "release", "reason"),
    [
        (network(ir="10"), "2020.1", "opset1"),
        (network(), "2022.1", "IR version 11"),
        (network("Mish", "opset4", ir="10"), "2021.1", "opset4"),
        (network("Mish", "opset4"), "2022.1", "IR version 11"),
        (network("SoftSign", "opset9"), "2022.2", "opset9"),
        (network("ReLU", "opset13"), "2023.2", "opset13"),
        (network("Identity", "opset16"), "2025.0", "opset16"),
        (network("ShapeOf", "opset17", attributes='output_type="i64"'), "2026.2", "opset17"),
        (converted("nf4"), "2023.2", "element type nf4"),
        (converted("f8e4m3"), "2024.0", "element type f8e4m3"),
        (converted("u2"), "2024.1", "element type u2"),
        (converted("f4e2m1"), "2024.3", "element type f4e2m1"),
        (converted("i4", ir="10"), "2021.4", "element type i4"),
        (converted("f16", ir="10"), "2020.1", "opset1"),
    ],
)
def test_requires(tmp_path: Path, net: Net, release: str, reason: str) -> None:
    found, reasons = requires(net.save(tmp_path))
    assert found == release
    assert (release, reason) in [row[:2] for row in reasons]


def test_requires_in_words(tmp_path: Path) -> None:
    status, output, _ = call("requires", str(network("SoftSign", "opset9").save(tmp_path)))
    lines = output.splitlines()
    assert (status, lines[0].endswith("m.xml: OpenVINO 2022.2 or newer")) == (0, True)
    assert [" ".join(line.split()) for line in lines[1:3]] == [
        "read by 2022.2 opset9, 1 layer",
        "SoftSign 'layer' (id 1), line 5",
    ]


def test_a_release_that_reads_a_model_and_does_not_run_it(tmp_path: Path) -> None:
    path = str(EXAMPLES / "reductions.xml")
    status, output, _ = call("requires", "-f", "json", path)
    document = json.loads(output)
    assert (status, document["requires"], document["runs"]) == (0, "2022.1", "2024.1")
    (reason,) = document["running_reasons"]
    assert {layer["type"][:6] for layer in reason["layers"]} == {"Reduce"}
    found = [each for target in ("2024.0", "2024.1") for each in findings("--target", target, path)]
    assert {code for code, severity, *_ in found if severity == "error"} == {"IR607"}
    assert "2024.1 or newer runs it" in call("requires", path)[1]


def test_requires_of_bodies_and_of_what_nobody_knows(tmp_path: Path) -> None:
    path = network("Mine", "custom_opset").save(tmp_path)
    status, output, _ = call("requires", "--format", "json", str(path))
    found = json.loads(output)
    unknown = [layer["type"] for layer in found["unknown"]]
    assert (status, found["requires"], unknown) == (0, "2022.1", ["Mine"])
    for options in ((), ("--extension", "Mine")):
        words = call("requires", str(path), *options)[1].split()
        assert "without its library" in " ".join(words)
        assert "opset6," not in words
    declared = json.loads(call("requires", "-f", "json", "--extension", "Mine", str(path))[1])
    (library,) = declared["libraries"]
    assert (library["install"], [each["type"] for each in library["layers"]]) == (None, ["Mine"])
    inside = json.loads(call("requires", "--format", "json", str(EXAMPLES / "control_flow.xml"))[1])
    import jsonschema

    schema = json.loads((EXAMPLES.parent / "schemas" / "requires.schema.json").read_text())
    for answer in (found, declared, inside):
        jsonschema.validate(answer, schema)
    assert any(layer["path"] for reason in inside["reasons"] for layer in reason["layers"])


def test_requires_of_what_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text("<net")
    assert call("requires", str(path))[0] == 1


@pytest.mark.parametrize("command", [("requires",), ("query", "//layer")], ids=lambda row: row[0])
def test_what_cannot_be_opened_among_several(tmp_path: Path, command: tuple[str, ...]) -> None:
    model = str(EXAMPLES / "recurrent.xml")
    (tmp_path / "gone.xml").symlink_to("nowhere.xml")
    (tmp_path / "text.xml").write_text("<net")
    alone, both = call(*command, model), call(*command, str(tmp_path), model)
    assert (alone[0], both[0]) == (0, 2)
    assert both[1].startswith(alone[1].splitlines()[0])
    assert "gone.xml': No such file" in both[2]
    assert "text.xml:1:1: error[IR001]" in both[2]


def test_the_tables_are_in_order() -> None:
    assert list(OPSETS.values()) == sorted(OPSETS.values())
    newest = "2020.1:1 2020.3:2 2022.1:8 2023.3:13 2024.6:15 2025.4:15 2026.4:17"
    for release, _, opset in (each.partition(":") for each in newest.split()):
        assert newest_opset(parse_release(release)) == int(opset), release
    assert newest_opset((2019, 4)) == 0
    assert parse_release("2024.6.0") == (2024, 6)


@pytest.mark.parametrize("text", ["2019.4", "2020.0", "2022.4", "2026.9", "2030.1", "2030.0"])
def test_a_release_that_is_not_known_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"2020\.1 to {re.escape(written(NEWEST))}"):
        parse_release(text)
    status, _, error = call("validate", "--target", text, str(network().save(tmp_path)))
    assert (status, f"release '{text}'" in error) == (2, True)


def test_the_newest_release_is_the_one_installed() -> None:
    import openvino

    year, minor = map(int, openvino.__version__.split(".")[:2])
    assert (year, minor) == NEWEST
    assert set(OPSETS.values()) <= {
        (year, minor)
        for year, (first, last) in MINOR_RELEASES.items()
        for minor in range(first, last + 1)
    }


def test_several_models_and_a_folder(tmp_path: Path) -> None:
    first = network("SoftSign", "opset9").save(tmp_path, "first")
    network("ReLU", "opset13").save(tmp_path, "second")
    (tmp_path / "other.xml").write_text("<project/>")
    status, output, _ = call("requires", str(tmp_path))
    assert (status, output.splitlines()[-1]) == (0, "all 2 models: OpenVINO 2023.2 or newer")
    _, output, _ = call("requires", "-f", "json", str(tmp_path))
    answer = json.loads(output)
    assert [model["requires"] for model in answer["models"]] == ["2022.2", "2023.2"]
    assert answer["requires"] == "2023.2"
    broken = tmp_path / "broken.xml"
    broken.write_text("<net")
    status, output, error = call("requires", str(broken), str(first))
    assert (status, output.splitlines()[0]) == (1, f"{first}: OpenVINO 2022.2 or newer")
    assert "broken.xml:1:1: error[IR001]" in error
    assert call("requires", str(tmp_path / "gone.xml"))[0] == 2


def test_the_tables_cover_what_openvino_has() -> None:
    import openvino

    assert {f"opset{number}" for number in OPSETS} == {
        name for name in dir(openvino) if name.startswith("opset")
    }
    assert ELEMENT_TYPES.keys() <= set(dir(openvino.Type))


@pytest.mark.parametrize(
    ("net", "target", "expected"),
    [
        (network("SoftSign", "opset9"), "2022.2", []),
        (network("SoftSign", "opset9"), "2022.1", ["SoftSign of opset9|2022.2|up to opset8"]),
        (
            network("FakeConvert", "opset13"),
            "2023.2",
            ["FakeConvert|2023.3|but without"],
        ),
        (
            network("MVN", "opset6"),
            "2021.1.0",
            ["IR version 11|2022.1", "MVN of opset6|2021.3|up to opset4|is MVN of opset4"],
        ),
        (converted("nf4"), "2023.1", ["element type nf4|2023.2"]),
    ],
)
def test_target(tmp_path: Path, net: Net, target: str, expected: list[str]) -> None:
    """Expected: what it is, the release that it needs, and what the target reads instead."""
    path = net.save(tmp_path)
    found = findings("--target", target, "--select", "IR605", str(path))
    for (*_, message, _), words in zip(found, expected, strict=True):
        assert [word for word in words.split("|") if word not in message] == []
    assert {(code, severity) for code, severity, *_ in found} <= {("IR605", "error")}
    config = irshape.Configuration(target=parse_release(target), select=("IR605",))
    diagnostics = irshape.validate(path, config=config).diagnostics
    assert [one.message for one in diagnostics] == [message for *_, message, _ in found]


def test_a_target_that_has_the_same_operation(tmp_path: Path) -> None:
    path = network("ReLU", "opset13").save(tmp_path)
    ((_, _, _, hint),) = findings("--target", "2022.1", "--select", "IR605", str(path))
    assert 'version="opset8"' in (hint or "")
    path.write_text(path.read_text().replace("opset13", "opset8"))
    assert findings("--target", "2022.1", "--select", "IR605", str(path)) == []


# Extensions


@pytest.mark.parametrize(
    ("type", "version", "extensions", "severity"),
    [
        ("Mine", "custom_opset", "", "error"),
        ("Mine", "custom_opset", "Mine", "info"),
        ("Mine", "custom_opset", "Mine@custom_opset", "info"),
        ("Mine", "custom_opset", "Mine@other", "error"),
        ("Mine", "custom_opset", "mine", "error"),  # OpenVINO looks them up as they are written
        ("Mine", "custom_opset", "Other Mine", "info"),
        ("Mine", "opset1", "", "error"),
        ("Mine", "opset1", "Mine", "info"),
        ("ReLU", "extension", "", "error"),
        ("ReLU", "extension", "ReLU@extension", "info"),
    ],
)
def test_extensions(
    tmp_path: Path, type: str, version: str, extensions: str, severity: str
) -> None:
    path = network(type, version).save(tmp_path)
    options = [option for name in extensions.split() for option in ("--extension", name)]
    ((code, found, message, hint),) = findings(*options, str(path))
    assert found == severity
    if severity == "info":
        assert (code, "uses its declared ports" in message) == ("IR604", True)
    else:
        assert code in ("IR602", "IR604")
        assert f"--extension {type}" in hint
        assert code == "IR602" or "--plugin FILE.py" in hint


@pytest.mark.parametrize(
    ("type", "version", "named"), [("Mine", "custom_opset", True), ("ReLU", "opset1", False)]
)
def test_crosscheck_says_how_to_load_a_library(
    tmp_path: Path, type: str, version: str, named: bool
) -> None:
    path = str(network(type, version).save(tmp_path))
    said = "".join(call("crosscheck", path, "--extension", "Mine", "--force")[1:])
    assert ("--extension-library FILE" in said) == named


def test_extensions_of_the_configuration(tmp_path: Path) -> None:
    path = network("Mine", "custom_opset").save(tmp_path)
    (tmp_path / "irshape.toml").write_text('extensions = ["Mine@custom_opset"]')
    options = ("--config", str(tmp_path / "irshape.toml"), str(path))
    assert [row[:2] for row in findings(*options)] == [("IR604", "info")]
    assert call("validate", *options)[0] == 0
    (found,) = irshape.validate(
        path, config=irshape.Configuration(extensions=("Mine",))
    ).diagnostics
    assert (found.code, found.severity) == ("IR604", "info")


@pytest.mark.parametrize(
    ("type_name", "version", "meaning"),
    [
        ("PagedAttentionExtension", "extension", "attention over a cache of keys and values"),
        ("GatedDeltaNet", "ie_internal_opset", "linear attention by the gated delta rule"),
        ("RoPE", "ie_internal_opset", "rotary position embedding"),
        ("NewName", "ie_internal_opset", "OpenVINO's transformations insert it"),
        ("Relu", "type_relaxed_opset", "other element types"),
        ("LLMMLP", "cpu_plugin_opset", "the feed-forward block"),
        ("ONNXFrameworkNode", "util", "an operation that it cannot convert"),
        ("PtFrameworkNode", "util", "an operation that it cannot convert"),
    ],
)
def test_internal_operations_of_openvino_are_known_by_name(
    type_name: str, version: str, meaning: str
) -> None:
    from irshape.ops import registry

    with pytest.raises(registry.UnknownOperation) as caught:
        registry.find(type_name, version)
    assert caught.value.custom
    assert "internal operation" in str(caught.value)
    assert meaning in str(caught.value)


def test_what_the_models_of_a_folder_require_together(tmp_path: Path) -> None:
    """The library's release is that of its newest operation: Truncate came with 2025.2.

    Each release of the library works with the OpenVINO of its own number only.
    """
    for name in ("bpe_tokenizer", "wordpiece_tokenizer"):
        for suffix in (".xml", ".bin"):
            shutil.copy(TOKENIZERS / f"{name}{suffix}", tmp_path)
    network().save(tmp_path)
    status, output, _ = call("requires", "--format", "json", str(tmp_path))
    answer = json.loads(output)
    using = [str(tmp_path / f"{name}_tokenizer.xml") for name in ("bpe", "wordpiece")]
    seen = (status, answer["requires"], answer["unknown"], answer["complete"])
    assert seen == (0, "2025.2", [], True)
    assert answer["libraries"] == [
        {"install": "pip install openvino-tokenizers", "release": "2025.2", "models": using}
    ]
    assert len(answer["models"]) == 3
    text = call("requires", str(tmp_path))[1].splitlines()
    assert text[-2] == "all 3 models: OpenVINO 2025.2 or newer"
    assert "pip install openvino-tokenizers, 2025.2" in text[-1]
    network("Mine", "custom_opset").save(tmp_path, "own")
    text = call("requires", str(tmp_path), "--extension", "Mine")[1].splitlines()
    assert "custom operations, for 1 model" in text[-2]
    (tmp_path / "broken.xml").write_text("<net")
    status, output, _ = call("requires", "--format", "json", str(tmp_path))
    assert (status, json.loads(output)["complete"]) == (1, False)
