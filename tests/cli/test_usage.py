"""What people mistype, forget or give in the wrong place: one sentence that helps, and a status."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from calling import call, table
from ir import Net

from irshape import Graph
from irshape.cli import COMMANDS, cli, main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def program(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command as users start it."""
    environment = {**os.environ, **more}
    environment.pop("IRSHAPE_DEBUG", None)
    return subprocess.run(
        [sys.executable, "-m", "irshape", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a model of one input, without its .bin, and things that are none."""
    net = Net()
    x = net.parameter("2", name="x")
    net.result(net.layer("Multiply", [x, net.constant([2.0, 3.0], "f32")], name="scale"))
    net.save(tmp_path, "whole")
    net.save(tmp_path, "bare").with_suffix(".bin").unlink()
    (net.save(tmp_path, "hollow").with_suffix(".bin")).write_bytes(b"")
    text = (tmp_path / "whole.xml").read_text()
    (tmp_path / "refused.xml").write_text(text.replace('shape="2"', 'shape="?,3"', 1))
    (tmp_path / "packed.xml").write_bytes(gzip.compress((tmp_path / "whole.xml").read_bytes()))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "page.xml").write_text("<!doctype html>\n<title>404</title>\n")
    np.save(tmp_path / "double.npy", np.ones(2))
    np.save(tmp_path / "long.npy", np.ones(3, np.float32))
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


# a command, its status, what it says, and what it must not say
MISTAKES = table(
    """
a command misspelt | crosschek whole.xml | 2 | no command 'crosschek'; did you mean 'crosscheck'?
a command in capitals | Infer whole.xml | 2 | did you mean 'infer'?
no such command | frobnicate | 2 | `irshape --help` lists them
an operation misspelt | ops ReduceMeen | 2 | did you mean 'ReduceMean'?
the beginning of an operation | ops lstm | 2 | did you mean 'LSTMCell'?
no such operation | ops Xyzzy | 2 | `irshape ops` lists them
a rule misspelt | rule output-shape-missmatch | 2 | did you mean 'output-shape-mismatch'?
no such rule | rule frobnicate | 2 | `irshape rule` lists them
a device in lower case | crosscheck whole.xml --device cpu | 1 | no device 'cpu' here; did you mean
no such device | crosscheck whole.xml --device XYZ | 1 | no device 'XYZ' here (known: CPU
a page on standard output | view whole.xml --open -o - | 2 | name a file with -o
a folder for infer | infer models | 2 | 'models': is a folder, not a file
a folder of models | infer . | 2 | a file; name a model in it, such as ./
a folder for run | run models | 2 | 'models': is a folder, not a file
a gzip | infer packed.xml | 1 | compressed with gzip (unpack it first
a run without the .bin | run bare.xml --random | 1 | there is no bare.bin
a run with an empty .bin | run hollow.xml --random | 1 | hollow.bin is empty
a run that wants no .bin | run whole.xml --random --weights none | 1 | was read without its .bin
an input too many | run whole.xml -i a.npy -i b.npy | 2 | has only 1 input, | 1 inputs
convert onto itself | convert whole.xml -o ./whole.xml | 2 | --overwrite allows replacing it
convert onto its .bin | convert bare.xml --weights whole.bin -o whole.xml | 2 | 'whole.bin'
infer onto itself | infer whole.xml -o whole.xml | 2 | --overwrite
an IR under another name | convert whole.xml -o whole.onnx | 2 | names end in .xml
infer under no name of an IR | infer whole.xml -o new | 2 | end in .xml
an IR in a folder that is not there | convert whole.xml -o gone/new.xml | 2 | 'gone': no such folder
a report in a folder that is not there | validate whole.xml -f json=gone/new.json | 2
    | 'gone': no such folder
a fix onto the model | fix whole.xml -o ./whole.xml | 2 | './whole.xml' belongs to the model
a fix onto the .bin | fix whole.xml -o whole.bin | 2 | 'whole.bin' belongs to the model
a report onto the model | validate whole.xml -o whole.xml | 2 | belongs to the model
a report onto the .bin given | validate bare.xml --weights whole.bin -f json=whole.bin | 2
    | 'whole.bin'
a report onto one of several models | validate . -f text -f sarif=hollow.xml | 2
    | 'hollow.xml' belongs
a page onto the model | view whole.xml -o whole.xml | 2 | belongs to
a difference onto the second model | diff whole.xml bare.xml -o bare.xml | 2 | 'bare.xml' belongs
a recording onto the .bin | crosscheck whole.xml --record whole.bin | 2 | 'whole.bin' belongs
a comparison onto a model | compare whole.xml whole.xml -o whole.xml | 2 | 'whole.xml' belongs
ranges onto the model | run whole.xml --random --stats --view whole.xml | 2 | belongs to
rules of which none is named | validate whole.xml --select '' | 2 | --select names no rule
a family of rules | rule IR2 | 2 | `irshape rule` lists them | did you mean
a code that no rule has | validate whole.xml --ignore IR299 | 2 | no rule 'IR299'; `irshape rule`
a value without a name | validate whole.xml --value 5 | 2 | --value takes INPUT=VALUE, got '5'
an attribute without its layer | edit whole.xml -o new.xml --set axis | 2
    | takes LAYER:ATTRIBUTE=VALUE,
an input of another rank | infer EXAMPLES/encoder.xml --shape input_ids=[1,16,3] | 1
    | 'input_ids' has rank 3 here, and is [1..8,?] in the file
nothing to paste for a model that is refused | explain refused.xml --weights whole.bin | 1
    | `irshape validate refused.xml` | irshape edit
an option without its value | edit whole.xml --cut --scale 2 -o new.xml | 2
    | '--cut' requires a value
a tensor misspelt | explain whole.xml scael | 2 | did you mean 'scale'?
a number with an underscore | validate whole.xml --max-errors 1_000 | 2 | '1_000' is not a whole
a number in other digits | explain whole.xml x --axis １ | 2 | '１' is not a whole number
a number after a blank | run whole.xml --random --seed=' 1' | 2 | ' 1' is not a whole number
a seed below 0 | run whole.xml --random --seed -1 | 2 | '--seed': -1
a tolerance that is no number | compare whole.xml whole.xml --rtol nan | 2 | 'nan'
a tolerance without an end | crosscheck whole.xml --atol inf | 2 | 'inf' is not a finite number
a tolerance below 0 | compare whole.xml whole.xml --atol -1 | 2 | '--atol': -1
a number of seconds as Python reads it | query //layer whole.xml --timeout 1_0 | 2 | '1_0' is not
more parts than memory | split whole.xml --parts 99999999999999999999999 -o new.xml | 1 | at most
an input given twice | run whole.xml -i [1,2] -i x=[3,4] | 2 | 'x' is given twice: '[1,2]', '[3,4]'
a condition in Python's numbers | explain whole.xml --assume 'n==1_0' | 2 | in digits, such as 12
a condition with a truth value | explain whole.xml --assume 'n % 2 == False' | 2 | in digits,
an input without a value | run whole.xml -i x= | 2 | 'x=' gives no file and no value
an array beyond 64 bits | run EXAMPLES/encoder.xml -i 'input_ids=[[99999999999999999999]]' | 2
    | a number that i64 cannot represent
channels of a list | edit whole.xml --mean x=[1,2,3] -o new.xml | 1 | has no axis C of channels
an input without channels | edit whole.xml --reverse-channels x -o new.xml | 1 | no axis C of
a layer by its id | explain whole.xml id:0 | 0 | 'x'
an array that is a text | run whole.xml -i x=whole.xml | 2
    | 'whole.xml' does not contain an array: it is
an array with NaN and infinity | run whole.xml -i 'x=[NaN,-inf]' | 0 | 1 NaN, 1 inf
an array with rows of unequal length | run whole.xml -i 'x=[[1,2],[3]]' | 2 | equal length
shapes of a model without its .bin | infer bare.xml | 0 | the .bin is missing
shapes of a model with states without its .bin
    | infer EXAMPLES/decoder.xml --weights none | 0 | [?,2,?,8]
shapes of a model with an empty .bin | inspect hollow.xml | 0 | the .bin is empty
a shape for a single layer | infer EXAMPLES/layers/right/keep_dims_true.xml -s [2,3] | 2
    | the model has no inputs
an array of another type | run whole.xml -i double.npy | 1
    | float64; convert it with .astype('float32')
an array of another shape | run whole.xml -i long.npy | 1
    | or reshape the model (`irshape edit --reshape`)
the configuration of a model | validate config.json | 1
    | help: give the .xml of a model, or a graph as the oneDNN
a library that is not there | crosscheck whole.xml --extension-library gone.so | 2
    | 'gone.so': No such file
fewer errors than none | compare whole.xml whole.xml --worst -1 | 2 | -1
a file for a folder | run whole.xml --random -d config.json | 2 | 'config.json': is a file, not a
a page of a server | validate page.xml | 1 | the file is an HTML page
"""
)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, status, says, *never = MISTAKES[name]
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with pytest.raises(SystemExit) as done:
        main(shlex.split(command.replace("EXAMPLES", str(EXAMPLES))))
    output = "".join(capsys.readouterr())
    assert (done.value.code, says in output) == (int(status), True), output
    assert not any(words in output for words in never)
    assert before == {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("command", ["convert", "infer"])
def test_a_model_is_replaced_where_that_is_asked_for(command: str, folder: Path) -> None:
    assert call(command, "whole.xml", "-o", "whole.xml", "--overwrite")[0] == 0
    assert call("run", "whole.xml", "--random")[0] == 0


def test_without_the_onnx_package_the_hint_stands_once(tmp_path: Path) -> None:
    import onnx
    from formats.onnx.models import product_and_relu

    path = tmp_path / "m.onnx"
    onnx.save(product_and_relu(), path)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "onnx.py").write_text("raise ImportError('no onnx here')")
    paths = os.pathsep.join([str(hidden), os.environ.get("PYTHONPATH", ""), *sys.path])
    for command in (["infer"], ["validate"], ["validate", "-f", "concise"], ["run", "--random"]):
        done = program(*command, str(path), PYTHONPATH=paths)
        output = done.stdout + done.stderr
        assert done.returncode == 2, output
        assert "needs the onnx package" in output
        assert output.count("pip install") == (0 if "concise" in command else 1)


# What stands behind a pipe


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["infer", "big.xml"], 0),
        (["infer", "-f", "json", "big.xml"], 0),
        (["ops"], 0),
        (["rule", "--all"], 0),
        (["query", "//layer", "big.xml"], 0),
        (["validate", "-f", "json", "--fail-level", "warning", "many"], 1),
        (["requires", "-f", "json", "big.xml"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_reader_that_leaves_is_no_failure(
    arguments: list[str], status: int, tmp_path: Path
) -> None:
    shutil.copy(EXAMPLES / "encoder.xml", tmp_path / "big.xml")
    shutil.copy(EXAMPLES / "encoder.bin", tmp_path / "big.bin")
    shutil.copytree(EXAMPLES / "layers" / "wrong", tmp_path / "many")
    environment = {key: value for key, value in os.environ.items() if key != "IRSHAPE_DEBUG"}
    started = subprocess.Popen(
        [sys.executable, "-m", "irshape", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment,
    )
    assert started.stdout is not None
    started.stdout.close()  # before anything is written: every write fails
    _, errors = started.communicate()
    assert (started.returncode, errors) == (status, b"")


def test_too_little_memory_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("irshape.execution.session.Session", exhausted)
    with pytest.raises(SystemExit) as left:
        main(["run", str(EXAMPLES / "reductions.xml"), "--random"])
    assert left.value.code == 2
    error = capsys.readouterr().err
    assert (error.count("\n"), "not enough memory" in error) == (1, True)


@pytest.mark.skipif(os.name != "posix", reason="streams closed by a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("arguments", "status"),
    [("validate whole.xml", 0), ("validate page.xml", 1), ("validate -", 1), ("infer gone.xml", 2)],
)
def test_streams_may_be_closed(closed: str, arguments: str, status: int, folder: Path) -> None:
    words = [*shlex.split(arguments), "--weights", "none"]
    command = shlex.join([sys.executable, "-m", "irshape", *words])
    environment = {key: value for key, value in os.environ.items() if key != "IRSHAPE_DEBUG"}
    done = subprocess.run(
        ["sh", "-c", f"{command} {closed}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert (done.returncode, "internal error" in done.stderr) == (status, False), done.stderr


# Widths


@pytest.mark.parametrize("columns", [70, 80, 120])
@pytest.mark.parametrize(
    "command",
    [
        "ops",
        "ops Interpolate",
        "rule",
        "rule IR501",
        "infer encoder.xml",
        "inspect encoder.xml",
        "inspect decoder.xml",
        "requires classifier.xml reductions.xml compressed.xml detector.xml",
        "diff classifier.xml int8.xml",
        "run encoder.xml --random --stats",
        "run encoder.xml --random --simulate f16",
        "compare encoder.xml half.xml --worst 60",
    ],
)
def test_what_is_printed_fits_the_terminal(
    command: str, columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in EXAMPLES.glob("*.[xb]*"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    if "half.xml" in command:
        assert call("edit", "encoder.xml", "--f16", "-o", "half.xml")[0] == 0
    lines = call(*command.split(), COLUMNS=str(columns))[1].splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= columns


def test_a_table_for_a_file_is_not_shortened(tmp_path: Path) -> None:
    net = Net()
    name = "encoder/" * 20
    net.result(net.layer("Sigmoid", [net.parameter("2", name="x")], name=name))
    path = str(net.save(tmp_path))
    assert name in call("infer", path, COLUMNS="")[1]
    shown = call("infer", path, COLUMNS="80")[1]
    assert name not in shown
    assert "[2]" in shown


@pytest.mark.parametrize(
    "command",
    ["infer", "run --random --stats", "run --random --outputs all", "diff small.xml"],
)
def test_a_name_of_wide_characters_takes_two_columns_each(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, count in (("m", 20), ("small", 1)):
        graph = Graph()
        x = graph.parameter("f32", "[2]", name="入力" * count)
        graph.result(graph.add("Sigmoid", x, name="出力" * count), "y")
        graph.save(f"{name}.xml")
    words = [*command.split(), "m.xml"]
    lines = call(*words, COLUMNS="80")[1].splitlines()
    assert any("入" in line for line in lines)
    assert max(len(line) + sum(char in "入出力" for char in line) for line in lines) <= 80


# Completion


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("irshape val", "plain,validate"),
        ("irshape validate whole", "file,whole"),
        ("irshape validate --format sar", "plain,sarif"),
        ("irshape validate --baseline whole", "file,whole"),
        ("irshape validate --ignore whole", ""),
        ("irshape diff whole.xml whole", "file,whole"),
        ("irshape edit whole.xml -o whole", "file,whole"),
        ("irshape rule whole", ""),
    ],
)
def test_a_shell_completes_commands_and_files(words: str, completed: str, folder: Path) -> None:
    last = str(len(words.split()) - 1)
    done = program(_IRSHAPE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=last)
    assert done.stdout.strip() == completed


# Help


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_is_complete(command: str) -> None:
    status, output, _ = call(command, "--help")
    assert status == 0
    assert re.search(r"Exit status", output), output
    assert re.search(r"^  (?:-\w, )*--[a-z-]+", output, re.MULTILINE)
    assert "None]" not in output  # an option without limits has no range
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_the_help_are_commands(command: str) -> None:
    lines = call(command, "--help", COLUMNS="200")[1].splitlines()
    examples = [line.strip() for line in lines if line.startswith("    irshape ")]
    assert bool(examples) == ("  Examples:" in lines)
    for example in examples:
        words = shlex.split(example)[1:]
        found = cli.get_command(click.Context(cli), words[0])
        assert found is not None, example
        found.make_context(words[0], words[1:])


def test_json_of_one_and_of_several_models(folder: Path) -> None:
    one = json.loads(call("requires", "-f", "json", "whole.xml")[1])
    several = json.loads(call("requires", "-f", "json", "whole.xml", "bare.xml")[1])
    assert several["models"][0] == one
