"""Every example of the documents: commands run, programs run, files are what they should be.

The programs of `recipes.md` are in tests/graph/test_recipes.py.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

import click
import pytest
import workshop
import yaml
from click.testing import CliRunner

import irshape
from irshape.cli import cli

ROOT = Path(__file__).resolve().parents[2]
NAMES = [
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "examples/README.md",
]
NUMBER = re.compile(r"-?\b\d+\.\d{3,}(?:e[-+]?\d+)?\b")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OTHERS = {"bash", "cmake", "gh", "jq", "ls", "model-explorer", "python", "sort", "uniq", "xmllint"}
"""Programs that are not ours. Of a script of the repository it is checked that it exists."""

ELSEWHERE = ("https://", "s3://", "hf://", "gs://")
"""What an example names that no test may reach: then only its arguments are checked."""

MEASURED = {
    "docs/configuration.md": ["irshape requires", "irshape validate models --baseline"],
    "docs/debugging.md": ["irshape crosscheck t5.xml", "irshape run", "irshape compare"],
    "docs/reduce.md": ["irshape reduce network.xml"],
}
"""Commands whose output is shown as it was for another model than that of the workshop."""

MODELS = {"docs/symbols.md": "language"}
"""Documents whose model.xml is another one of the workshop."""

PLACES = {
    ("docs/debugging.md", "irshape crosscheck DIR/layer_134.xml"): "model.xml",
    ("docs/debugging.md", "irshape run model.xml"): "large.xml",
    ("docs/onednn.md", "irshape run graph.json"): "graph.json -i t0=t0.npy",
}
"""Files and arguments that take the place of those of an example."""


class Example(NamedTuple):
    document: str
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{Path(self.document).stem}-{self.line}"


def examples(*languages: str) -> list[Example]:
    listed = []
    for document in NAMES:
        text = (ROOT / document).read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            language = {"bash": "sh"}.get(block[1], block[1])
            if not language and re.match(r"(irshape|python|bash) ", block[2]):
                language = "sh"
            if language in languages:
                line = text[: block.start()].count("\n") + 1
                listed.append(Example(document, line, language, block[2]))
    return listed


def rows(*languages: str) -> pytest.MarkDecorator:
    chosen = examples(*languages)
    return pytest.mark.parametrize("example", chosen, ids=lambda each: each.name)


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workshop") / "files"
    folder.mkdir()
    workshop.furnish(folder)
    return folder


@pytest.fixture
def folder(furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that the examples speak of."""
    copy = tmp_path / "files"
    shutil.copytree(furnished, copy, copy_function=os.link)  # irshape replaces files whole
    monkeypatch.chdir(copy)
    return copy


def test_every_block_is_of_a_kind_that_is_tried() -> None:
    known = {"bash", "sh", "console", "python", "toml", "yaml", "json", "xml", "text", ""}
    known |= {"cpp", "cmake"}
    assert {each.language for each in examples(*known)} <= known
    for document in NAMES:
        text = (ROOT / document).read_text(encoding="utf-8")
        assert {block[1] for block in BLOCK.finditer(text)} <= known, document


@pytest.mark.skipif(
    None in (shutil.which("cmake"), shutil.which("c++")), reason="needs cmake and a C++ compiler"
)
def test_the_library_of_a_custom_operation_agrees_with_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/custom-operations.md").read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        named = re.match(r"(?://|#) (my_ops\.py|scaled_swish\.cpp|CMakeLists\.txt)\n", block[2])
        if named:
            Path(named[1]).write_text(block[2], encoding="utf-8")
    import openvino

    build = ["cmake", "-B", "build", f"-DOpenVINO_DIR={openvino.__path__[0]}/cmake"]
    for command in (build, ["cmake", "--build", "build"]):
        subprocess.run(command, check=True, capture_output=True)
    (library,) = Path("build").glob("libmy_ops.*")
    model = """
import irshape
import my_ops
irshape.register(my_ops.ScaledSwish)
graph = irshape.Graph()
x = graph.parameter("f32", "[2,3]", name="x")
graph.result(graph.add("ScaledSwish", x, scale=2.0), "y")
graph.save("model.xml")
"""
    crosscheck = ["-m", "irshape", "crosscheck", "--plugin", "my_ops.py", "model.xml"]
    for arguments in (["-c", model], [*crosscheck, "--extension-library", str(library)]):
        done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    assert b"1 output, 1 equal" in done.stdout


# Commands


def commands(example: Example) -> Iterator[tuple[list[str], list[str]]]:
    """The commands of an example, each with the lines that are shown below it."""
    lines = example.text.splitlines()
    for index, line in enumerate(lines):
        if example.language == "console" and not line.startswith("$ "):
            continue
        shown = []
        for other in lines[index + 1 :]:
            if example.language != "console" or other.startswith("$ "):
                break
            shown.append(other)
        words = shlex.split(line.removeprefix("$ "), comments=True)
        for piped, part in itertools.groupby(words, lambda word: word == "|"):
            if not piped:
                yield list(part), shown


def parsed(words: list[str]) -> None:
    """Reads the arguments of a command as click does. Raises `click.UsageError`."""
    command = cli.get_command(click.Context(cli), words[1])
    assert command is not None, words
    command.make_context(words[1], words[2:])


def output_of(words: list[str]) -> str:
    result = CliRunner().invoke(cli, words[1:])
    assert result.exit_code in (0, 1), f"{shlex.join(words)}: {result.output}"
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.stdout


def equal(shown: list[str], printed: list[str]) -> bool:
    """Whether lines are those that were printed; `…` stands for any number of them."""
    if not shown:
        return not printed
    if shown[0].strip() == "…":
        return any(equal(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    if not printed or not alike(shown[0].rstrip(), printed[0].rstrip()):
        return False
    return equal(shown[1:], printed[1:])


def alike(shown: str, printed: str) -> bool:
    """Whether two lines are equal but for the last digits of numbers, which the processor decides.

    A sum that is added in another order differs there.
    """
    if shown == printed:
        return True
    numbers = [list(map(float, NUMBER.findall(line))) for line in (shown, printed)]
    words = [NUMBER.sub("number", line).split() for line in (shown, printed)]
    return words[0] == words[1] and numbers[0] == pytest.approx(numbers[1], rel=1e-4)


@rows("sh", "console")
def test_commands(example: Example, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable), prepend=os.pathsep)
    monkeypatch.setenv("COLUMNS", "100")
    for words, shown in commands(example):
        line = shlex.join(words)
        if words[0] != "irshape":
            assert words[0] in OTHERS, words
            for script in words[1:2] if words[0] in ("bash", "python") else []:
                assert script.startswith("-") or (ROOT / script).exists(), script
        elif any(mark in line for mark in ELSEWHERE):
            parsed(words)
        else:
            for (document, start), place in PLACES.items():
                if example.document == document and line.startswith(start):
                    words[2:] = [*place.split(), *words[3:]] if "-i" not in place else place.split()
            printed = output_of(words)
            if shown and not any(map(line.startswith, MEASURED.get(example.document, ()))):
                assert equal(shown, printed.splitlines()), printed


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a", "…", "c"], ["a", "b", "b", "c"], True),
        (["a", "…"], ["a"], True),
        (["a", "…", "d"], ["a", "b", "c"], False),
        (["a"], ["a", "b"], False),
        ([], ["a"], False),
    ],
)
def test_shown_lines_are_compared(shown: list[str], printed: list[str], same: bool) -> None:
    assert equal(shown, printed) is same


# Programs


ABOVE = {
    "CONTRIBUTING.md": """\
from irshape.formats.onnx.declaration import Node, Outputs
from irshape.ops import *
from irshape.ops.declaration import at_least
from irshape.ops.elementwise import FLOATING, common_type
from irshape.ops.kinds import INT
from irshape.ops.lazy import Array
from irshape.rule_ids import INPUT_RANK

def operator(*_):
    return lambda function: function
"""
}
"""What the programs of a document have been told to import."""


TRIED_ELSEWHERE = {"docs/recipes.md"}
"""Its programs run in tests/graph."""


def documents_with_programs() -> list[str]:
    listed = dict.fromkeys(example.document for example in examples("python"))
    return [name for name in listed if name not in TRIED_ELSEWHERE]


@pytest.mark.usefixtures("registrations")
@pytest.mark.parametrize("document", documents_with_programs())
def test_programs(document: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of a document run one after another, as a reader would try them."""
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", ThreadPoolExecutor)
    namespace: dict[str, Any] = workshop.variables() | {"__name__": "__main__"}
    namespace["__package__"] = "irshape.diagnostics.renderers"  # where a format would be
    for suffix in ("xml", "bin") if document in MODELS else ():
        os.replace(folder / f"{MODELS[document]}.{suffix}", folder / f"model.{suffix}")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(ABOVE.get(document, ""), namespace)
        for example in examples("python"):
            if example.document == document:
                source = "\n" * example.line + example.text
                exec(compile(source, example.document, "exec", dont_inherit=True), namespace)


# Files


@rows("toml")
def test_configurations(example: Example, folder: Path) -> None:
    if example.text.startswith("# pyproject.toml of the package"):
        assert set(tomllib.loads(example.text)["project"]["entry-points"]) == {
            "irshape.operations",
            "irshape.rules",
        }
        return
    table = example.text
    name = "pyproject.toml" if "[tool." in re.sub("#.*", "", table) else "irshape.toml"
    (folder / name).write_text(table, encoding="utf-8")
    irshape.Configuration.read(folder / name)


def scripts_in(data: Any) -> Iterator[str]:
    """The shell commands in a workflow."""
    if isinstance(data, list):
        for each in data:
            yield from [each] if isinstance(each, str) else scripts_in(each)
    elif isinstance(data, dict):
        for key, each in data.items():
            if key in ("run", "script") and isinstance(each, str):
                yield each
            elif key == "with" and "paths" in each:
                yield f"irshape validate {each['paths']} {each.get('args', '')}"
            elif key == "args":
                yield shlex.join(["irshape", "validate", "x.xml", *each])
            else:
                yield from scripts_in(each)


@rows("yaml")
def test_workflows(example: Example) -> None:
    for script in scripts_in(yaml.safe_load(example.text)):
        if script.startswith("irshape "):
            parsed(shlex.split(re.sub(r"\$\{\{.*?\}\}", "1", script)))


@rows("json")
def test_json(example: Example) -> None:
    text = example.text if example.text[0] in "{[" else "{" + example.text + "}"
    json.loads(text)


@pytest.mark.parametrize("document", sorted({each.document for each in examples("xml")}))
def test_xml(document: str, tmp_path: Path) -> None:
    """Elements nest; of what is shown in part, the end is missing."""
    for example in examples("xml"):
        if example.document == document:
            assert_nested(re.sub(r'(="[^"]*") \.\.\.>', r"\1>", example.text))
        if example.document == document == "docs/ci.md":
            path = tmp_path / "layer.xml"
            path.write_text(example.text, encoding="utf-8")
            assert irshape.validate(path).ok


def assert_nested(text: str) -> None:
    open_elements: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, _: open_elements.append(name)
    parser.EndElementHandler = lambda _: open_elements.pop()
    without_declaration = re.sub(r"^<\?xml [^>]*>", "", text)
    parser.Parse(f"<documents>{without_declaration}", False)
    assert open_elements[0] == "documents"
