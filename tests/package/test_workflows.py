"""What runs on GitHub: readable, pinned, with no more permissions than it needs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest
import yaml

import irshape

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = ROOT / "action.yml"
YAML = [
    *WORKFLOWS,
    ROOT / ".github" / "dependabot.yml",
    ROOT / ".pre-commit-hooks.yaml",
    ACTION,
    ROOT / "CITATION.cff",
]
REPOSITORY = "https://example.org/owner/project"


class StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice, which YAML forbids and PyYAML accepts."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"{node.start_mark}: {keys}"
        return super().construct_mapping(node, deep)


def read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), StrictLoader)


def jobs(path: Path) -> dict[str, Any]:
    read_jobs = read(path)["jobs"]
    assert isinstance(read_jobs, dict)
    return read_jobs


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path).values() for step in job.get("steps", [])]


def test_there_are_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "nightly", "publish", "speed", "tests"]


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_the_yaml_is_sound(path: Path) -> None:
    assert read(path)


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.name)
def test_actions_of_others_are_pinned_and_say_which_release_that_is(path: Path) -> None:
    for step in read(path)["runs"]["steps"] if path == ACTION else steps(path):
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", step["uses"])
    for line in path.read_text(encoding="utf-8").splitlines():
        if re.search(r"uses: [^.]", line):
            assert re.search(r" # v\d+\.\d+\.\d+$", line), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_permissions_are_the_least(path: Path) -> None:
    assert read(path)["permissions"] == {"contents": "read"}
    granted = {name: job["permissions"] for name, job in jobs(path).items() if "permissions" in job}
    assert granted == ({"publish": {"id-token": "write"}} if path.stem == "publish" else {})
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"] == {"persist-credentials": False}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_are_sound_and_take_nothing_from_expressions(path: Path) -> None:
    bash = shutil.which("bash")
    assert bash
    for step in steps(path):
        if "run" in step:
            assert "${{" not in step["run"]
            subprocess.run([bash, "-n", "-c", step["run"]], check=True)
            for name in re.findall(r"[\w./]+/[\w./]+\b", step["run"]):
                assert name == "dist/" or (ROOT / name).exists(), name


def test_the_tests_run_with_every_python_that_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [
        match[1]
        for line in project["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert project["requires-python"] == f">={declared[0]}"
    tests = jobs(ROOT / ".github" / "workflows" / "tests.yml")
    oldest = tests.pop("releases")  # asks an OpenVINO that has no wheels for a newer Python
    assert declared[0] in {
        str(step.get("with", {}).get("python-version")) for step in oldest["steps"]
    }
    for job in tests.values():
        assert job["strategy"]["matrix"]["python"] == declared


# The preparation of a release


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    names = ["CHANGELOG.md", "CITATION.cff", "README.md", "pyproject.toml"]
    for name in [*names, "irshape/version.py", ".github/prepare_release.py"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def prepare(checkout: Path, tag: str) -> subprocess.CompletedProcess[str]:
    script = str(checkout / ".github" / "prepare_release.py")
    command = [sys.executable, script, tag, REPOSITORY]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_release_names_its_repository(checkout: Path) -> None:
    tag = f"v{irshape.__version__}"
    done = prepare(checkout, tag)
    assert done.returncode == 0, done.stderr
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["urls"]["Changelog"] == f"{REPOSITORY}/blob/{tag}/CHANGELOG.md"
    assert "ruff" in project["tool"]
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    assert f"]({REPOSITORY}/raw/{tag}/docs/pictures/validate.svg)" in readme
    assert f"]({REPOSITORY}/blob/{tag}/docs/start.md)" in readme
    assert [link for link in re.findall(r"\]\(([^)]+)\)", readme) if "://" not in link] == []


def test_a_tag_that_is_not_the_version_ends_the_release(checkout: Path) -> None:
    done = prepare(checkout, "v99.0.0")
    assert done.returncode == 1
    named = [line.split(" ")[0] for line in done.stderr.splitlines()[1:]]
    assert named == ["irshape/version.py", "CITATION.cff", "CHANGELOG.md"]
    assert "[project.urls]" not in (checkout / "pyproject.toml").read_text(encoding="utf-8")
