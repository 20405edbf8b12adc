"""Folders of models in CI: policies, contracts, `validate --since`, and `irshape init`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import calling
import pytest
import yaml
from calling import reported
from ir import Net

from irshape import Configuration

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
FLAT = "x:f32[1..64,1..98]"
FLATTEN = "Reshape-1(special_zero=false"
LENGTH = f"ShapeOf-3(output_type=i64 {FLATTEN} x i64{{[-1]}}))"
COLUMN = f"{FLATTEN} {FLAT} Concat-1(axis=0 {LENGTH} i64{{[-1]}}))"


call = partial(calling.call, "validate")


def codes(*arguments: str) -> list[tuple[str, str, str]]:
    """The code, severity and layer of each finding, infos only with -v."""
    return [
        (each["code"], each["severity"], (each["layer"] or {}).get("name", ""))
        for each in reported(*arguments)
        if each["severity"] != "info" or "-v" in arguments
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a model, its .bin and an ONNX model, all committed."""
    net = Net()
    x = net.parameter("?,3", name="x")
    total = net.layer("Add", [x, net.constant([1, 2, 3], "f32")], name="total")
    tiled = net.layer("Tile", [total, net.constant([1, 1000])], name="tiled")
    net.result(net.layer("Relu", [tiled], name="last"))
    (tmp_path / "models").mkdir()
    net.save(tmp_path / "models")
    shutil.copy(ROOT / "tests" / "formats" / "onnx" / "networks" / "vit.onnx", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    commit()
    return tmp_path


def git(*arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], check=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "models")


@pytest.mark.parametrize(
    ("limit", "over"),
    [("12000", ""), ("11999", "2 tensors"), ("16", "2 tensors"), ("12", "3 tensors")],
)
def test_the_largest_tensor_is_limited(limit: str, over: str, folder: Path) -> None:
    """`?` counts 1: [?,3000] of f32 takes 12,000 bytes."""
    Path("irshape.toml").write_text(f'[policy]\nmax-tensor = "{limit}"\n')
    found = [each[1:] for each in codes("models/m.xml", "-v") if each[0] == "IR210"]
    assert found == [("info", "x"), *([("error", "tiled")] if over else [])]
    assert over in call("models/m.xml")[1]


@pytest.mark.parametrize(
    ("written", "limit", "over"),
    [
        (COLUMN, 6272 * 4, False),  # [b*s,1]
        (COLUMN, 6272 * 4 - 1, True),
        ("Add-1(f32[1..64,4] f32[1..50,4])", 900, True),  # 64 rows if the second has one
        ("Squeeze-15(string[1,1000])", 31999, True),  # OpenVINO takes 32 bytes for each
        ("Squeeze-15(string[1,1000])", 32000, False),
        ("Squeeze-15(i4[1,3])", 1, True),
    ],
)
def test_the_largest_tensor_is_judged_by_named_sizes(
    written: str, limit: int, over: bool, folder: Path
) -> None:
    """Intervals alone make [1..6272,1..6272] of a tensor that is [b*s,1] in truth."""
    net = Net()
    net.result(net.add(written))
    net.save(folder, "m")
    Path("irshape.toml").write_text(f'[policy]\nmax-tensor = "{limit}"\n')
    assert bool(codes("m.xml")) is over


@pytest.mark.parametrize("how", ["m.onnx", "m.bytes", "-", "view"])
def test_a_target_that_judges_no_onnx_model_says_so(how: str, folder: Path) -> None:
    model = (folder / "models" / "vit.onnx").read_bytes()
    Path("m.onnx").write_bytes(model)
    Path("m.bytes").write_bytes(model)
    command = ["view", "m.onnx", "-o", "m.html"] if how == "view" else ["validate", how]
    status, _, error = calling.call(*command, "--target", "2023.0", stdin=model)
    assert (status, "irshape convert" in error) == (0, True)


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("policy", "dynamic-batch", "false"),
        ("policy", "required-operations", "[]"),
        ("policy", "allowed-element-types", "[]"),
        ("policy", "files", "[]"),
        ("per-file-ignores", '"*.xml"', "[]"),
        ("", "select", "[]"),
    ],
)
def test_a_value_that_demands_nothing_is_refused(
    table: str, key: str, value: str, folder: Path
) -> None:
    head = f"[{table}]\n" if table else ""
    Path("irshape.toml").write_text(f"{head}{key} = {value}\n")
    status, _, error = call("models")
    assert (status, key.strip('"') in error) == (2, True)


@pytest.mark.parametrize(("batch", "found"), [("?", [("IR900", "error", "x")]), ("1", [])])
def test_a_contract_demands_a_static_batch(
    batch: str, found: list[tuple[str, str, str]], folder: Path
) -> None:
    """As docs/configuration.md writes it, with the name of the input."""
    net = Net()
    net.result(net.layer("Relu", [net.parameter(f"{batch},3,?,?", name="x")], name="y"))
    net.save(folder / "models", "m")
    documented = (ROOT / "docs" / "configuration.md").read_text()
    (written,) = re.findall(r"static batch of 1 \| a contract with `(.*?)`", documented)
    Path("irshape.toml").write_text(f"[[contract]]\n{written.replace('image', 'x')}\n")
    assert codes("models/m.xml") == found


@pytest.mark.parametrize(
    "table",
    [
        '[per-file-ignores]\n"{}" = ["IR2"]\n',
        '[[policy]]\nfiles = ["{}"]\n',
        '[[contract]]\nfiles = ["{}"]\nrequire = ["nothing is lost"]\n',
    ],
)
@pytest.mark.parametrize(("pattern", "said"), [("legacy/*.xml", 1), ("models/*.xml", 0)])
def test_a_pattern_that_matches_nothing_is_said(
    table: str, pattern: str, said: int, folder: Path
) -> None:
    Path("irshape.toml").write_text(table.format(pattern))
    assert call("models")[2].count(f"pattern '{pattern}'") == said
    for given in (["models/m.xml"], ["models/m.bin"], ["models", "--shard", "1/2"]):  # as hooks do
        assert call(*given)[2].count(pattern) == 0


@pytest.mark.parametrize(
    ("ignored", "options", "said"),
    [
        ("*.xml:IR2", "", ""),
        ("*.onnx:IR201", "--only-ir", ""),  # as hooks do, which name a part of the files
        ("*.onnx:IR201", "", "'*.onnx'"),
    ],
)
def test_a_pattern_of_no_file_is_noted(ignored: str, options: str, said: str, folder: Path) -> None:
    model = Path("models/m.xml")
    model.write_text(model.read_text().replace("<dim>3000<", "<dim>3001<", 1))
    err = call(str(model), "--per-file-ignores", ignored, *options.split())[2]
    assert ("per-file-ignores" in err, said in err) == (bool(said), True), err


@pytest.mark.parametrize(
    ("operation", "said"),
    [("ReLU", 0), ("relu@opset1", 0), ("MyNms", 0), ("TopK@opset99", 1), ("MatMull", 1)],
)
def test_a_misspelt_forbidden_operation_is_said(operation: str, said: int, folder: Path) -> None:
    Path("irshape.toml").write_text(f"[policy]\nforbidden-operations = ['{operation}']")
    assert call("models")[2].count(f"'{operation}'") == said


def test_contracts_say_nothing_without_weights(folder: Path) -> None:
    Path("irshape.toml").write_text('[[contract]]\nrequire = ["last = [?, 3000]"]\n')
    assert codes("models/m.xml") == []
    assert codes("models/m.xml", "--weights", "none") == []
    Path("irshape.toml").write_text('[[contract]]\nrequire = ["last = [?, 7]"]\n')
    assert [code for code, _, _ in codes("models/m.xml")] == ["IR900"]


def test_folders_are_searched_for_onnx_models(folder: Path) -> None:
    files = json.loads(call("models", "-f", "json")[1])["files"]
    assert [Path(each["path"]).name for each in files] == ["m.xml", "vit.onnx"]


def test_a_bin_stands_for_its_xml(folder: Path) -> None:
    assert codes("models/m.bin") == codes("models/m.xml") == []
    Path("models/m.bin").unlink()
    assert "IR501" in {code for code, _, _ in codes("models/m.bin")}


EXTERNAL = (
    "printf '\\n\\10location\\22\\6w.data' > models/e.onnx; touch models/w.data; git add -A; "
)
"""Adds the beginning of an ONNX model with external data."""
CHANGES = {
    "nothing": ("", []),
    "the .xml": ("echo >> models/m.xml", ["m.xml"]),
    "the .bin": ("echo >> models/m.bin", ["m.xml"]),
    "the .bin is gone": ("rm models/m.bin", ["m.xml"]),
    "the .bin is renamed": ("git mv models/m.bin models/n.bin", ["m.xml"]),
    "the ONNX model": ("echo >> models/vit.onnx", ["vit.onnx"]),
    "external data": (f"{EXTERNAL} git commit -qm e; echo >> models/w.data", ["e.onnx"]),
    "external data is gone": (f"{EXTERNAL} git commit -qm e; rm models/w.data", ["e.onnx"]),
    "git lacks external data": (f"{EXTERNAL} git rm -q --cached models/w.data", ["e.onnx"]),
    "git lacks the .bin": ("git rm -q --cached models/m.bin", ["m.xml"]),
    "the configuration": ("touch irshape.toml", ["m.xml", "vit.onnx"]),
    "the configuration of a folder": (
        "cd models; git mv m.xml openvino_model.xml; git mv m.bin openvino_model.bin; "
        "echo '{}' > config.json; git add -A; git commit -qm e; echo >> config.json",
        ["openvino_model.xml"],
    ),
    "a new model": ("cp models/m.xml 'models/new one.xml'", ["new one.xml"]),
    "all, before the first commit": ("rm -rf .git; git init -q", ["m.xml", "vit.onnx"]),
    "all, staged": ("rm -rf .git; git init -q; git add -A", ["m.xml", "vit.onnx"]),
    "committed": ("echo >> models/m.bin; git commit -qam change", []),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_has_changed_since_a_commit(name: str, folder: Path) -> None:
    command, changed = CHANGES[name]
    subprocess.run(["git", "config", "user.name", "a"], check=True)
    subprocess.run(["git", "config", "user.email", "a@example.org"], check=True)
    subprocess.run(command, shell=True, check=True)
    status, output, _ = call("models", "--since", "HEAD", "-f", "json")
    files = json.loads(output)["files"]
    assert (status == 2) == ("git lacks" in name)
    assert [Path(each["path"]).name for each in files] == changed
    if name == "committed":
        files = json.loads(call("models", "--since", "HEAD~", "-f", "json")[1])["files"]
        assert [Path(each["path"]).name for each in files] == ["m.xml"]


ALLOWED = "git -c protocol.file.allow=always -c user.name=a -c user.email=a@example.org"
ELSEWHERE = {
    "another repository": ("echo >> models/m.xml", "..", ["m.xml"]),
    "beside a repository": ("echo >> models/m.xml; git init -q ../b", "../b", ["m.xml"]),
    "a worktree": (
        "git worktree add -q w HEAD; echo >> w/models/m.bin; rm -r models",
        ".",
        ["m.xml"],
    ),
    "a submodule": (f"{ALLOWED} submodule add -q $PWD s; {ALLOWED} commit -qm s", ".", []),
    "a submodule that changed": (
        f"{ALLOWED} submodule add -q $PWD s; {ALLOWED} commit -qm s; cd s; echo >> models/m.bin; "
        f"{ALLOWED} commit -qam s",
        ".",
        ["m.xml"],
    ),
    "a submodule, seen from inside": (
        f"{ALLOWED} submodule add -q $PWD s; cd s; echo >> models/m.bin; {ALLOWED} commit -qam s",
        "s",
        [],
    ),
    "a new submodule": (
        f"{ALLOWED} submodule add -q $PWD s; rm -r models",
        ".",
        ["m.xml", "vit.onnx"],
    ),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_each_file_is_looked_up_in_its_repository(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, place, changed = ELSEWHERE[name]
    subprocess.run(command, shell=True, check=True)
    monkeypatch.chdir(place)
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")  # as hooks set it
    status, output, error = call(folder, "--since", "HEAD", "-f", "json")
    assert status == 0, error
    assert [Path(each["path"]).name for each in json.loads(output)["files"]] == changed


def test_a_configuration_in_another_repository_counts_as_unchanged(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", "other"], check=True)
    Path("other/irshape.toml").touch()
    status, output, error = call("models", "--since", "HEAD", "--config", "other/irshape.toml")
    assert (status, "0 files" in output) == (0, True), error


def test_a_file_in_no_repository_is_refused(folder: Path) -> None:
    shutil.rmtree(".git")
    status, output, error = call("models", "--since", "HEAD")
    assert (status, output, "no git repository" in error) == (2, "", True)


@pytest.mark.parametrize(
    ("named", "files"),
    [
        ("models/m.bin", ["m.xml"]),
        ("models/w.data", ["e.onnx"]),
        ("irshape.toml", ["e.onnx", "m.xml", "vit.onnx"]),  # not what git ignores
        ("pyproject.toml .gitignore", []),
    ],
)
def test_what_a_file_of_a_commit_stands_for(named: str, files: list[str], folder: Path) -> None:
    subprocess.run(EXTERNAL, shell=True, check=True)
    for name in ("irshape.toml", "pyproject.toml"):
        Path(name).touch()
    Path(".gitignore").write_text("ignored.*")
    shutil.copy("models/m.xml", "models/ignored.xml")
    output = call("--only-ir", *named.split(), "-f", "json")[1]
    assert [Path(each["path"]).name for each in json.loads(output)["files"]] == files


@pytest.mark.parametrize("commit", ["nothing-like-it", "--output=x", ""])
def test_a_commit_that_git_does_not_know(commit: str, folder: Path) -> None:
    status, output, error = call("models", f"--since={commit}")
    assert (status, output, "--since" in error) == (2, "", True)
    assert ("fetch-depth: 0" in error) is not commit.startswith("-")


def test_names_that_are_used_twice_are_not_all_listed(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("?,3", name="x")
    for number in range(20):
        name = f"n{number // 2}"
        layer = net.layer("Relu", [x], name=f"layer{number}", outputs=["FP32:2,3"])
        net.layers[int(layer)] = net.layers[int(layer)].replace(
            'precision="FP32"', f'precision="FP32" names="{name}"'
        )
        net.result(layer)
    path = str(net.save(tmp_path, declare=False))
    messages = [each["message"] for each in reported(path, "-v") if each["code"] == "IR124"]
    assert len(messages) == 3
    assert "7 other" in messages[0]


def test_sarif_has_no_notes_that_ask_for_nothing(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("?,3", name="x")
    net.layers[0] = net.layers[0].replace(' names="x"', "")
    net.result(net.layer("Relu", [x]))
    path = str(net.save(tmp_path))
    assert "IR125" in {code for code, _, _ in codes(path, "-v")}
    assert json.loads(call(path, "-f", "sarif")[1])["runs"][0]["results"] == []


@pytest.mark.parametrize("target", [None, "2024.6"])
@pytest.mark.parametrize("hooked", [False, True])
def test_init_writes_what_validate_and_a_hook_use(
    target: str | None, hooked: bool, folder: Path
) -> None:
    hooks = Path(".pre-commit-config.yaml")
    if hooked:
        hooks.write_text("repos: []\n")
    status, printed, error = calling.call("init", *(["--target", target] if target else []))
    assert status == 0, error
    assert str(Configuration.find().target) == str(target and (2024, 6))
    (local,) = yaml.safe_load(printed if hooked else hooks.read_text())["repos"]
    *published, _ = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for written, there in zip(local["hooks"], published, strict=True):
        for key in ("id", "entry", "require_serial", "pass_filenames", "always_run"):
            assert written.get(key) == there.get(key)
    hook, deleted = local["hooks"]
    assert "files" not in hook
    assert hooks.read_text() == ("repos: []\n" if hooked else hooks.read_text())
    wrong = ROOT / "examples/layers/wrong/axes_missing.xml"
    shutil.copy(wrong, "models")  # the other hook reports these
    Path("models/cut.xml").write_text("<net")
    Path("models/garbage.onnx").write_bytes(b"garbage")
    for gone, failed in ((), 0), (("models/m.bin",), 1), (("models/m.xml", "models/vit.onnx"), 0):
        for name in gone:
            Path(name).unlink()
        assert calling.call(*deleted["entry"].split()[1:])[0] == failed
    status, _, error = calling.call("init")
    assert (status, "already" in error) == (2, True)


def test_init_keeps_custom_operations(folder: Path) -> None:
    Path("my ops #1.py").touch()
    arguments = ["--plugin", "my ops #1.py", "--extension", "Swish6@my_ops"]
    assert calling.call("init", *arguments)[0] == 0
    (local,) = yaml.safe_load(Path(".pre-commit-config.yaml").read_text())["repos"]
    assert [hook["args"] for hook in local["hooks"]] == [["--plugin", "my ops #1.py"]] * 2
    assert [str(each) for each in Configuration.find().extensions] == ["Swish6@my_ops"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--target 2024.0 GRAPH", "not to 1 file"),
        ("--device gpu GRAPH", "not to 1 file"),
        ("--device gpu -v models/m.xml", "no finding for GPU"),
    ],
)
def test_what_is_said_of_a_target_and_of_devices(options: str, said: str, folder: Path) -> None:
    graph = str(ROOT / "tests/formats/onednn/graphs/abs.json")
    status, _, error = call(*options.replace("GRAPH", graph).split())
    assert (status, said in error) == (0, True)


@pytest.mark.parametrize(
    "arguments", ["--target soon", "no/such/folder", "--plugin no_such.py", "--extension Swish6@"]
)
def test_init_refuses(arguments: str, folder: Path) -> None:
    assert calling.call("init", *arguments.split())[0] == 2
    assert not Path("irshape.toml").exists()


@pytest.mark.parametrize(("into", "told"), [(".", False), ("models", True)])
def test_init_says_where_hooks_run(into: str, told: bool, folder: Path) -> None:
    status, _, error = calling.call("init", into)
    assert (status, f"run in '{folder.resolve()}'" in error) == (0, told)


def test_every_comment_of_the_written_configuration_can_be_used(folder: Path) -> None:
    assert calling.call("init")[0] == 0
    text = Path("irshape.toml").read_text()
    lines = [line.removeprefix("# ") for line in text.splitlines()[1:]]
    Path("irshape.toml").write_text("\n".join(lines))
    assert Configuration.read("irshape.toml").contracts


RECIPES = {
    "static shapes": ("[[contract]]\nrequire = ['nothing is dynamic']", "IR900"),
    "a static batch": ("[[contract]]\nrequire = ['x = [1, 3]']", "IR900"),
    "the newest opset": (
        """[[rules.custom]]
        code = "IR910"
        name = "newest-opset"
        message = "newer"
        xpath = '//layer[number(substring-after(@version, "opset")) > 0]'""",
        "IR910",
    ),
    "names of inputs": (
        """[[rules.custom]]
        code = "IR911"
        name = "input-names"
        message = "name"
        xpath = '//layer[@type="Parameter"][not(re:test(@name, "^[a-w_]+$"))]'""",
        "IR911",
    ),
    "element types": ("[policy]\nallowed-element-types = ['i64']", "IR903"),
}


@pytest.mark.parametrize("name", RECIPES)
def test_the_recipes_of_a_policy(name: str, folder: Path) -> None:
    text, code = RECIPES[name]
    Path("irshape.toml").write_text(text)
    assert {each for each, _, _ in codes("models/m.xml", "-v")} >= {code}
