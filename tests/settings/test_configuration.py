"""The configuration: where it is looked up, what it may say, what overrides what; policies."""

from __future__ import annotations

import contextlib
import json
import re
from functools import partial
from pathlib import Path

import calling
import pytest
from calling import reported
from ir import Net

import irshape

call = partial(calling.call, "validate")


def findings(*arguments: str) -> list[tuple[str, str]]:
    """Code and message of what is reported, in order."""
    return [(found["code"], found["message"]) for found in reported(*arguments)]


def codes(*arguments: str) -> list[str]:
    return sorted(code for code, _ in findings(*arguments))


def network() -> Net:
    """f32 [2,3] `image` through a ReLU and an Add to `scores`; IR301 and IR201 on the ReLU."""
    net = Net()
    x = net.parameter("2,3", name="image")
    relu = net.layer("ReLU", [x], 'colour="red"', outputs=["FP32:2,4"])
    total = net.layer(
        "Add", [relu, net.constant([1.0, 2.0, 3.0], "f32")], outputs=["FP32:2,3"], name="total"
    )
    net.layers[int(total)] = net.layers[int(total)].replace(
        "precision=", 'names="scores" precision='
    )
    net.result(total, "out")
    return net


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    network().save(inner)
    monkeypatch.chdir(inner)
    return tmp_path


IGNORES = '[tool.irshape]\nignore = ["IR301"]'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "IR201 IR301"),
        ({"irshape.toml": 'ignore = ["IR301"]'}, "IR201"),
        ({"pyproject.toml": IGNORES}, "IR201"),
        # the nearest one alone
        ({"a/irshape.toml": 'ignore = ["IR301"]', "irshape.toml": 'ignore = ["IR201"]'}, "IR201"),
        ({"a/b/pyproject.toml": '[tool.other]\nx = "irshape"', "pyproject.toml": IGNORES}, "IR201"),
        # irshape.toml before pyproject.toml
        (
            {"a/pyproject.toml": IGNORES.replace("301", "2"), "a/irshape.toml": 'ignore = ["IR3"]'},
            "IR201",
        ),
        ({"pyproject.toml": '[tool."irshape"]\nignore = ["IR301"]'}, "IR201"),
        ({"pyproject.toml": '[tool]\nirshape.ignore = ["IR301"]'}, "IR201"),
        (
            {"a/b/pyproject.toml": '[project.scripts]\nirshape = ""', "pyproject.toml": IGNORES},
            "IR201",
        ),
    ],
    ids=str,
)
def test_where_it_is_found(folder: Path, files: dict[str, str], expected: str) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)
    assert codes("m.xml") == expected.split()
    assert codes("m.xml", "--isolated") == ["IR201", "IR301"]


def test_a_named_configuration(folder: Path) -> None:
    (folder / "irshape.toml").write_text('ignore = ["IR2"]')
    (folder / "ci.toml").write_text('ignore = ["IR3"]')
    assert codes("m.xml", "--config", str(folder / "ci.toml")) == ["IR201"]
    assert irshape.validate("m.xml", config=folder / "ci.toml").diagnostics[0].code == "IR201"
    report = irshape.validate(["m.xml"], config=irshape.Configuration(select=("IR3",)))
    assert [found.code for found in report.diagnostics] == ["IR301"]
    from irshape.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["validate", "m.xml", "--config", "no/such.toml"])
    assert ended.value.code == 2


# the configuration, options, and the codes that are reported; None: the target refuses the file
@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ('select = ["IR2"]', "--select IR3", "IR301"),
        ('select = ["IR2"]', "--extend-select IR3", "IR201 IR301"),
        ('ignore = ["IR301"]', "--ignore IR201", ""),
        ('ignore = ["IR301"]', "--select IR301", "IR301"),  # the command line wins
        ('ignore = ["IR3"]', "--extend-select IR3", "IR201 IR301"),
        ('extend-select = ["IR125"]', "", "IR201 IR301"),
        ('[per-file-ignores]\n"m.xml" = ["IR301"]', "", "IR201"),
        # from the folder of the configuration
        ('[per-file-ignores]\n"a/b/*.xml" = ["IR301"]', "", "IR201"),
        ('[per-file-ignores]\n"a/" = ["IR301"]', "", "IR201"),
        ('[per-file-ignores]\n"a/**" = ["ALL"]', "", ""),
        ('[per-file-ignores]\n"b/*.xml" = ["IR301"]', "", "IR201 IR301"),
        ('[per-file-ignores]\n"[a-l].xml" = ["IR301"]\n"[!a-l].xml" = ["IR201"]', "", "IR301"),
        ('[per-file-ignores]\n"?.xml" = ["IR301"]', "--per-file-ignores *:IR201", ""),
        ("max-errors = 1", "", None),
        ('fail-level = "warning"', "", "IR201 IR301"),
        ("comments = false\njobs = 2\ncache = false", "", "IR201 IR301"),
        ('target = "2020.1"', "", None),
        ('target = "2020.1"', "--target 2026.4", "IR201 IR301"),
    ],
)
def test_what_goes_over_what(folder: Path, text: str, options: str, expected: str | None) -> None:
    (folder / "irshape.toml").write_text(text)
    if expected is not None:
        assert codes("m.xml", *options.split()) == expected.split()
    else:
        assert call("m.xml", *options)[0] == 1


def test_the_fail_level_of_the_file(folder: Path) -> None:
    (folder / "irshape.toml").write_text('fail-level = "warning"\nignore = ["IR2"]')
    assert call("m.xml")[0] == 1
    assert call("m.xml", "--fail-level", "error")[0] == 0


def test_a_baseline_of_the_file(folder: Path) -> None:
    (folder / "irshape.toml").write_text('baseline = "known.json"')
    assert call("m.xml", "--update-baseline")[0] == 0
    assert list(json.loads((folder / "known.json").read_text())["files"]) == ["a/b/m.xml"]
    assert codes("m.xml") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("selct = []", "selct: unknown key|did you mean 'select'?"),
        ("zzz = 1", "zzz: unknown key|known: select,"),
        ('select = "IR2"', "select: expected a list of strings"),
        ('select = ["IR2", 3]', "select: expected a list of strings"),
        ('select = ["IR777"]', "select: there is no rule 'IR777'"),
        ('ignore = ["output-shape-mismach"]', "did you mean 'output-shape-mismatch'?"),
        ('fail-level = "fatal"', "fail-level: expected error"),
        ("max-errors = 0", "max-errors: expected a whole number"),
        ("max-errors = true", "max-errors: expected a whole number"),
        ("jobs = 1.5", "jobs: expected a whole number"),
        ("comments = 1", "comments: expected true or false"),
        ("target = 2023.3", "target: expected a release"),
        ('target = "new"', "target: 'new' is not"),
        ("baseline = []", "baseline: expected a string"),
        ('baseline = ""', "baseline: the path is empty"),
        ('cache-dir = ""', "cache-dir: the path is empty"),
        ("per-file-ignores = []", "per-file-ignores: expected a table"),
        ('[per-file-ignores]\n"" = ["IR2"]', "per-file-ignores: a pattern is empty"),
        ('[policy]\nfiles = [""]', "policy.files: "),
        ('extensions = [" Mine"]', "extensions: ' Mine' is not"),
        ('extensions = ["Mine@*"]', "extensions: 'Mine@*' is not"),
        ('[policy]\nforbidden-operations = ["Conv*"]', "'Conv*' is not an operation"),
        (
            '[policy]\ninputs = [{ name = "image" }, { name = "image" }]',
            "policy.inputs: 'image' is listed twice",
        ),
        ('[[contract]]\nrequire = ["x == [2]"]', "'x == [2]' is not a statement"),
        ('[per-file-ignores]\n"*.xml" = ["IR777"]', "no rule 'IR777'"),
        ('extensions = ["@x"]', "extensions: '@x' is not an extension"),
        ('extensions = ["Add"]', "'Add' is an operation"),
        ("policy = 1", "policy: expected a table"),
        (
            "[policy]\nforbiden-operations = []",
            "policy.forbiden-operations: unknown key|did you mean 'forbidden-operations'?",
        ),
        ('[policy]\nallowed-element-types = ["f33"]', "policy.allowed-element-types: 'f33' is not"),
        ('[policy]\nmax-weights = "100 MBytes"', "policy.max-weights: '100 MBytes' is not a size"),
        ("[policy]\nmax-layers = -1", "policy.max-layers: expected a whole number"),
        ('[policy]\ninputs = [{ type = "f32" }]', "policy.inputs[0]: it has no name"),
        ('[policy]\ninputs = [{ name = "x", shape = "[a]" }]', "policy.inputs[0].shape"),
        (
            '[policy]\ninputs = [{ name = "x", dtype = "f32" }]',
            "policy.inputs[0].dtype: unknown key",
        ),
        ("[[policy]]\n[[policy]]\nx = 1", "policy[1].x: unknown key"),
        ("select = [", "irshape.toml"),
        ('[tool.irshape]\nselect = ["IR2"]', "tool: unknown key"),
    ],
)
def test_what_cannot_be_used(folder: Path, text: str, words: str) -> None:
    file = folder / "irshape.toml"
    file.write_text(text)
    status, output, error = call("m.xml")
    assert (status, output) == (2, "")
    assert all(word in " ".join(error.split()) for word in words.split("|")), error
    with pytest.raises(ValueError, match="irshape"):
        irshape.validate("m.xml", config=file)


ODD = (
    *("0", "-1", "1e400", "nan", '""', '"\\u0000"', '"a"', "[]", "[1]", '[""]', "[[]]", "[{}]"),
    *("{}", '{ "" = [] }', "{ a = { b = 1 } }", "true", "1979-05-27", '"IR2"', '["IR2"]'),
    "9999999999999999999",
)


def known_keys(folder: Path, table: str = "") -> list[str]:
    """The keys that the message about an unknown one lists."""
    (folder / "irshape.toml").write_text(f"{table}\nzzz = 1")
    with pytest.raises(irshape.ConfigurationError) as refused:
        irshape.Configuration.read(folder / "irshape.toml")
    return re.findall(r"[\w-]+", str(refused.value).partition("known: ")[2])


@pytest.mark.parametrize("value", ODD)
def test_no_value_of_any_key_is_a_crash(folder: Path, value: str) -> None:
    file = folder / "irshape.toml"
    settings = [f"{key} = {value}" for key in known_keys(folder)]
    settings += [f"policy.{key} = {value}" for key in known_keys(folder, "[policy]")]
    for key in ("name", "type", "shape"):
        settings.append(f"policy.inputs = [{{ name = 'x', {key} = {value} }}]")
    assert len(settings) > 20
    for setting in settings:
        file.write_text(setting)
        with contextlib.suppress(irshape.ConfigurationError):
            irshape.Configuration.read(file)


def test_every_key_is_documented(folder: Path) -> None:
    import click

    from irshape.cli.selecting import fixing_options

    text = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text()
    keys = [*known_keys(folder), *known_keys(folder, "[policy]")]
    assert [key for key in keys if f"`{key}`" not in text] == []
    command = click.command()(fixing_options(lambda: None))
    options = [name for each in command.params for name in each.opts if name.startswith("--")]
    assert "--select" in options
    assert [name for name in options if f"`{name}" not in text] == []


# Policy

POLICIES = {
    "": "",
    'required-operations = ["ReLU", "add@opset1"]': "",
    'required-operations = ["ReadValue"]': "IR901 requires ReadValue,",
    'required-operations = ["Add@opset2"]': "IR901 requires Add@opset2,",
    'forbidden-operations = ["TopK", "Add@opset9"]': "",
    'forbidden-operations = ["ReLU"]': "IR902 forbids ReLU",
    'forbidden-operations = ["add@opset1"]': "IR902 forbids add@opset1",
    'allowed-element-types = ["f32"]': "",
    'allowed-element-types = ["f16", "i64"]': "|".join(
        f"IR903 output {port} is f32; the policy allows f16, i64" for port in "0012"
    ),
    'inputs = [{ name = "image" }]': "",
    'inputs = [{ name = "image", type = "f32", shape = "[2,3]" }]': "",
    "inputs = "
    '[{ name = "image", shape = "[?,3]" }]': "IR904 [?,3] for the input 'image', but it is",
    'inputs = [{ name = "image", type = "u8" }]': "IR904 u8 for the input 'image', but it is f32",
    'inputs = [{ name = "imag" }]': "IR904 has the input 'image'|IR904 did you mean 'image'?",
    "inputs = []": "IR904 has the input 'image'",
    'outputs = [{ name = "scores", type = "f32", shape = "[2,3]" }]': "",
    'outputs = [{ name = "out" }]': "",
    'outputs = [{ name = "total" }]': "",
    'outputs = [{ name = "scores", shape = "[2,4]" }]': "IR905 [2,4] for the output 'scores', but",
    "outputs = []": "IR905 has the output 'scores'",
    "dynamic-batch = true": "IR906 the first dimension of [2,3] is 2",
    "max-weights = 12": "",
    "max-weights = 11": "IR907 12 bytes; the policy allows 11",
    'max-weights = "1kB"': "",
    'max-weights = "0 MiB"': "IR907 12 bytes; the policy allows 0",
    "max-layers = 5": "",
    "max-layers = 4": "IR908 5 layers; the policy allows 4",
}
"""Of each policy, the codes and parts of the messages of what it finds."""


@pytest.mark.parametrize("text", POLICIES)
def test_policy(folder: Path, text: str) -> None:
    (folder / "irshape.toml").write_text(f"[policy]\n{text}")
    path = folder / "a" / "b" / "m.xml"
    path.write_text(
        path.read_text().replace(' colour="red"', "").replace("<dim>4</dim>", "<dim>3</dim>")
    )
    found = sorted(findings("m.xml"))
    expected = [each.partition(" ") for each in POLICIES[text].split("|") if each]
    assert [code for code, _ in found] == [code for code, _, _ in expected]
    for (_, message), (_, _, part) in zip(found, expected, strict=True):
        assert part in message
    report = irshape.validate("m.xml", config=folder / "irshape.toml")
    assert sorted((one.code, one.message) for one in report.diagnostics) == found


@pytest.mark.parametrize("order", [1, -1])
def test_a_name_that_is_the_id_of_another(tmp_path: Path, order: int) -> None:
    """The input of id 0 is called 1, and that of id 1 is called 0."""
    net = Net()
    for end in [net.parameter("2", name="1"), net.parameter("3", name="0")]:
        net.result(end)
    ports = ['{ name = "0", shape = "[3]" }', '{ name = "1", shape = "[2]" }'][::order]
    (tmp_path / "irshape.toml").write_text(f"[policy]\ninputs = [{', '.join(ports)}]")
    assert not irshape.validate(net.save(tmp_path), config=tmp_path / "irshape.toml").diagnostics


def test_policies_for_some_files(folder: Path) -> None:
    (folder / "irshape.toml").write_text(
        '[[policy]]\nmax-layers = 4\n[[policy]]\nfiles = ["a/b/m.xml"]\n'
        'forbidden-operations = ["ReLU"]\n[[policy]]\nfiles = ["x/**"]\n'
        'forbidden-operations = ["Add"]'
    )
    assert codes("m.xml", "--select", "IR9") == ["IR902", "IR908"]
    network().save(folder, "other")
    assert codes(str(folder / "other.xml"), "--select", "IR9") == ["IR908"]
    assert codes(str(folder), "--select", "IR9", "--jobs", "2") == ["IR902", "IR908", "IR908"]
