"""Many files: jobs, shards, the cache and executors never change what is reported.

A file that cannot be read never stops the others.
"""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import calling
import pytest
from calling import reported
from ir import Net

import irshape
from irshape.checking import many
from irshape.checking.many import shard
from irshape.diagnostics.report import FileReport
from irshape.formats.loading import open_source

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


call = partial(calling.call, "validate")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty files, right ones, wrong ones and some that are no IR."""
    found = tmp_path / "models"
    for number, path in enumerate(sorted((EXAMPLES / "layers").rglob("*.xml"))[:34]):
        (found / f"{number % 3}").mkdir(parents=True, exist_ok=True)
        shutil.copy(path, found / f"{number % 3}" / f"{number}.xml")
    for name in ("reductions", "recurrent"):
        shutil.copy(EXAMPLES / f"{name}.xml", found)
        shutil.copy(EXAMPLES / f"{name}.bin", found)
    (found / "0" / "broken.xml").write_text("<net")
    (found / "1" / "old.xml").write_text('<net version="6"/>')
    (found / "2" / "empty.xml").write_text("")
    (found / "other.xml").write_text("<project/>")
    return found


@pytest.mark.parametrize("form", ["text", "json", "sarif", "concise", "junit", "markdown"])
def test_the_report_is_the_same_whatever_the_jobs(folder: Path, form: str) -> None:
    first = call("--format", form, "--jobs", "1", "--no-cache", str(folder))
    assert first[0] == 1
    for options in ("--jobs 2 --no-cache", "--jobs 7 --no-cache", "--jobs 2", "--jobs 1", ""):
        assert call("--format", form, *options.split(), str(folder)) == first  # two from the cache


def test_shards_are_a_partition(folder: Path) -> None:
    def paths(*options: str) -> list[str]:
        return [
            file["path"]
            for file in json.loads(call("--format", "json", *options, str(folder))[1])["files"]
        ]

    whole = paths()
    parts = [paths("--shard", f"{index}/3") for index in (1, 2, 3)]
    assert sorted(path for part in parts for path in part) == sorted(whole)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert shard(["a", "b"], 3, 3) == []
    status, output, _ = call("--shard", "3/3", str(folder / "reductions.xml"))
    assert (status, "0 files" in output) == (0, True)


def test_a_file_that_cannot_be_opened_is_a_finding(folder: Path) -> None:
    paths = [folder / "reductions.xml", folder / "gone.xml", folder / "1" / "1.xml"]
    report = irshape.validate(paths)
    assert [file.path for file in report.files] == list(map(str, paths))
    assert [found.code for found in report.files[1].diagnostics] == ["IR012"]
    with pytest.raises(OSError, match="gone"):
        irshape.validate(paths[1])


def test_a_file_that_vanishes_is_exit_status_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from irshape.cli import validate as command

    real = command.expand

    def expand(paths: tuple[str, ...], **options: bool) -> list[str]:
        return [*real(paths, **options), str(folder / "gone.xml")]

    monkeypatch.setattr(command, "expand", expand)
    for jobs in ("1", "2"):
        status, output, _ = call("--format", "json", "--jobs", jobs, str(folder))
        report = json.loads(output)
        codes = [found["code"] for found in report["files"][-1]["diagnostics"]]
        assert (status, codes) == (2, ["IR012"])
        assert len(report["files"]) > 30


def test_a_stored_source_answers_as_the_source_itself(folder: Path) -> None:
    path = str(folder / "recurrent.xml")
    stored, source = many.StoredSource(path), open_source(path)
    offset = source.data.index(b"<edges")
    assert stored.place(offset) == source.place(offset)
    assert stored.line(source.place(offset)[0]) == source.line(source.place(offset)[0])
    assert (stored.data, stored.encoding, stored.raw) == (source.data, source.encoding, source.raw)
    assert many.StoredSource(str(folder / "gone.xml")).place(0) == (1, 1)


# What goes wrong in irshape itself


def fail_on(monkeypatch: pytest.MonkeyPatch, name: str, how: str) -> None:
    """Makes the check of one file fail, in this process and those forked from it."""
    real = many.validate_file

    def checked(path: str, *given: Any, **more: Any) -> FileReport:
        if path.endswith(name):
            if how == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "recursion":
                raise RecursionError("maximum recursion depth exceeded")
            if how == "memory":
                raise MemoryError
            raise OSError(13, "Permission denied", path)
        return real(path, *given, **more)

    monkeypatch.setattr(many, "validate_file", checked)
    monkeypatch.delenv("IRSHAPE_DEBUG")


@pytest.mark.parametrize(
    ("how", "code", "status"),
    [("recursion", "IR011", 1), ("memory", "IR011", 1), ("closed", "IR012", 2)],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_failure_stays_with_its_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, jobs: str, how: str, code: str, status: int
) -> None:
    fail_on(monkeypatch, "reductions.xml", how)
    found, output, _ = call("--format", "json", "--jobs", jobs, "--no-cache", str(folder))
    files = {
        Path(file["path"]).name: [one["code"] for one in file["diagnostics"]]
        for file in json.loads(output)["files"]
    }
    seen = (found, files["reductions.xml"], files["broken.xml"], len(files))
    assert seen == (status, [code], ["IR001"], 39)


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
def test_a_process_that_dies_is_a_finding_about_its_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = json.loads(call("--format", "json", "--jobs", "2", "--no-cache", str(folder))[1])
    fail_on(monkeypatch, "recurrent.xml", "dies")
    status, output, _ = call("--format", "json", "--jobs", "2", "--no-cache", str(folder))
    after = json.loads(output)
    assert status == 1
    assert [file["path"] for file in after["files"]] == [file["path"] for file in before["files"]]
    for one, other in zip(before["files"], after["files"], strict=True):
        if one["path"].endswith("recurrent.xml"):
            (found,) = other["diagnostics"]
            assert (found["code"], "died" in found["message"]) == ("IR011", True)
        else:
            assert one == other


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
def test_a_process_killed_by_chance_costs_no_process_for_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    paths = [tmp_path / f"{number}.xml" for number in range(64)]
    for each in paths:
        each.write_text("<net/>")

    def checked(path: str, *_: Any, **__: Any) -> FileReport:
        if not (marks / "killed").exists():
            if path.endswith("/0.xml"):
                (marks / "killed").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(600)  # this one is ended when the other is gone
        (marks / str(os.getpid())).touch()
        return FileReport(path, 0, [])

    monkeypatch.setattr(many, "validate_file", checked)
    options = ("--format", "json", "--jobs", "2", "--no-cache")
    status, output, _ = call(*options, *map(str, paths))
    assert status == 0
    assert [file["path"] for file in json.loads(output)["files"]] == list(map(str, paths))
    assert len(list(marks.iterdir())) < 16  # 64 files in batches of 8


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
def test_workers_end_with_the_command(tmp_path: Path) -> None:
    """The workers wait for a model; what they write to is closed once all of them are gone."""
    script = tmp_path / "waiting.py"
    script.write_text(
        "import os, sys, time\n"
        "from irshape.checking import many\n"
        "from irshape.cli import main\n"
        "def checked(*_, **__):\n"
        "    os.write(1, b'checking\\n')\n"
        "    time.sleep(300)\n"
        "many.validate_file = checked\n"
        "main(['validate', '--jobs', '2', '--no-cache', *sys.argv[1:]])\n"
    )
    models = [str(path) for path in sorted(EXAMPLES.glob("*.xml"))[:4]]
    command = [sys.executable, str(script), *models]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"checking\n"
        process.terminate()
        process.communicate(timeout=600)
        assert process.returncode == -signal.SIGTERM


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and symbolic links")
def test_what_a_folder_has_besides_models_is_said(folder: Path) -> None:
    (folder / "1" / "gone.xml").symlink_to("nowhere.xml")
    (folder / "1" / "round.xml").symlink_to("round.xml")
    os.mkfifo(folder / "2" / "pipe.xml")
    (folder / "dir.xml").mkdir()
    (folder / "dir.xml" / "inner.xml").write_text("<net")
    expected = {
        "gone.xml": ("IR012", "No such file"),
        "inner.xml": ("IR001", "not well-formed"),
        "pipe.xml": ("IR012", "not a regular file"),
        "round.xml": ("IR012", "symbolic links"),
    }
    for more in ([], ["--only-ir", str(folder / "2" / "pipe.xml")]):
        status, output, _ = call("--format", "json", "--no-cache", str(folder), *more)
        said = {
            Path(file["path"]).name: file["diagnostics"] for file in json.loads(output)["files"]
        }
        assert (status, len(said)) == (2, 43)
        for name, (code, message) in expected.items():
            assert [each["code"] for each in said[name]] == [code]
            assert message in said[name][0]["message"]


def test_a_folder_that_must_not_be_read_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def closed(path: str) -> Any:
        if Path(path).name == "2":
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", closed)
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).name != "2")
    status, output, _ = call("--format", "json", "--no-cache", str(folder))
    said = {Path(file["path"]).name: file["diagnostics"] for file in json.loads(output)["files"]}
    assert status == 2
    assert [found["code"] for found in said["2"]] == ["IR012"]
    assert "Permission denied" in said["2"][0]["message"]


# The cache


@pytest.fixture
def cached(tmp_path: Path) -> tuple[Path, Path]:
    """A folder for the cache, and one with a model that reshapes by a constant of its .bin."""
    net = Net()
    x = net.parameter("2,6", name="x")
    shape = net.constant([3, 4])
    reshaped = net.layer("Reshape", [x, shape], 'special_zero="false"', outputs=["FP32:3,4"])
    large = net.constant([1.0] * 2000, "f32")
    net.result(reshaped, "y")
    net.result(large, "z")
    models = tmp_path / "models"
    models.mkdir()
    net.save(models)
    return models, tmp_path / "cache"


def errors(folder: Path, cache: Path, *options: str) -> list[str]:
    """The codes of errors and warnings, by rules that look at shapes and at the .bin."""
    given = ("--cache-dir", str(cache), "--select", "IR2,IR4,IR5", *options, str(folder))
    return [found["code"] for found in reported(*given) if found["severity"] != "info"]


def entries(cache: Path) -> int:
    return len(list(cache.iterdir()))


def test_the_cache_goes_by_content(
    cached: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cache = cached
    assert errors(folder, cache) == []
    assert entries(cache) == 1
    asked: list[str] = []
    from irshape.checking import one as validation

    real = validation.validate_model
    monkeypatch.setattr(
        validation,
        "validate_model",
        lambda *given, **more: asked.append("again") or real(*given, **more),
    )
    assert (errors(folder, cache), asked) == ([], [])
    model, weights = folder / "m.xml", folder / "m.bin"
    os.utime(model, (1, 1))
    os.utime(weights, (1, 1))
    assert (errors(folder, cache), asked) == ([], [])  # times are of no account
    data = bytearray(weights.read_bytes())
    data[4000] ^= 1
    weights.write_bytes(data)
    assert (errors(folder, cache), asked) == ([], [])  # no rule that is asked looks at this byte
    # other settings
    assert (errors(folder, cache, "--extend-select", "IR701"), asked) == ([], ["again"])
    data[4000] ^= 1
    weights.write_bytes(data)
    # this rule reads all
    assert (errors(folder, cache, "--extend-select", "IR701"), asked) == ([], ["again"] * 2)
    data[0] = 4
    weights.write_bytes(data)
    assert errors(folder, cache) != []
    assert len(asked) == 3
    data[0] = 3
    weights.write_bytes(bytes(data[:-4]))
    assert errors(folder, cache) == ["IR502"]
    weights.unlink()
    assert errors(folder, cache) == ["IR501"]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "none": lambda entry: entry,
    "the file is empty": lambda entry: b"",
    "the entry is cut": lambda entry: entry[:-20],
    "two entries in one": lambda entry: entry + entry[20:],
    "another key": lambda entry: entry.replace(b'"key": "', b'"key": "0'),
    "no report": lambda entry: b"[]",
    "other bytes": lambda entry: b"\xff\xfe\x00",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_none(cached: tuple[Path, Path], damage: str) -> None:
    folder, cache = cached
    _, expected, _ = call("--cache-dir", str(cache), "-f", "json", str(folder))
    (file,) = cache.iterdir()
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    for _ in range(2):
        _, output, _ = call("--cache-dir", str(cache), "-f", "json", str(folder))
        assert output == expected
    assert entries(cache) == 1


def test_a_changed_model_replaces_its_entry(cached: tuple[Path, Path]) -> None:
    folder, cache = cached
    for _ in range(2):
        assert errors(folder, cache) == []
        assert entries(cache) == 1
        with (folder / "m.xml").open("a") as file:
            file.write("<!-- changed -->")


def test_a_cache_that_cannot_be_written_is_no_failure(cached: tuple[Path, Path]) -> None:
    folder, cache = cached
    cache.write_text("a file where the folder should be")
    assert errors(folder, cache) == []


def test_no_cache(cached: tuple[Path, Path]) -> None:
    folder, cache = cached
    assert errors(folder, cache, "--no-cache") == []
    assert not cache.exists()


def test_the_cache_knows_the_configuration(cached: tuple[Path, Path], tmp_path: Path) -> None:
    folder, cache = cached
    for text, code in (
        ("[policy]\nmax-layers = 2", "IR908"),
        ("[policy]\nmax-layers = 9", None),
        ('target = "2020.1"', "IR605"),
    ):
        (tmp_path / "irshape.toml").write_text(text)
        options = ("--cache-dir", cache, "--config", tmp_path / "irshape.toml", folder)
        found = [one["code"] for one in reported(*options)]
        assert (code in found) if code else not {"IR908", "IR605"} & set(found)


# Executors


def test_any_executor_gives_the_same_report(folder: Path) -> None:
    paths = sorted(map(str, folder.rglob("*.xml")))
    expected = irshape.validate(paths).to_dict()
    assert expected["summary"]["files"] == 40
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        assert irshape.validate(paths, executor=threads).to_dict() == expected
    with concurrent.futures.ProcessPoolExecutor(
        2, mp_context=multiprocessing.get_context("spawn")
    ) as processes:
        assert irshape.validate(paths, executor=processes).to_dict() == expected
    assert irshape.validate(map(Path, paths)).to_dict() == expected


def test_an_executor_that_is_shut_down(folder: Path) -> None:
    executor = concurrent.futures.ThreadPoolExecutor(1)
    executor.shutdown()
    report = irshape.validate(
        [folder / "reductions.xml", folder / "recurrent.xml"], executor=executor
    )
    assert [found.code for found in report.diagnostics] == ["IR011", "IR011"]


def test_models_and_paths_together(folder: Path) -> None:
    model = irshape.load(folder / "reductions.xml")
    assert [file.path for file in irshape.validate([folder / "recurrent.xml", model]).files] == [
        str(folder / "recurrent.xml"),
        str(folder / "reductions.xml"),
    ]


# Progress, and what is imported


def test_progress_is_for_terminals(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from irshape.cli import progress

    assert list(progress.progress(iter("abc"), 3)) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.delenv("TERM", raising=False)
    assert list(progress.progress(iter("abc"), 3)) == ["a", "b", "c"]
    shown = capsys.readouterr().err
    assert re.search(r"\r2/3 files, \S+ a second, \d:\d\d:\d\d left", shown)
    assert shown.endswith("\r\033[K")


def test_one_file_imports_no_more_than_it_needs() -> None:
    code = (
        "import sys\nfrom irshape.cli import main\n"
        "try:\n    main(['validate', '-q', '--isolated', sys.argv[1]])\n"
        "except SystemExit as ended:\n    assert not ended.code\n"
        "print([name for name in ('tomllib', 'multiprocessing', 'concurrent.futures', "
        "'importlib.metadata', 'hashlib', 'numpy', 'irshape.batch.many') if name in "
        "sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(EXAMPLES / "ir_v10.xml")],
        capture_output=True,
        text=True,
        check=True,
        cwd=EXAMPLES.parent,
    )
    assert done.stdout.strip() == "[]"
