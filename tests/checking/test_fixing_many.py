"""`irshape fix` for several files: files are fixed one by one, and none stops the others."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from calling import table
from ir import Net

import irshape
from irshape.checking import fixing_many
from irshape.cli import main, progress

ROOT = Path(__file__).resolve().parents[2]


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(["fix", *arguments])
    return int(done.value.code or 0)


def chain(folder: Path, name: str, *, kind: str = "ReLU", declared: str = "2,3") -> Path:
    """A model of one layer with weights beside it; `declared` is what its output port says."""
    net = Net()
    last = net.layer("Add", [net.parameter("2,3"), net.constant([1.0], "f32")])
    net.result(net.layer(kind, [last], outputs=[f"FP32:{declared}"]))
    folder.mkdir(parents=True, exist_ok=True)
    return net.save(folder, name)


def undecided(folder: Path, name: str) -> Path:
    """A model without an edge that could come from either of two inputs."""
    net = Net()
    one, two = net.parameter("2,3"), net.parameter("2,3")
    net.result(net.layer("Add", [one, two], outputs=["FP32:2,3"]))
    net.result(net.layer("ReLU", [one], outputs=["FP32:2,3"]))
    net.result(net.layer("Abs", [two], outputs=["FP32:2,3"]))
    path = net.save(folder, name)
    text = path.read_text()
    at = text.index('<edge from-layer="0"')
    path.write_text(text[:at] + text[text.index("/>", at) + 2 :])
    return path


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files to correct, a sound one, one that has no single answer, and one that is no IR."""
    folder = tmp_path / "models"
    chain(folder / "a", "wrong", declared="2,4")
    chain(folder / "b", "sound")
    chain(folder / "b", "stale", declared="5,3")
    undecided(folder / "b", "undecided")
    (folder / "other.xml").write_text("<project/>")
    monkeypatch.chdir(tmp_path)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """What the files below a folder say, links and pipes left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


BOTH = {"models/a/wrong.xml", "models/b/stale.xml"}
"""The files that safe fixes change."""


def nothing(_: Path) -> None: ...


def link(name: str, target: str) -> Callable[[Path], None]:
    return lambda here: os.symlink(target, here / name)


def write(name: str, text: str) -> Callable[[Path], Any]:
    def prepare(here: Path) -> None:
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)

    return prepare


def outside(here: Path) -> None:
    """A link in the folder to a model outside of it, as caches of models have them."""
    chain(here / "blobs", "blob", declared="7,3")
    shutil.copy(here / "blobs" / "blob.bin", here / "models" / "linked.bin")
    os.symlink("../blobs/blob.xml", here / "models" / "linked.xml")


def shared(here: Path) -> None:
    """A place of the fixed text that leads to the weights of the model."""
    os.symlink("models/a/wrong.bin", here / "new.xml")


def read_only(here: Path) -> None:
    (here / "models" / "a" / "wrong.xml").chmod(0o444)


def reshaped(here: Path) -> None:
    """A constant that was declared with another shape, which an unsafe fix gives back."""
    path = here / "models" / "b" / "sound.xml"
    path.write_text(path.read_text().replace('shape="1"', 'shape="2"'))


def onnx_model(here: Path) -> None:
    import onnx
    from formats.onnx.models import product_and_relu

    onnx.save(product_and_relu(), here / "odd.onnx")


PREPARED: dict[str, Callable[[Path], Any]] = {
    "a link to nothing": link("models/gone.xml", "nowhere.xml"),
    "a pipe": lambda here: os.mkfifo(here / "models" / "pipe.xml"),
    "a file that is not XML to the end": write("models/cut.xml", "<net"),
    "an ONNX model": onnx_model,
    "a link beside its file": link("models/a/alias.xml", "../b/stale.xml"),
    "a link out of the folder": outside,
    "a link out of the folder by its name": outside,
    "a link from one folder to another": outside,
    "a folder that is a link": link("other", "models/b"),
    "a link to a folder inside": link("models/c", "../models/b"),
    "the change of a link out of the folder": outside,
    "a read-only file": read_only,
    "a read-only file alone": read_only,
    "a copy over the weights": shared,
    "a configuration that is none": write("irshape.toml", "ignored = []"),
    "what the configuration ignores": write(
        "irshape.toml", '[per-file-ignores]\n"models/a/" = ["IR2"]'
    ),
    "in place, the likeliest too": reshaped,
    "in place, without the likeliest": reshaped,
    "no configuration": write("irshape.toml", 'ignore = ["IR2"]\n'),
    "what a baseline lists": write(
        "known.json",
        '{"version": 1, "files": {"models/b/undecided.xml": '
        '[{"code": "IR113", "layer": "2", "port": "input:0"}]}}',
    ),
}
# a command, its status and the files that differ afterwards, and words (¶ ends a line)
ROWS = table(
    """
a link to nothing | models --in-place | 2 BOTH | err: 'models/gone.xml': No such file
    | err: 1 file could not be read or written
a pipe | models --in-place | 2 BOTH | err: 'models/pipe.xml': not a regular file
a file that is not XML to the end | models --in-place | 1 BOTH
    | err: models/cut.xml:1:1: left: error[IR0
an ONNX model | models odd.onnx --in-place | 2 BOTH
    | err: 'odd.onnx': is not an IR; only IR files can be fixed
a path that is not there | models nowhere.xml --in-place | 2
    | err: 'nowhere.xml': no such file or folder
a file named twice | models/a/wrong.xml ./models/a/../a/wrong.xml --check | 1
    | out: models/a/wrong.xml: 1 finding can be fixed¶ | err: 1 of 1 file | not: ..
a link beside its file | models --in-place | 1 BOTH | err: models/b/stale.xml: 1 finding fixed
    | err: in 2 of 4 files | not: alias
a link out of the folder | models --in-place | 2 BOTH
    | err: 'models/linked.xml': is a link to ' | err: name the file itself to change it
a link out of the folder by its name | models/linked.xml models/b/sound.xml --in-place
    | 0 blobs/blob.xml | err: models/linked.xml: 1 finding fixed
a link from one folder to another | models blobs --in-place | 1 BOTH blobs/blob.xml
a folder that is a link | models/a other --in-place | 1 BOTH | err: other/stale.xml: 1 finding fixed
a link to a folder inside | models --in-place | 1 BOTH | err: of 4 files
the change of a link out of the folder | models --check | 1
    | out: models/linked.xml: 1 finding can be fixed
a read-only file | models --in-place | 2 models/b/stale.xml
    | err: 'models/a/wrong.xml': is read-only
a read-only file alone | models/a/wrong.xml --in-place | 2 | err: 'models/a/wrong.xml': is read-only
a copy over the weights | models/a/wrong.xml -o new.xml | 2
    | err: 'new.xml' belongs to the model that irshape reads
a copy over its model | models/a/wrong.xml -o models/a/wrong.xml | 2 | err: belongs to the
a copy where a folder is in the way | models/a/wrong.xml -o models/b | 2
    | err: 'models/a/wrong.xml':
copies of several files | models -o new | 2 | err: --output takes one file
standard input among files | models - --in-place | 2 | err: changed in place
both ways of writing | models --check --in-place | 2 | err: exclude each other
a code that is none | models --ignore IR299 | 2 | err: no rule 'IR299'
a configuration that is none | models --in-place | 2 | err: unknown
a baseline that is not there | models --in-place --baseline none.json | 2
    | err: there is no baseline
the diff | models | 1 | out: +++ models/a/wrong.xml¶ | out: +++ models/b/stale.xml¶
    | err: models/a/wrong.xml: 1 finding can be fixed¶ | err: models/b/undecided.xml:
    | err: : left: error[IR113]
    | err: irshape: 2 findings can be fixed in 2 of 4 files with --in-place, 1 left
        in 1 file; nothing was written¶
    | not: sound.xml | not: other.xml
a list | models --check | 1
    | out: models/a/wrong.xml: 1 finding can be fixed¶models/b/stale.xml: 1 finding can be fixed¶
    | not: @@ | not: left:
the status alone | models --check -q | 1 | not: irshape | not: models
nothing to list | models/b/sound.xml models/b/sound.bin --check --only-ir | 0
    | err: nothing to fix in 1 file
in place | models --in-place | 1 BOTH | err: models/a/wrong.xml: 1 finding fixed¶
    | err: irshape: 2 findings fixed in 2 of 4 files, 1 left in 1 file
    | not: @@
in place, with what is fixed | models --in-place -v | 1 BOTH | err: models/a/wrong.xml:
    | err: : fixed [IR201] ReLU
in place, in silence | models --in-place -q | 1 BOTH | not: models | not: irshape
in place, the likeliest too | models --in-place --unsafe-fixes | 1 BOTH models/b/sound.xml
    | err: 5 findings fixed in 3 of 4 files, 1 left in 1 file¶
in place, without the likeliest | models --in-place | 1 BOTH
    | err: 4 left in 2 files (3 can be fixed with --unsafe-fixes)
a pattern | models/*/s*.xml --in-place | 0 models/b/stale.xml | err: of 2 files
a folder with one model | models/a --in-place | 0 models/a/wrong.xml
    | err: 1 finding fixed in 1 of 1 file
part of the files | models --in-place --shard 1/4 | 0 models/a/wrong.xml
a file that is no IR, named | models/a/wrong.xml models/other.xml --in-place | 1 models/a/wrong.xml
    | err: models/other.xml:1:1: left: error[IR003]
a file that is no IR, passed over | models/a/wrong.xml models/other.xml --in-place --only-ir
    | 0 models/a/wrong.xml
a copy | models/a/wrong.xml -o new.xml | 0 new.xml
a copy of the only model of a folder | models/a -o new.xml | 0 new.xml
no file that is an IR | models/other.xml --in-place --only-ir | 0
    | err: nothing was fixed in 0 files
what is ignored | models --in-place --ignore IR201 | 1 | err: nothing was fixed in 4 files, 1 left
what is selected | models --in-place --select IR201 | 0 BOTH | not: left
what is ignored in a file | models --in-place --per-file-ignores models/a/:IR201
    | 1 models/b/stale.xml
what the configuration ignores | models --in-place | 1 models/b/stale.xml
no configuration | models --in-place --isolated | 1 BOTH
what a baseline lists | models --in-place --baseline known.json | 0 BOTH
    | err: 2 findings fixed in 2 of 4 files¶
"""
)


@pytest.mark.parametrize("name", ROWS)
def test_a_command(name: str, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, expected, *words = ROWS[name]
    expected_status, *expected_changes = expected.replace("BOTH", " ".join(BOTH)).split()
    here = models.parent
    PREPARED.get(name, nothing)(here)
    before = contents(here)
    status = call(*command.split())
    shown = capsys.readouterr()
    after = contents(here)
    assert status == int(expected_status), shown.err
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    assert changed == {*expected_changes}, shown.err
    streams = {"out": shown.out, "err": shown.err, "not": shown.out + shown.err}
    for each in words:
        where, _, text = each.replace("¶", "\n").partition(": ")
        assert (text in streams[where]) == (where != "not"), each


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("how", ["--in-place", "--diff", "--check"])
def test_the_output_is_the_same_whatever_the_jobs(
    how: str, jobs: str, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(12):
        chain(models / "c", f"m{number}", declared=f"2,{3 + number}")
    kept = shutil.copytree(models, models.parent / "kept")
    status = call("models", how, "-j1")
    first = capsys.readouterr(), contents(models), contents(models.parent)
    shutil.rmtree(models)
    shutil.copytree(kept, models)
    assert call("models", how, f"-j{jobs}") == status == 1
    assert (capsys.readouterr(), contents(models), contents(models.parent)) == first


def test_what_is_fixed_is_what_one_file_alone_gets(models: Path) -> None:
    wanted = {path.name: irshape.fix(path).data for path in models.rglob("*/*.xml")}
    call("models", "--in-place", "-q")
    assert {path.name: path.read_bytes() for path in models.rglob("*/*.xml")} == wanted
    fixed = contents(models)
    assert call("models", "--in-place", "-q") == 1
    assert contents(models) == fixed


def test_the_diffs_are_one_patch(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("models", "-q")
    patch = capsys.readouterr().out
    wanted = {path: irshape.fix(path).data for path in models.rglob("*/*.xml")}
    subprocess.run(["git", "apply", "-p0"], cwd=models.parent, input=patch.encode(), check=True)
    assert {path: path.read_bytes() for path in wanted} == wanted


class Trouble(NamedTuple):
    """What befalls one of the files while it is looked at."""

    happens: Callable[[Path], None]
    said: str
    jobs: str = "1"


def fails(_: Path) -> None:
    raise RuntimeError("a bug")


TROUBLES = {
    "it is edited meanwhile": Trouble(lambda path: path.write_text("<net/>"), "has changed since"),
    "it is gone meanwhile": Trouble(lambda path: path.unlink(), "No such file"),
    "irshape fails": Trouble(fails, "RuntimeError: a bug"),
    "its process dies": Trouble(lambda _: os._exit(9), "process that examined", "2"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble_with_a_file_does_not_stop_the_others(
    name: str, models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trouble = TROUBLES[name]
    fix = fixing_many.fix

    def fix_and_more(path: str, *arguments: Any, **options: Any) -> Any:
        fixes = fix(path, *arguments, **options)
        if path.endswith("wrong.xml"):
            trouble.happens(Path(path))
        return fixes

    monkeypatch.setattr(fixing_many, "fix", fix_and_more)
    monkeypatch.delenv("IRSHAPE_DEBUG")
    stale = models / "b" / "stale.xml"
    wanted = fix(stale).data
    assert call("models", "--in-place", f"-j{trouble.jobs}") == 2
    assert re.search(f"'models/a/wrong.xml': .*{trouble.said}", capsys.readouterr().err)
    assert stale.read_bytes() == wanted
    assert not list(models.rglob(".*")), "a file that was begun"


def test_a_line_is_not_written_into_the_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.delenv("TERM", raising=False)
    for item in progress.progress(iter("abc"), 3):
        sys.stderr.write(f"{item}\n")
    shown = capsys.readouterr().err
    assert [line.rpartition("\033[K")[2] for line in shown.split("\n")] == [*"abc", ""]
    assert "2/3 files" in shown


def test_from_python(models: Path) -> None:
    """A configuration decides as it does for the command; fixes go from process to process."""
    path = models / "a" / "wrong.xml"
    plain = irshape.fix(path)
    assert [found.code for found in plain.fixed] == ["IR201"]
    for configuration in (
        irshape.Configuration(ignore=("IR2",)),
        irshape.Configuration(per_file_ignores=(("wrong.xml", ("IR201",)),)),
    ):
        fixes = irshape.fix(path, config=configuration)
        assert (fixes.edits, fixes.fixed, fixes.candidates) == ([], [], [])
        assert {found.severity for found in fixes.remaining} == {"info"}
    with pytest.raises(irshape.ConfigurationError):
        irshape.fix(path, config=irshape.Configuration(ignore=("IR299",)))
    assert pickle.loads(pickle.dumps(plain)).diff() == plain.diff()
