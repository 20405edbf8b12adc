"""The source distribution and the wheel, built as for a release and installed by themselves.

Needs the package index, as the installation of the development dependencies does.
"""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

import irshape

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PATIENCE = 600.0
"""Seconds for a package index that is slow to answer."""
GENERATED = re.compile(r"PKG-INFO|setup\.cfg|irshape\.egg-info/.*")
"""What the build adds to the source distribution."""
METADATA = ["METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"]


def sources() -> list[str]:
    """The files of the repository, or of the source distribution that this is."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z"]
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        names = listing.stdout.decode().strip("\0").split("\0")
    else:
        names = (ROOT / "irshape.egg-info" / "SOURCES.txt").read_text(encoding="utf-8").split("\n")
    return sorted(
        name for name in names if not GENERATED.fullmatch(name) and (ROOT / name).is_file()
    )


def command(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program that sees neither this repository nor what surrounds these tests."""
    kept = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith(("PYTHON", "IRSHAPE", "PYTEST", "VIRTUAL_ENV"))
    }
    return subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env=kept | {"PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )


def build(folder: Path) -> str:
    """Builds both distributions into `folder` from a copy of the tracked files."""
    copy = folder / "source"
    for name in sources():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((ROOT / name).read_bytes())
    done = command(sys.executable, "-m", "build", "--outdir", folder, copy, cwd=folder)
    return "" if done.returncode == 0 else f"the build failed:\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both distributions, built once even where several processes run the tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "distributions"
    outcome = folder / "outcome"
    try:
        folder.mkdir()
    except FileExistsError:  # another process builds
        end = time.monotonic() + PATIENCE
        while not outcome.exists() and time.monotonic() < end:
            time.sleep(0.2)
    else:
        problem = "the build did not end"
        try:
            problem = build(folder)
        finally:
            (folder / "unfinished").write_text(problem, encoding="utf-8")
            (folder / "unfinished").replace(outcome)
    assert outcome.read_text(encoding="utf-8") == ""
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    return dist / f"irshape-{irshape.__version__}-py3-none-any.whl"


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"irshape-{irshape.__version__}.dist-info/METADATA").decode()
    return email.message_from_string(text)


# The distributions


def test_the_source_distribution_is_the_repository(dist: Path) -> None:
    top = f"irshape-{irshape.__version__}"
    with tarfile.open(dist / f"{top}.tar.gz") as archive:
        names = [member.name for member in archive.getmembers() if not member.isdir()]
    assert all(name.startswith(f"{top}/") for name in names)
    inside = [name.removeprefix(f"{top}/") for name in names]
    listed = sorted(name for name in inside if not GENERATED.fullmatch(name))
    assert listed == sources(), "MANIFEST.in says what it holds"


def test_the_wheel_is_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    info = f"irshape-{irshape.__version__}.dist-info"
    package = [name for name in sources() if name.startswith("irshape/")]
    licences = [f"{info}/licenses/{name}" for name in PROJECT["license-files"]]
    assert sorted(names) == sorted([*package, *licences, *(f"{info}/{name}" for name in METADATA)])
    assert "irshape/py.typed" in names


def test_the_metadata_are_complete(wheel: Path) -> None:
    fields = metadata(wheel)
    assert fields["Version"] == irshape.__version__
    assert fields["License-Expression"] == "Apache-2.0"
    assert fields["Requires-Python"] == ">=3.11"
    assert fields["Description-Content-Type"] == "text/markdown"
    assert fields["Summary"]
    assert fields["Author"]
    assert fields["Keywords"]
    required = [line for line in fields.get_all("Requires-Dist", []) if "extra ==" not in line]
    names = sorted(re.split(r"[<>=~! ]", line)[0] for line in required)
    assert names == ["click", "lxml", "ml_dtypes", "numpy"]
    extras = fields.get_all("Provides-Extra", [])
    assert sorted(extras) == ["model-explorer", "onnx", "openvino", "remote", "tokenizers"]


def test_twine_accepts_them(dist: Path) -> None:
    files = [path for path in dist.iterdir() if path.suffix in (".gz", ".whl")]
    assert len(files) == 2
    done = command(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=dist)
    assert done.returncode == 0, done.stdout + done.stderr


IMPORT_ALL = """
import importlib, pkgutil, sys
import irshape
modules = [module.name for module in pkgutil.walk_packages(irshape.__path__, "irshape.")]
for name in modules:
    if not name.endswith("__main__") and not name.startswith("irshape.model_explorer."):  # an extra
        importlib.import_module(name)
for name in irshape.__all__:
    getattr(irshape, name)
assert len(modules) > 50, modules
assert "openvino" not in sys.modules and "onnx" not in sys.modules
print(irshape.__file__)
"""


class Run(NamedTuple):
    arguments: list[str | Path]
    status: int
    expected: str
    """Stands in what is printed on stdout."""


def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    # this environment's pip installs into it: to install another one takes longer than all the rest
    created = command(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env", cwd=tmp_path)
    assert created.returncode == 0, created.stderr
    scripts = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    suffix = ".exe" if os.name == "nt" else ""
    python, program = scripts / f"python{suffix}", scripts / f"irshape{suffix}"
    pip = [sys.executable, "-m", "pip", "--python", python]
    installed = command(*pip, "install", "--quiet", "--no-compile", wheel, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    checked = command(*pip, "check", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout

    imported = command(python, "-c", IMPORT_ALL, cwd=tmp_path)
    assert imported.returncode == 0, imported.stderr
    assert Path(imported.stdout.strip()).is_relative_to(tmp_path)

    model = ROOT / "examples" / "encoder.xml"
    wrong = ROOT / "examples" / "layers" / "wrong" / "axis_not_reduced.xml"
    for run in (
        Run(["--version"], 0, f"irshape {irshape.__version__}"),
        Run(["validate", model], 0, "no errors"),
        Run(["validate", wrong], 1, "IR201"),
        Run(["validate", "--format", "html", wrong], 1, "<style>"),
        Run(["infer", model], 0, "input_ids"),
        Run(["run", model, "--random"], 0, "f32"),
    ):
        done = command(program, *run.arguments, cwd=tmp_path)
        assert done.returncode == run.status, done.stderr
        assert run.expected in done.stdout, run.arguments


# What is said about the package elsewhere


def test_the_changelog_and_the_citation_know_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    released = [
        re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d", line) for line in headings[1:]
    ]
    versions = [match[1] for match in released if match]
    assert len(versions) == len(headings) - 1
    assert versions[0] == irshape.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == irshape.__version__
    assert citation["license"] == PROJECT["license"]
    assert f"[{citation['version']}] - {citation['date-released']}" in headings
